package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// takeExemplars keeps the exemplars of a point until the flush, the newest ones.
func (b *Batch) takeExemplars(it *item, out *output) {
	g := &b.groups[it.group]
	limit := exemplarLimit
	var from pmetric.ExemplarSlice
	switch g.Metric.Type() {
	case pmetric.MetricTypeHistogram:
		from = g.Metric.Histogram().DataPoints().At(int(it.index)).Exemplars()
		limit = heldExemplars
	case pmetric.MetricTypeExponentialHistogram:
		from = g.Metric.ExponentialHistogram().DataPoints().At(int(it.index)).Exemplars()
	default:
		from = Numbers(g.Metric).At(int(it.index)).Exemplars()
	}
	for _, e := range from.All() {
		kept := pmetric.NewExemplar()
		e.CopyTo(kept)
		out.exemplars = append(out.exemplars, kept)
	}
	if len(out.exemplars) > limit {
		b.sortExemplars(out.exemplars)
		b.Counts.Exemplars[ExemplarOverLimit] += int64(len(out.exemplars) - limit)
		b.Counts.Any = true
		clear(out.exemplars[limit:])
		out.exemplars = out.exemplars[:limit]
	}
}

// sortExemplars puts the newest first; ties are settled by content, not by the order of arrival.
func (b *Batch) sortExemplars(list []pmetric.Exemplar) { sortExemplars(&b.text, list) }

func sortExemplars(h *Hasher, list []pmetric.Exemplar) {
	slices.SortStableFunc(list, func(x, y pmetric.Exemplar) int {
		if c := cmp.Compare(y.Timestamp(), x.Timestamp()); c != 0 {
			return c
		}
		return bytes.Compare(slices.Clone(h.exemplar(x)), h.exemplar(y))
	})
}

func (h *Hasher) exemplar(e pmetric.Exemplar) []byte {
	traceID, spanID := e.TraceID(), e.SpanID()
	h.buf = append(append(append(h.buf[:0], traceID[:]...), spanID[:]...), byte(e.ValueType()))
	if e.ValueType() == pmetric.ExemplarValueTypeDouble {
		h.buf = binary.BigEndian.AppendUint64(h.buf, math.Float64bits(e.DoubleValue()))
	} else {
		h.buf = binary.BigEndian.AppendUint64(h.buf, uint64(e.IntValue()))
	}
	h.putMap(e.FilteredAttributes())
	return h.buf
}

// putExemplars writes what was kept: none older than the start, a few, of a histogram one a bucket.
func (f *flusher) putExemplars(list []pmetric.Exemplar, start int64, bounds []float64, to pmetric.ExemplarSlice) {
	if len(list) == 0 {
		return
	}
	sortExemplars(&f.text, list)
	var taken map[int]bool
	if len(bounds) > 0 {
		taken = map[int]bool{}
	}
	for _, e := range list {
		if at := int64(e.Timestamp()); at != 0 && at < start {
			f.counts.Exemplars[ExemplarTooOld]++
			f.counts.Any = true
			continue
		}
		if taken != nil {
			value := e.DoubleValue()
			if e.ValueType() == pmetric.ExemplarValueTypeInt {
				value = float64(e.IntValue())
			}
			bucket := sort.SearchFloat64s(bounds, value)
			if taken[bucket] {
				f.over()
				continue
			}
			taken[bucket] = true
		}
		if to.Len() == exemplarLimit {
			f.over()
			continue
		}
		e.CopyTo(to.AppendEmpty())
	}
}

func (f *flusher) over() {
	f.counts.Exemplars[ExemplarOverLimit]++
	f.counts.Any = true
}
