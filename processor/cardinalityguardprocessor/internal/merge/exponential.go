package merge

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// expLast is the last exponential distribution of a source.
type expLast struct {
	positive, negative buckets
	count, zero        uint64
	sum, min, max      float64
	threshold          float64
	scale              int32
	noSum              bool
	hasMin, hasMax     bool
	coarse             bool // the scale is not what was sent
}

// bare says that there are no buckets: then the scale means nothing, and some senders write 0 until there are.
func (e *expLast) bare() bool { return e.positive.empty() && e.negative.empty() }

// expScratch is room for the point being taken in.
type expScratch struct {
	positive, negative []uint64
	aligned            expLast
	spare              *expLast
}

func (s *expScratch) release() {
	if cap(s.positive) > 1<<12 || cap(s.negative) > 1<<12 {
		*s = expScratch{}
	}
}

// difference makes a point what came since the last one of its source and says whether something fell. The last one is brought to the scale
// and the zero threshold of the new one first: a source that rescales did not reset.
func (s *expScratch) difference(now *expLast, last *expLast) (fell bool) {
	if last.coarse && now.scale > last.scale { // no sign of a reset: only what was sent tells that
		now.coarsen(int(now.scale - last.scale))
	}
	if now.count < last.count || (now.scale > last.scale && !last.bare()) || now.threshold < last.threshold {
		return true
	}
	a := &s.aligned
	positive, negative := append(a.positive.counts[:0], last.positive.counts...), append(a.negative.counts[:0], last.negative.counts...)
	*a = *last
	a.positive.counts, a.negative.counts = positive, negative
	shift := int(last.scale - now.scale)
	a.positive.coarsen(shift)
	a.negative.coarsen(shift)
	if now.threshold > last.threshold {
		a.threshold = now.threshold
		for { // where a threshold is inside a bucket, the two can be compared above that bucket only
			a.zero += widen(&a.positive, &a.negative, now.scale, &a.threshold)
			now.zero += widen(&now.positive, &now.negative, now.scale, &a.threshold)
			if now.threshold == a.threshold {
				break
			}
			now.threshold = a.threshold
		}
	}
	if now.zero < a.zero || lower(&now.positive, &a.positive) || lower(&now.negative, &a.negative) {
		return true
	}
	subtract(&now.positive, &a.positive)
	subtract(&now.negative, &a.negative)
	now.positive.trim() // what did not grow must not cost the total its scale
	now.negative.trim()
	now.zero -= a.zero
	now.count -= a.count
	return false
}

// widen empties the buckets below a threshold and gives their count. A threshold inside a bucket rises to its end.
func widen(positive, negative *buckets, scale int32, threshold *float64) (zero uint64) {
	for {
		n, a := positive.fold(scale, *threshold)
		m, b := negative.fold(scale, max(*threshold, a))
		zero += n + m
		raised := max(a, b)
		if raised == *threshold {
			return zero
		}
		*threshold = raised
	}
}

// lower says whether a bucket of a point is below that of the last one.
func lower(now, last *buckets) bool {
	for i, c := range last.counts {
		if c > now.at(int64(last.offset)+int64(i)) {
			return true
		}
	}
	return false
}

func subtract(from, what *buckets) {
	for i, c := range what.counts {
		if c > 0 {
			from.counts[int64(what.offset)+int64(i)-int64(from.offset)] -= c
		}
	}
}

// expTotal adds exponential distributions at the coarsest scale. Zero thresholds are applied when it is read, so that the order of the sources
// does not count.
type expTotal struct {
	positive, negative buckets
	count, zero        uint64
	sum                total
	min, max           float64
	threshold          float64
	scale              int32
	set                bool // the scale is known
	noSum              bool
	noMin, noMax       bool
}

func newExpTotal(last *expLast) *expTotal {
	t := &expTotal{}
	t.add(last, true)
	return t
}

// add adds a distribution. Its smallest and largest value count if it was counted from the birth of its source.
func (t *expTotal) add(d *expLast, born bool) {
	if !t.set {
		t.set, t.scale, t.min, t.max = true, maxScale, math.Inf(1), math.Inf(-1)
	}
	if d.scale < t.scale && !d.bare() {
		t.coarsen(int(t.scale - d.scale))
	}
	t.threshold = max(t.threshold, d.threshold)
	if d.count == 0 {
		return
	}
	t.zero += d.zero
	t.count += d.count
	t.noSum = t.noSum || d.noSum
	if !d.noSum {
		t.sum.addFloat(d.sum)
	}
	t.noMin, t.noMax = t.noMin || !d.hasMin || !born, t.noMax || !d.hasMax || !born
	t.min, t.max = min(t.min, d.min), max(t.max, d.max)
	t.shrink(d)
	shift := int(d.scale - t.scale)
	t.positive.add(&d.positive, shift)
	t.negative.add(&d.negative, shift)
}

