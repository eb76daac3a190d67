package merge

import (
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// quantile is one of a summary's.
type quantile struct{ at, value float64 }

// keptQuantiles is the number of quantiles that are remembered of a source, each once: more would be a bound on nothing.
const keptQuantiles = 64

// summaryLast is the last summary of a source.
type summaryLast struct {
	quantiles []quantile
	count     uint64
	sum       float64
}

// summaryTotal is the count and sum of an output.
type summaryTotal struct {
	count uint64
	sum   total
}

func newSummaryTotal(last *summaryLast) *summaryTotal {
	t := &summaryTotal{count: last.count}
	t.sum.addFloat(last.sum)
	return t
}

// applySummary takes a point of a summary.
func (b *Batch) applySummary(it *item, s *source) {
	p := b.groups[it.group].Metric.Summary().DataPoints().At(int(it.index))
	if !finite(p.Sum()) {
		b.drop(it, NotFinite)
		return
	}
	if b.late(it, s) {
		return
	}
	out := s.out
	if out.summary == nil {
		out.summary = &summaryTotal{}
	}
	last, _ := s.dist.(*summaryLast)
	var did step
	if !s.known {
		did = b.first(it, s)
	} else {
		did = b.returned(it, s, b.next(it, s, last != nil && p.Count() < last.count, false))
	}
	if did == refuse {
		return
	}
	more, sum := uint64(0), out.summary.sum
	switch did {
	case full:
		more = p.Count()
		sum.addFloat(p.Sum())
	case difference:
		more = p.Count() - last.count
		sum.addFloat(p.Sum())
		sum.addFloat(-last.sum)
	}
	if b.overfull(it, out.summary.count, more) {
		return
	}
	if math.IsInf(sum.sum, 0) {
		b.drop(it, NotFinite)
		return
	}
	out.summary.count, out.summary.sum = out.summary.count+more, sum
	b.advance(it, s, did)
	over, malformed := s.keepSummary(p)
	b.Counts.parts(&b.Counts.Quantiles[QuantileOverLimit], over)
	b.Counts.parts(&b.Counts.Quantiles[QuantileMalformed], malformed)
}

// keepSummary makes a point the last one. It says how many of its quantiles are beyond those that are kept, and how many it has twice or are none.
func (s *source) keepSummary(p pmetric.SummaryDataPoint) (over, malformed int) {
	last, _ := s.dist.(*summaryLast)
	if last == nil {
		last = &summaryLast{}
		s.dist = last
	}
	last.count, last.sum = p.Count(), p.Sum()
	last.quantiles = last.quantiles[:0]
	for _, q := range p.QuantileValues().All() {
		at := q.Quantile()
		switch {
		case at != at || slices.ContainsFunc(last.quantiles, func(o quantile) bool { return o.at == at }):
			malformed++
		case len(last.quantiles) == keptQuantiles:
			over++
		default:
			last.quantiles = append(last.quantiles, quantile{at, q.Value()})
		}
	}
	return over, malformed
}

// putSummary writes an output's summary. Quantiles of several sources cannot be merged, but for the smallest and the largest value.
func (o *output) putSummary(p pmetric.SummaryDataPoint, counts *Counts) {
	p.SetCount(o.summary.count)
	p.SetSum(o.summary.sum.float())
	var merged []quantile
	live, known := 0, 0
	for s := o.sources; s != nil; s = s.next {
		last, _ := s.dist.(*summaryLast)
		if !s.live || last == nil {
			continue
		}
		live++
		known += len(last.quantiles)
		if live == 1 {
			merged = slices.Clone(last.quantiles)
			continue
		}
		merged = extremes(merged, last.quantiles)
	}
	counts.parts(&counts.Quantiles[QuantileMerged], known-live*len(merged))
	slices.SortFunc(merged, func(a, b quantile) int { return cmp.Compare(a.at, b.at) })
	for _, q := range merged {
		v := p.QuantileValues().AppendEmpty()
		v.SetQuantile(q.at)
		v.SetValue(q.value)
	}
}

// extremes gives what two sources have of the smallest and the largest value. One that has seen nothing lately says NaN, which is no value.
func extremes(a, b []quantile) []quantile {
	var out []quantile
	for _, q := range a {
		for _, r := range b {
			if q.at != r.at {
				continue
			}
			switch q.at {
			case 0:
				out = append(out, quantile{0, either(q.value, r.value, math.Min)})
			case 1:
				out = append(out, quantile{1, either(q.value, r.value, math.Max)})
			}
		}
	}
	return out
}

func either(a, b float64, both func(float64, float64) float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return both(a, b)
}
