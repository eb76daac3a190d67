package merge

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// stream is what a reset-aware consumer knows of one series.
type stream struct {
	kind        Kind
	last, start int64
	points      int
	ended       bool
	number      float64 // of the running sequence, or the sum of deltas
	before      float64 // of the sequences that ended
	hist        *histSum
	older       []*histSum
	exp         pmetric.ExponentialHistogramDataPoint
	expTotal    expTotal
	sum         float64
	count       uint64
	min, max    *float64
}

// consumer follows what an engine sends and holds it to what every stream must keep.
type consumer struct{ streams map[string]*stream }

func (c *consumer) take(t require.TestingT, md pmetric.Metrics) {
	for _, rm := range md.ResourceMetrics().All() {
		require.NotZero(t, rm.ScopeMetrics().Len())
		for _, sm := range rm.ScopeMetrics().All() {
			require.NotZero(t, sm.Metrics().Len())
			for _, m := range sm.Metrics().All() {
				c.takeMetric(t, m)
			}
		}
	}
}

func (c *consumer) takeMetric(t require.TestingT, m pmetric.Metric) {
	k := KindOf(m)
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		for _, p := range Numbers(m).All() {
			if s := c.next(t, m, k, p); s != nil {
				s.takeNumber(t, numberOf(p).float())
			}
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			if s := c.next(t, m, k, p); s != nil {
				s.takeHistogram(t, p)
			}
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			if s := c.next(t, m, k, p); s != nil {
				s.takeExponential(t, p)
			}
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			if s := c.next(t, m, k, p); s != nil {
				require.GreaterOrEqual(t, p.Count(), s.count)
				s.count, s.sum = p.Count(), p.Sum()
			}
		}
	}
}

// next checks the times of a point. A new start of a cumulative series begins a new sequence.
func (c *consumer) next(t require.TestingT, m pmetric.Metric, k Kind, p point) *stream {
	phase, _ := p.Attributes().Get("phase")
	_, forbidden := p.Attributes().Get("run_id")
	require.False(t, forbidden)
	key := m.Name() + "/" + phase.AsString()
	s := c.streams[key]
	if s == nil {
		s = &stream{kind: k}
		c.streams[key] = s
	}
	at, start := int64(p.Timestamp()), int64(p.StartTimestamp())
	require.Greater(t, at, s.last, "times of %s", key)
	require.LessOrEqual(t, start, at, key)
	s.ended = p.Flags().NoRecordedValue()
	if s.ended {
		s.last = at
		return nil
	}
	switch {
	case k == Gauge:
		require.Zero(t, start)
	case k.delta():
		require.GreaterOrEqual(t, start, s.last, "the windows of %s overlap", key)
	case s.points > 0 && start != s.start:
		require.Equal(t, Histogram, k, "only bounds that narrow begin a sequence: %s", key)
		require.Equal(t, s.last, start, key)
		s.before += s.number
		s.older = append(s.older, s.hist)
		s.number, s.hist, s.count, s.sum = 0, nil, 0, 0
	}
	s.last, s.start = at, start
	s.points++
	return s
}

func (s *stream) takeNumber(t require.TestingT, v float64) {
	switch s.kind {
	case DeltaSum:
		s.number += v
		return
	case Sum:
		require.GreaterOrEqual(t, v, s.number)
	}
	s.number = v
}

func (s *stream) takeHistogram(t require.TestingT, p pmetric.HistogramDataPoint) {
	var all uint64
	for _, n := range p.BucketCounts().AsRaw() {
		all += n
	}
	if p.BucketCounts().Len() > 0 {
		require.Equal(t, p.ExplicitBounds().Len()+1, p.BucketCounts().Len())
		require.Equal(t, p.Count(), all)
	}
	h := &histSum{bounds: p.ExplicitBounds().AsRaw(), counts: p.BucketCounts().AsRaw(), count: p.Count()}
	if s.kind == DeltaHistogram {
		s.older = append(s.older, h)
		s.sum += p.Sum()
		return
	}
	if s.hist != nil {
		require.Equal(t, s.hist.bounds, h.bounds)
		require.GreaterOrEqual(t, h.count, s.hist.count)
		for i := range h.counts {
			require.GreaterOrEqual(t, h.counts[i], s.hist.counts[i])
		}
	}
	s.number += p.Sum() - s.sum
	s.hist, s.sum = h, p.Sum()
	s.min, s.max = nil, nil
	if p.HasMin() {
		v := p.Min()
		s.min = &v
	}
	if p.HasMax() {
		v := p.Max()
		s.max = &v
	}
}

func (s *stream) takeExponential(t require.TestingT, p pmetric.ExponentialHistogramDataPoint) {
	all := p.ZeroCount()
	for _, side := range []pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
		counts := side.BucketCounts().AsRaw()
		require.LessOrEqual(t, len(counts), maxBuckets)
		if len(counts) > 0 {
			require.NotZero(t, counts[0])
			require.NotZero(t, counts[len(counts)-1])
		}
		for _, n := range counts {
			all += n
		}
	}
	require.Equal(t, p.Count(), all)
	if s.kind == DeltaExponential {
		var d expLast
		require.True(t, (&expScratch{}).read(p, &d))
		s.expTotal.add(&d, true)
		return
	}
	require.GreaterOrEqual(t, p.Count(), s.count)
	s.count, s.sum, s.exp = p.Count(), p.Sum(), p
}

// requireHistogram wants the measurements, counted on the last bounds.
func (s *stream) requireHistogram(t require.TestingT, of []float64, where string) {
	sums := s.older
	if s.hist != nil {
		sums = append(slices.Clone(s.older), s.hist)
	}
	var count uint64
	var bounds []float64
	first := true
	for _, h := range sums {
		count += h.count
		switch {
		case h.count == 0:
		case first:
			bounds, first = h.bounds, false
		default:
			bounds = intersect(nil, bounds, h.bounds)
		}
	}
	require.Equal(t, uint64(len(of)), count, where)
	if len(bounds) == 0 {
		return
	}
	got := make([]uint64, len(bounds)+1)
	for _, h := range sums {
		if h.count == 0 {
			continue
		}
		for i, n := range project(nil, h.counts, h.bounds, bounds) {
			got[i] += n
		}
	}
	require.Equal(t, histogramOf(of, bounds), got, "%s on %v", where, bounds)
}

// requireExponential wants the measurements, counted at the scale and with the zero threshold of the point.
func requireExponential(t require.TestingT, p pmetric.ExponentialHistogramDataPoint, of []float64, where string) {
	zero, positive, negative := exponentialOf(of, p.Scale(), p.ZeroThreshold())
	require.Equal(t, zero, p.ZeroCount(), where)
	for counts, side := range map[*map[int32]uint64]pmetric.ExponentialHistogramDataPointBuckets{
		&positive: p.Positive(), &negative: p.Negative(),
	} {
		got := map[int32]uint64{}
		for i, n := range side.BucketCounts().AsRaw() {
			if n > 0 {
				got[side.Offset()+int32(i)] += n
			}
		}
		require.Equal(t, fmt.Sprint(*counts), fmt.Sprint(got), where)
	}
}
