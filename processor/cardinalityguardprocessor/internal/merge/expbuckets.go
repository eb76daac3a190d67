package merge

import (
	"math"
)

// maxBuckets is the number of buckets of a side of an exponential histogram.
const maxBuckets = 160

// minScale and maxScale are the scales that OpenTelemetry's indexes make sense at.
const (
	minScale = -10
	maxScale = 20
)

// buckets is one side of an exponential histogram: counts from an index on.
type buckets struct {
	offset int32
	counts []uint64
}

func (b *buckets) empty() bool { return len(b.counts) == 0 }

// ends gives the first and the last index at a coarser scale.
func (b *buckets) ends(shift int) (low, high int64) {
	return int64(b.offset) >> shift, (int64(b.offset) + int64(len(b.counts)) - 1) >> shift
}

func (b *buckets) at(index int64) uint64 {
	i := index - int64(b.offset)
	if i < 0 || i >= int64(len(b.counts)) {
		return 0
	}
	return b.counts[i]
}

// coarsen merges buckets in place.
func (b *buckets) coarsen(shift int) {
	if shift == 0 || b.empty() {
		return
	}
	low, high := b.ends(shift)
	for i, c := range b.counts {
		at := (int64(b.offset)+int64(i))>>shift - low
		if int64(i) == at {
			continue
		}
		b.counts[i] = 0
		b.counts[at] += c
	}
	b.counts = b.counts[:high-low+1]
	b.offset = int32(low)
}

// cover makes room for a range of indexes.
func (b *buckets) cover(low, high int64) {
	if b.empty() {
		b.offset = int32(low)
		b.counts = append(b.counts[:0], make([]uint64, high-low+1)...)
		return
	}
	oldLow, oldHigh := b.ends(0)
	if low >= oldLow && high <= oldHigh {
		return
	}
	newLow, newHigh := min(low, oldLow), max(high, oldHigh)
	counts := make([]uint64, newHigh-newLow+1)
	copy(counts[oldLow-newLow:], b.counts)
	b.offset, b.counts = int32(newLow), counts
}

// add adds another side whose indexes are finer by a shift. There is room for it.
func (b *buckets) add(o *buckets, shift int) {
	if o.empty() {
		return
	}
	b.cover(o.ends(shift))
	for i, c := range o.counts {
		b.counts[(int64(o.offset)+int64(i))>>shift-int64(b.offset)] += c
	}
}

// trim takes zeros off both ends.
func (b *buckets) trim() {
	first, last := 0, len(b.counts)
	for first < last && b.counts[first] == 0 {
		first++
	}
	for last > first && b.counts[last-1] == 0 {
		last--
	}
	b.offset += int32(first)
	b.counts = b.counts[first:last]
	if first == last {
		b.offset = 0
	}
}

// fold empties the buckets that are below a threshold, wholly or in part, and gives their count and the threshold that then holds: a finite one,
// since the last bucket of a coarse scale ends where doubles do.
func (b *buckets) fold(scale int32, threshold float64) (n uint64, raised float64) {
	raised = threshold
	for i, c := range b.counts {
		if c == 0 {
			continue
		}
		index := int64(b.offset) + int64(i)
		if !(lowerBound(scale, index)*(1+1e-12) < threshold) {
			break
		}
		n += c
		b.counts[i] = 0
		if upper := lowerBound(scale, index+1); upper*(1-1e-12) > threshold {
			raised = min(upper, math.MaxFloat64)
		}
	}
	return n, raised
}

// lowerBound is the exclusive lower bound of a bucket.
func lowerBound(scale int32, index int64) float64 {
	if scale <= 0 {
		return math.Ldexp(1, int(min(max(index<<-scale, -2000), 2000)))
	}
	whole := index >> scale
	return math.Ldexp(math.Exp2(float64(index-whole<<scale)/float64(int64(1)<<scale)), int(min(max(whole, -2000), 2000)))
}
