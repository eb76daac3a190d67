package merge

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// hist makes a batch of one histogram point; nil bounds have no buckets.
func hist(run string, start, time float64, bounds []float64, counts ...uint64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("h")
	m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	p := m.Histogram().DataPoints().AppendEmpty()
	p.Attributes().PutStr("run_id", run)
	p.SetStartTimestamp(pcommon.Timestamp(sec(start)))
	p.SetTimestamp(pcommon.Timestamp(sec(time)))
	var n uint64
	for _, c := range counts {
		n += c
	}
	p.SetCount(n)
	p.SetSum(float64(n))
	p.SetMin(1)
	p.SetMax(2)
	if bounds != nil {
		p.ExplicitBounds().FromRaw(bounds)
		p.BucketCounts().FromRaw(counts)
	}
	return md
}

func (r *rig) hist(t *testing.T, now float64, in ...pmetric.Metrics) pmetric.HistogramDataPoint {
	t.Helper()
	r.now = sec(now)
	for _, md := range in {
		r.feed(md)
	}
	md := r.flush()
	require.Equal(t, 1, md.DataPointCount())
	return md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().DataPoints().At(0)
}

func TestSmallestAndLargestValuesAreKnownForTheWholeSequenceOrOmitted(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	fine, coarse := []float64{1, 2}, []float64{2}
	p := r.hist(t, 20, hist("a", 10, 19, fine, 1, 1, 1))
	assert.True(t, p.HasMin() && p.HasMax())
	p = r.hist(t, 30, hist("b", 21, 29, coarse, 1, 1)) // narrows: the new sequence has b only, from its birth
	assert.Equal(t, pcommon.Timestamp(sec(19)), p.StartTimestamp())
	assert.Equal(t, []uint64{1, 1}, p.BucketCounts().AsRaw())
	assert.True(t, p.HasMin() && p.HasMax())
	p = r.hist(t, 40, hist("a", 10, 39, fine, 1, 2, 1)) // what a's smallest value was since then is not known
	assert.Equal(t, []uint64{2, 1}, p.BucketCounts().AsRaw())
	assert.False(t, p.HasMin() || p.HasMax())
	p = r.hist(t, 50, hist("c", 41, 49, coarse, 1, 1))
	assert.False(t, p.HasMin() || p.HasMax(), "for the rest of the sequence")
}

func TestEmptyDistributionsDoNotNarrow(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	p := r.hist(t, 20, hist("a", 10, 19, []float64{1, 2}, 0, 0, 0))
	assert.Equal(t, []float64{1, 2}, p.ExplicitBounds().AsRaw())
	assert.False(t, p.HasMin())
	p = r.hist(t, 30, hist("b", 21, 29, []float64{1, 2}, 1, 1, 1))
	assert.Equal(t, pcommon.Timestamp(sec(10)), p.StartTimestamp())
	p = r.hist(t, 40, hist("c", 31, 39, []float64{7}, 0, 0), hist("b", 21, 39, []float64{1, 2}, 1, 1, 2))
	assert.Equal(t, []float64{1, 2}, p.ExplicitBounds().AsRaw())
	assert.Equal(t, []uint64{1, 1, 2}, p.BucketCounts().AsRaw())
	p = r.hist(t, 50, hist("d", 41, 49, nil, 5)) // no buckets: count and sum are left
	assert.Zero(t, p.BucketCounts().Len()+p.ExplicitBounds().Len())
	assert.Equal(t, uint64(5), p.Count())
	assert.Equal(t, pcommon.Timestamp(sec(39)), p.StartTimestamp())
}

