package dvcresultexporter

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// batch is what a call brings.
type batch struct {
	entries []trainrun.Entry
	files   []string // of each entry
	told    []status // what a receiver says of streams
}

// done leaves the room of a batch to later calls, unless something of it may be pending. The caller holds the lock.
func (g *engine) done(b *batch) {
	if len(g.store.pending) == 0 {
		b.entries, b.files, b.told = b.entries[:0], b.files[:0], nil
		g.batches.Put(b)
	}
}

// reduce makes the entries of a call.
func (b *batch) reduce(ld plog.Logs, t *tally) {
	records := ld.LogRecordCount()
	b.entries, b.files = slices.Grow(b.entries, records), slices.Grow(b.files, records)
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				if reason := b.add(rl.Resource(), lr); reason != "" {
					t.ignore(reason)
				}
			}
		}
	}
}

// add makes the entry of a record, or says why it has none. The lists of the entry that was in its place before are used again.
func (b *batch) add(res pcommon.Resource, lr plog.LogRecord) (reason string) {
	rec, ok := trainrecord.FromLog(res, lr)
	switch {
	case !ok:
		return notARecord
	case rec.Error == trainrecord.ReasonTorn:
		return tornLine
	case rec.RunID == "":
		return noRunID
	case len(rec.RunID) > trainrecord.MaxRunID:
		return longRunID
	}
	entries := b.entries[:len(b.entries)+1]
	if !trainrun.ReduceInto(&entries[len(b.entries)], &rec) {
		if rec.Event == trainrecord.EventStreamStatus {
			b.told = append(b.told, statusOf(&rec, rec.File))
		}
		return notARecord
	}
	b.entries, b.files = entries, append(b.files, rec.File)
	return ""
}
