package trainrun

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// Reducer reduces one record after another, as Reduce does: it remembers the texts of records, which come again and again. One goroutine
// at a time may use it.
type Reducer struct {
	known      secret.Known
	run        string // the last one whose id holds no secret
	rate, name string // the last learning rate, as its record spells it and as a measurement
}

// At is Reduce for whoever read the record from its stream and so knows its uid without a text of it. The uid's run is
// the record's. The entry is overwritten with the room that its lists have: who gives one again and again costs no memory, and must be
// done with what was in it. A fold is when Apply returns.
func (rd *Reducer) At(e *Entry, r *trainrecord.Record, uid trainrecord.UID) bool {
	if !counts(r) {
		return false
	}
	rd.reduce(e, r, ID{Kind: IDUID, File: uid.File, CRC: uid.CRC, Place: uid.Offset, Index: uint32(min(int64(uid.Index), math.MaxUint32))})
	return true
}

// rateName is the name of the measurement that a learning rate is.
func (rd *Reducer) rateName(rate string) string {
	if rd == nil {
		return RatePrefix + rate
	}
	if rd.name == "" || rd.rate != rate {
		rd.rate, rd.name = rate, RatePrefix+rate
	}
	return rd.name
}