// TestANewSequenceHasWhatTheNextComponentDidNotTake: what a refused flush had belongs to what was not sent on yet.
func TestANewSequenceHasWhatTheNextComponentDidNotTake(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	fine, coarse := []float64{1, 2}, []float64{2}
	refused := func(now float64, in pmetric.Metrics) {
		r.now = sec(now)
		r.feed(in)
		require.Len(t, r.Flush(r.now, &r.counts, false), 1)
		r.Rollback("", r.now)
	}
	r.hist(t, 20, hist("a", 10, 19, fine, 1, 1, 1))
	refused(30, hist("a", 10, 29, fine, 2, 2, 2))
	refused(40, hist("b", 31, 39, coarse, 1, 1))
	p := r.hist(t, 50, hist("a", 10, 49, fine, 2, 2, 3))
	assert.Equal(t, pcommon.Timestamp(sec(19)), p.StartTimestamp())
	assert.Equal(t, []uint64{3, 3}, p.BucketCounts().AsRaw(), "2 + 1 of the first and 1 + 2 of the second bucket since 19")
	assert.InDelta(t, 6, p.Sum(), 0)
	p = r.hist(t, 60, hist("a", 10, 59, fine, 2, 2, 4))
	assert.Equal(t, pcommon.Timestamp(sec(19)), p.StartTimestamp(), "one new sequence")
	assert.Equal(t, []uint64{3, 4}, p.BucketCounts().AsRaw())
}

func TestBoundsOfThePolicyNeedNoNewSequence(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{bounds: []float64{2, 4, 9}}, sec(0))
	p := r.hist(t, 20, hist("a", 10, 19, []float64{1, 2, 3, 4}, 1, 1, 1, 1, 1))
	assert.Equal(t, []float64{2, 4}, p.ExplicitBounds().AsRaw())
	assert.Equal(t, []uint64{2, 2, 1}, p.BucketCounts().AsRaw())
	p = r.hist(t, 30, hist("b", 21, 29, []float64{2, 4, 8}, 1, 1, 1, 1))
	assert.Equal(t, pcommon.Timestamp(sec(10)), p.StartTimestamp())
	assert.Equal(t, []uint64{3, 3, 3}, p.BucketCounts().AsRaw())
}

func TestASourceThatChangesItsBoundsIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.hist(t, 20, hist("a", 10, 19, []float64{1, 2}, 1, 1, 1))
	p := r.hist(t, 30, hist("a", 10, 29, []float64{2, 3}, 2, 1, 1))
	assert.Equal(t, uint64(1), p.Count(), "a new sequence with the one that came")
	assert.Equal(t, []float64{2}, p.ExplicitBounds().AsRaw())
	assert.Equal(t, []uint64{0, 1}, p.BucketCounts().AsRaw())
}

func TestABucketThatFellIsAReset(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.hist(t, 20, hist("a", 10, 19, []float64{1, 2}, 5, 0, 0))
	p := r.hist(t, 30, hist("a", 10, 29, []float64{1, 2}, 2, 3, 0)) // the same count
	assert.Equal(t, []uint64{7, 3, 0}, p.BucketCounts().AsRaw())
	assert.Equal(t, int64(1), r.batch.Counts.Resets[ImplicitReset])
}

func TestMalformedDistributionsAreDropped(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	wrong := hist("a", 10, 19, []float64{1, 2}, 1, 1, 1)
	wrong.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().DataPoints().At(0).SetCount(7)
	for _, md := range []pmetric.Metrics{wrong, hist("a", 10, 19, []float64{2, 1}, 1, 1, 1), hist("a", 10, 19, []float64{2}, 1, 1, 1)} {
		r.feed(md)
		require.Zero(t, md.DataPointCount())
	}
	require.Zero(t, r.flush().DataPointCount())
	require.Equal(t, int64(3), r.batch.Counts.Dropped[Histogram][Malformed])
}

func TestWideExponentialHistogramsFitIntoTheirBuckets(t *testing.T) {
	t.Parallel()
	total := expTotal{}
	for _, index := range []int32{-500, 159, 160, 1000} {
		d := expLast{scale: 5, count: 1, positive: buckets{offset: index, counts: []uint64{1}}}
		total.add(&d, true)
	}
	require.LessOrEqual(t, len(total.positive.counts), maxBuckets)
	require.Equal(t, int32(1), total.scale, "1501 indexes are 94 of scale 1, and 188 of scale 2")
	require.Equal(t, uint64(4), total.positive.total())
	exact := expTotal{}
	for _, index := range []int32{0, 159} {
		d := expLast{scale: 5, count: 1, positive: buckets{offset: index, counts: []uint64{1}}}
		exact.add(&d, true)
	}
	require.Equal(t, int32(5), exact.scale, "160 indexes fit")
}

