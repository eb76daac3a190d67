package merge

import (
	"math"
	"math/bits"
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// read copies a point and says whether it agrees with itself: whether it has indexes that doubles have and buckets that add up to its count. One that
// is wider than what is sent on is brought to a scale at which it is not: else a source could take any amount of memory.
func (s *expScratch) read(p pmetric.ExponentialHistogramDataPoint, into *expLast) bool {
	if p.Scale() < minScale || p.Scale() > maxScale || !(p.ZeroThreshold() >= 0) || math.IsInf(p.ZeroThreshold(), 0) {
		return false
	}
	for _, side := range [...]pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
		if !indexed(p.Scale(), side.Offset(), side.BucketCounts().Len()) {
			return false
		}
	}
	all := sum64{total: p.ZeroCount()}
	into.positive, into.negative = readBuckets(s.positive, p.Positive(), &all), readBuckets(s.negative, p.Negative(), &all)
	s.positive, s.negative = into.positive.counts, into.negative.counts
	into.scalars(p)
	into.coarse = false
	for len(into.positive.counts) > maxBuckets || len(into.negative.counts) > maxBuckets {
		into.coarsen(1)
	}
	return all.over == 0 && all.total == into.count
}

// coarsen brings a distribution to another scale than it was sent at.
func (e *expLast) coarsen(shift int) {
	e.positive.coarsen(shift)
	e.negative.coarsen(shift)
	e.scale, e.coarse = e.scale-int32(shift), true
}

func (e *expLast) scalars(p pmetric.ExponentialHistogramDataPoint) {
	e.scale, e.zero, e.threshold, e.count = p.Scale(), p.ZeroCount(), p.ZeroThreshold(), p.Count()
	e.sum, e.noSum = p.Sum(), !p.HasSum() || !finite(p.Sum())
	e.min, e.hasMin = p.Min(), p.HasMin() && finite(p.Min())
	e.max, e.hasMax = p.Max(), p.HasMax() && finite(p.Max())
}

// refresh makes a point the last one that has the same layout and agrees with itself, which is what most sources send. It changes nothing and says
// so where that is not known.
func (s *expScratch) refresh(last *expLast, p pmetric.ExponentialHistogramDataPoint) bool {
	if p.Scale() != last.scale || p.ZeroThreshold() != last.threshold {
		return false
	}
	all := sum64{total: p.ZeroCount()}
	if !last.positive.alike(p.Positive(), &s.positive, &all) || !last.negative.alike(p.Negative(), &s.negative, &all) {
		return false
	}
	if all.over != 0 || all.total != p.Count() {
		return false
	}
	copy(last.positive.counts, s.positive)
	copy(last.negative.counts, s.negative)
	last.scalars(p)
	return true
}

// alike says whether a side has the same buckets, without empty ones at its ends, and reads their counts.
func (b *buckets) alike(p pmetric.ExponentialHistogramDataPointBuckets, room *[]uint64, all *sum64) bool {
	counts, n := p.BucketCounts(), len(b.counts)
	if counts.Len() != n || (n > 0 && (p.Offset() != b.offset || counts.At(0) == 0 || counts.At(n-1) == 0)) {
		return false
	}
	*room = slices.Grow((*room)[:0], n)[:n]
	total, small := readCounts(*room, counts)
	all.add(total)
	return small
}

// indexed says whether a side has indexes that doubles have.
func indexed(scale, offset int32, n int) bool {
	limit, first := indexLimit(scale), int64(offset)
	return n == 0 || (n <= 1<<16 && first >= -limit && first+int64(n) <= limit)
}

// indexLimit is beyond the index of every double: their exponents go from -1075 to 1024.
func indexLimit(scale int32) int64 {
	if scale >= 0 {
		return 1100 << scale
	}
	return 1100>>-scale + 2
}

// readBuckets copies a side without empty buckets at its ends, into the room of another, and adds its counts up.
func readBuckets(room []uint64, p pmetric.ExponentialHistogramDataPointBuckets, all *sum64) buckets {
	counts := p.BucketCounts()
	first, last := 0, counts.Len()
	for first < last && counts.At(first) == 0 {
		first++
	}
	for last > first && counts.At(last-1) == 0 {
		last--
	}
	b := buckets{offset: p.Offset() + int32(first), counts: slices.Grow(room[:0], last-first)[:last-first]}
	sum := *all
	for i := range b.counts {
		c := counts.At(first + i)
		b.counts[i] = c
		sum.add(c)
	}
	*all = sum
	return b
}

// sum64 is a sum of counts that knows whether it went over.
type sum64 struct{ total, over uint64 }

func (s *sum64) add(n uint64) {
	var carry uint64
	s.total, carry = bits.Add64(s.total, n, 0)
	s.over |= carry
}
