package merge

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// histScratch is room for the point being taken in.
type histScratch struct {
	bounds, common []float64
	counts, last   []uint64
	thinned        int // bounds of the point that were left out
}

func (s *histScratch) release() {
	if cap(s.counts) > 1<<12 {
		*s = histScratch{}
	}
}

// histLast is the last distribution of a source.
type histLast struct {
	bounds         []float64 // shared
	counts         []uint64
	count          uint64
	sum, min, max  float64
	noSum          bool
	hasMin, hasMax bool
}

// readHistogram copies a point and says whether it agrees with itself.
func (s *histScratch) read(p pmetric.HistogramDataPoint, into *histLast) bool {
	s.bounds, s.counts = appendFloats(s.bounds[:0], p.ExplicitBounds()), appendCounts(s.counts[:0], p.BucketCounts())
	into.bounds, into.counts, s.thinned = s.bounds, s.counts, 0
	into.scalars(p)
	if len(s.counts) == 0 {
		return len(s.bounds) == 0
	}
	if len(s.counts) != len(s.bounds)+1 {
		return false
	}
	var all uint64
	for _, n := range s.counts {
		if all+n < all {
			return false
		}
		all += n
	}
	for i, v := range s.bounds {
		if !(v == v) || (i > 0 && v <= s.bounds[i-1]) {
			return false
		}
	}
	if len(s.bounds) > maxBounds {
		s.thin(into)
	}
	return all == into.count
}

// maxBounds is the number of bounds that are taken of a histogram.
const maxBounds = 512

// thin takes every second bound, third bound and so on, the same ones of each point of a layout: else a source could take any amount of memory.
func (s *histScratch) thin(d *histLast) {
	step := (len(s.bounds) + maxBounds - 1) / maxBounds
	kept := make([]float64, 0, maxBounds)
	for i := step - 1; i < len(s.bounds); i += step {
		kept = append(kept, s.bounds[i])
	}
	s.thinned = len(s.bounds) - len(kept)
	d.bounds, d.counts = kept, project(s.counts[:0], s.counts, s.bounds, kept)
}

func (d *histLast) scalars(p pmetric.HistogramDataPoint) {
	d.count = p.Count()
	d.sum, d.noSum = p.Sum(), !p.HasSum() || !finite(p.Sum())
	d.min, d.hasMin = p.Min(), p.HasMin() && finite(p.Min())
	d.max, d.hasMax = p.Max(), p.HasMax() && finite(p.Max())
}

// refresh makes a point the last one that has the same bounds and agrees with itself, which is what most sources send. It changes nothing and
// says so where that is not known.
func (s *histScratch) refresh(last *histLast, p pmetric.HistogramDataPoint) bool {
	bounds, counts := p.ExplicitBounds(), p.BucketCounts()
	if len(last.counts) == 0 || bounds.Len() != len(last.bounds) || counts.Len() != len(last.counts) {
		return false
	}
	for i, v := range last.bounds {
		if bounds.At(i) != v {
			return false
		}
	}
	s.counts = slices.Grow(s.counts[:0], len(last.counts))[:len(last.counts)]
	total, small := readCounts(s.counts, counts)
	if !small || total != p.Count() {
		return false
	}
	copy(last.counts, s.counts)
	last.scalars(p)
	return true
}

// readCounts fills a list and adds it up. Small: the sum cannot have gone over.
func readCounts(to []uint64, from pcommon.UInt64Slice) (total uint64, small bool) {
	var bits uint64
	for i := range to {
		n := from.At(i)
		to[i] = n
		total += n
		bits |= n
	}
	return total, bits>>40 == 0 && len(to) < 1<<24
}

func appendFloats(to []float64, from pcommon.Float64Slice) []float64 {
	for i := range from.Len() {
		to = append(to, from.At(i))
	}
	return to
}

func appendCounts(to []uint64, from pcommon.UInt64Slice) []uint64 {
	for i := range from.Len() {
		to = append(to, from.At(i))
	}
	return to
}

// intersect appends the bounds that both have.
func intersect(to, a, b []float64) []float64 {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			to = append(to, a[i])
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return to
}

// project appends the buckets of a layout added up to those of a part of its bounds. Without bounds there are no buckets.
func project(to []uint64, counts []uint64, from, bounds []float64) []uint64 {
	if len(bounds) == 0 || len(counts) == 0 {
		return to
	}
	var n uint64
	next := 0
	for i, c := range counts {
		n += c
		if next < len(bounds) && i < len(from) && from[i] == bounds[next] {
			to = append(to, n)
			n = 0
			next++
		}
	}
	return append(to, n)
}

// difference puts a point minus the last one of its source into the scratch's counts and says whether something fell. Where the layouts
// differ, only their common bounds can be compared, and are what the difference has.
func (s *histScratch) difference(now, last *histLast) (fell bool) {
	if now.count < last.count {
		return true
	}
	s.last = s.last[:0]
	if !slices.Equal(now.bounds, last.bounds) || len(now.counts) != len(last.counts) {
		s.common = intersect(s.common[:0], now.bounds, last.bounds)
		s.last = project(s.last, last.counts, last.bounds, s.common)
		projected := project(nil, now.counts, now.bounds, s.common)
		for i := range projected {
			if projected[i] < s.last[i] {
				return true
			}
		}
		now.bounds, now.counts = s.common, projected
		for i := range s.last {
			projected[i] -= s.last[i]
		}
		return false
	}
	for i := range now.counts {
		if now.counts[i] < last.counts[i] {
			return true
		}
	}
	for i := range now.counts {
		s.last = append(s.last, now.counts[i]-last.counts[i])
	}
	now.counts = s.last
	return false
}