func (t *expTotal) coarsen(shift int) {
	t.positive.coarsen(shift)
	t.negative.coarsen(shift)
	t.scale -= int32(shift)
}

// shrink makes the scale so coarse that both sides have room for a distribution.
func (t *expTotal) shrink(d *expLast) {
	for t.scale > minScale-11 && (wide(&t.positive, &d.positive, int(d.scale-t.scale)) || wide(&t.negative, &d.negative, int(d.scale-t.scale))) {
		t.coarsen(1)
	}
}

func wide(mine, other *buckets, shift int) bool {
	if other.empty() {
		return !mine.empty() && len(mine.counts) > maxBuckets
	}
	low, high := other.ends(shift)
	if !mine.empty() {
		myLow, myHigh := mine.ends(0)
		low, high = min(low, myLow), max(high, myHigh)
	}
	return high-low+1 > maxBuckets
}

// join adds another total.
func (t *expTotal) join(o *expTotal) {
	if !o.set {
		return
	}
	t.add(&expLast{
		positive: o.positive, negative: o.negative, count: o.count, zero: o.zero, min: o.min, max: o.max, threshold: o.threshold,
		scale: o.scale, noSum: o.noSum, hasMin: !o.noMin, hasMax: !o.noMax,
	}, true)
	t.sum.join(o.sum)
}

// put writes the total to a point, with the zero threshold applied.
func (t *expTotal) put(p pmetric.ExponentialHistogramDataPoint) {
	positive := buckets{t.positive.offset, append([]uint64(nil), t.positive.counts...)}
	negative := buckets{t.negative.offset, append([]uint64(nil), t.negative.counts...)}
	zero, threshold := t.zero, t.threshold
	zero += widen(&positive, &negative, t.scale, &threshold)
	positive.trim()
	negative.trim()
	p.SetScale(t.scale)
	p.SetZeroCount(zero)
	p.SetZeroThreshold(threshold)
	p.SetCount(t.count)
	if sum := t.sum.float(); !t.noSum && finite(sum) {
		p.SetSum(sum)
	}
	if t.count > 0 && !t.noMin {
		p.SetMin(t.min)
	}
	if t.count > 0 && !t.noMax {
		p.SetMax(t.max)
	}
	p.Positive().SetOffset(positive.offset)
	p.Positive().BucketCounts().FromRaw(positive.counts)
	p.Negative().SetOffset(negative.offset)
	p.Negative().BucketCounts().FromRaw(negative.counts)
}

// applyExponential takes a point of a cumulative exponential histogram.
func (b *Batch) applyExponential(it *item, s *source) {
	var now expLast
	if !b.exps.read(b.groups[it.group].Metric.ExponentialHistogram().DataPoints().At(int(it.index)), &now) {
		b.drop(it, Malformed)
		return
	}
	if b.late(it, s) {
		return
	}
	out := s.out
	if out.exp == nil {
		out.exp = &expTotal{}
	}
	last, _ := s.dist.(*expLast)
	kept := b.exps.keep(&now)
	var did step
	if !s.known {
		did = b.first(it, s)
	} else {
		fell := last != nil && b.exps.difference(&now, last)
		did = b.returned(it, s, b.next(it, s, fell, false))
		if did == refuse {
			b.exps.spare = kept
			return
		}
		if did == full { // perhaps a difference was taken already
			b.exps.read(b.groups[it.group].Metric.ExponentialHistogram().DataPoints().At(int(it.index)), &now)
		}
	}
	switch did {
	case difference:
		now.sum, now.noSum = now.sum-last.sum, now.noSum || last.noSum
	case baseline:
		now.count = 0
	}
	if b.overfull(it, out.exp.count, now.count) {
		b.exps.spare = kept
		return
	}
	b.advance(it, s, did)
	out.keepSent()
	out.exp.add(&now, s.born >= out.sequence)
	s.dist, b.exps.spare = kept, last
}

// keep copies a point before it becomes a difference, into what an earlier point left.
func (s *expScratch) keep(now *expLast) *expLast {
	kept := s.spare
	if kept == nil {
		kept = &expLast{}
	}
	s.spare = nil
	positive, negative := kept.positive.counts[:0], kept.negative.counts[:0]
	*kept = *now
	kept.positive.counts = append(positive, now.positive.counts...)
	kept.negative.counts = append(negative, now.negative.counts...)
	return kept
}