// expo makes a batch of one exponential histogram point of scale 5 whose buckets begin at an index.
func expo(run string, start, time float64, offset int32, counts ...uint64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("e")
	m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	p := m.ExponentialHistogram().DataPoints().AppendEmpty()
	p.Attributes().PutStr("run_id", run)
	p.SetStartTimestamp(pcommon.Timestamp(sec(start)))
	p.SetTimestamp(pcommon.Timestamp(sec(time)))
	p.SetScale(5)
	p.Positive().SetOffset(offset)
	p.Positive().BucketCounts().FromRaw(counts)
	for _, n := range counts {
		p.SetCount(p.Count() + n)
	}
	return md
}

// TestBucketsThatDidNotGrowCostNoScale: of a source that was there before the guard only what is new is in the total.
func TestBucketsThatDidNotGrowCostNoScale(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	counts := slices.Repeat([]uint64{1}, maxBuckets)
	r.now = sec(20)
	r.feed(expo("a", -100, 19, 0, counts...))
	r.flush()
	counts[maxBuckets-1]++
	r.now = sec(30)
	r.feed(expo("a", -100, 29, 0, counts...))
	r.feed(expo("b", 21, 29, 200, 3))
	md := r.flush()
	require.Equal(t, 1, md.DataPointCount())
	p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).ExponentialHistogram().DataPoints().At(0)
	require.Equal(t, uint64(4), p.Count())
	require.Equal(t, int32(5), p.Scale(), "159 to 200 fit")
	require.Equal(t, int32(maxBuckets-1), p.Positive().Offset())
	require.Equal(t, 42, p.Positive().BucketCounts().Len())
}

func TestAThresholdInsideABucketRisesToItsEnd(t *testing.T) {
	t.Parallel()
	total := expTotal{}
	total.add(&expLast{scale: 0, count: 3, zero: 1, threshold: 3, positive: buckets{offset: 3, counts: []uint64{2}}}, true)
	total.add(&expLast{scale: 0, count: 4, positive: buckets{offset: 0, counts: []uint64{1, 1, 1}}, negative: buckets{offset: 1, counts: []uint64{1}}}, true)
	p := pmetric.NewExponentialHistogramDataPoint()
	total.put(p)
	assert.InDelta(t, 4, p.ZeroThreshold(), 0)
	assert.Equal(t, uint64(4), p.ZeroCount())
	assert.Equal(t, []uint64{1, 2}, p.Positive().BucketCounts().AsRaw())
	assert.Equal(t, int32(2), p.Positive().Offset())
	assert.Zero(t, p.Negative().BucketCounts().Len())
}

// TestAScaleWithoutBucketsBindsNothing: senders write 0 there until they have a bucket.
func TestAScaleWithoutBucketsBindsNothing(t *testing.T) {
	t.Parallel()
	bare, fine := &expLast{scale: 0, count: 2, zero: 2}, &expLast{scale: 5, count: 1, positive: buckets{offset: 99, counts: []uint64{1}}}
	for _, order := range [][]*expLast{{bare, fine}, {fine, bare}, {{scale: 0}, fine}} {
		total, p := expTotal{}, pmetric.NewExponentialHistogramDataPoint()
		for _, d := range order {
			total.add(d, true)
		}
		total.put(p)
		assert.Equal(t, int32(5), p.Scale())
		assert.Equal(t, int32(99), p.Positive().Offset())
	}
}

// A threshold inside the last bucket of a coarse scale rises to the largest double: never to infinity, which no reader takes.
func TestAThresholdStaysFinite(t *testing.T) {
	t.Parallel()
	b := buckets{counts: []uint64{7}}
	n, raised := b.fold(minScale, 5.8e76)
	require.Equal(t, uint64(7), n)
	require.Equal(t, math.MaxFloat64, raised)
}

func (b *buckets) total() (n uint64) {
	for _, c := range b.counts {
		n += c
	}
	return n
}
