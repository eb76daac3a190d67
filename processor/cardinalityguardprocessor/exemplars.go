package cardinalityguardprocessor

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// exemplarLimit is the number of exemplars a merged point keeps, the newest ones.
const exemplarLimit = 8

// joinExemplars gives a merged point the exemplars of its parts: none older than its start, the newest ones, a few.
func (w *worker) joinExemplars(to pmetric.NumberDataPoint, start pcommon.Timestamp) {
	var all []pmetric.Exemplar
	for _, p := range w.parts {
		for _, e := range p.Exemplars().All() {
			if at := e.Timestamp(); at != 0 && at < start {
				w.counts.exemplars[exemplarTooOld]++
				continue
			}
			all = append(all, e)
		}
	}
	slices.SortFunc(all, w.compareExemplars)
	if extra := len(all) - exemplarLimit; extra > 0 {
		w.counts.exemplars[exemplarOverLimit] += int64(extra)
		all = all[:exemplarLimit]
	}
	if len(all) == 0 {
		to.Exemplars().RemoveIf(func(pmetric.Exemplar) bool { return true })
		return
	}
	joined := pmetric.NewExemplarSlice() // the target's own exemplars are among the parts'
	for _, e := range all {
		e.CopyTo(joined.AppendEmpty())
	}
	joined.CopyTo(to.Exemplars())
}

// compareExemplars puts the newest first; ties are settled by content, not by the order in the batch.
func (w *worker) compareExemplars(a, b pmetric.Exemplar) int {
	if c := cmp.Compare(b.Timestamp(), a.Timestamp()); c != 0 {
		return c
	}
	return strings.Compare(w.exemplarText(a), w.exemplarText(b))
}

func (w *worker) exemplarText(e pmetric.Exemplar) string {
	t := &w.ids
	traceID, spanID := e.TraceID(), e.SpanID()
	t.buf = append(append(append(t.buf[:0], traceID[:]...), spanID[:]...), byte(e.ValueType()))
	if e.ValueType() == pmetric.ExemplarValueTypeDouble {
		t.buf = binary.BigEndian.AppendUint64(t.buf, math.Float64bits(e.DoubleValue()))
	} else {
		t.buf = binary.BigEndian.AppendUint64(t.buf, uint64(e.IntValue()))
	}
	t.putMap(e.FilteredAttributes())
	return string(t.buf)
}
