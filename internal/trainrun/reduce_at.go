package trainrun

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// ReduceAt is Reduce for whoever read the record from its stream and so knows its uid without a text of it. The uid's run is
// the record's.
func ReduceAt(r *trainrecord.Record, uid trainrecord.UID) (Entry, bool) {
	return reduce(r, func(*trainrecord.Record) ID {
		return ID{Kind: IDUID, File: uid.File, CRC: uid.CRC, Place: uid.Offset, Index: uint32(min(int64(uid.Index), math.MaxUint32))}
	})
}
