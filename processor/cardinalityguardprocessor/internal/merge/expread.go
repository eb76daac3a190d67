package merge

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// read copies a point and says whether it agrees with itself.
func (s *expScratch) read(p pmetric.ExponentialHistogramDataPoint, into *expLast) bool {
	into.positive.counts, into.negative.counts = s.positive, s.negative
	if !into.take(p) {
		return false
	}
	s.positive, s.negative = into.positive.counts, into.negative.counts
	return true
}

// take copies a point if it agrees with itself.
func (d *expLast) take(p pmetric.ExponentialHistogramDataPoint) bool {
	if !agrees(p) {
		return false
	}
	d.positive, d.negative = readBuckets(d.positive.counts[:0], p.Positive()), readBuckets(d.negative.counts[:0], p.Negative())
	d.scale, d.zero, d.threshold, d.count = p.Scale(), p.ZeroCount(), p.ZeroThreshold(), p.Count()
	d.sum, d.noSum = p.Sum(), !p.HasSum() || !finite(p.Sum())
	d.min, d.hasMin = p.Min(), p.HasMin() && finite(p.Min())
	d.max, d.hasMax = p.Max(), p.HasMax() && finite(p.Max())
	return true
}

// agrees says whether a point has indexes that doubles have and buckets that add up to its count.
func agrees(p pmetric.ExponentialHistogramDataPoint) bool {
	if p.Scale() < minScale || p.Scale() > maxScale || !(p.ZeroThreshold() >= 0) || math.IsInf(p.ZeroThreshold(), 0) {
		return false
	}
	all := p.ZeroCount()
	for _, side := range [...]pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
		counts := side.BucketCounts()
		first, n := int64(side.Offset()), int64(counts.Len())
		if limit := indexLimit(p.Scale()); n > 0 && (n > 1<<16 || first < -limit || first+n > limit) {
			return false
		}
		for i := range counts.Len() {
			c := counts.At(i)
			if all+c < all {
				return false
			}
			all += c
		}
	}
	return all == p.Count()
}

// indexLimit is beyond the index of every double: their exponents go from -1075 to 1024.
func indexLimit(scale int32) int64 {
	if scale >= 0 {
		return 1100 << scale
	}
	return 1100>>-scale + 2
}
