package trainrun

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// ReduceAt is Reduce for whoever read the record from its stream and so knows its uid without a text of it. The uid's run is
// the record's. The entry is overwritten with the room that its lists have: who gives one again and again costs no memory, and must be
// done with what was in it. A fold is when Apply returns.
func ReduceAt(e *Entry, r *trainrecord.Record, uid trainrecord.UID) bool {
	if !counts(r) {
		return false
	}
	reduce(e, r, ID{Kind: IDUID, File: uid.File, CRC: uid.CRC, Place: uid.Offset, Index: uint32(min(int64(uid.Index), math.MaxUint32))})
	return true
}
