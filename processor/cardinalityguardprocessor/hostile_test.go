package cardinalityguardprocessor

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

var (
	oddTimes  = []uint64{0, 1, 999, 1000, 1001, uint64(time.Minute) + 1000, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	oddFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.1, math.NaN(), math.Float64frombits(staleNaN), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e300}
	oddInts   = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, 100}
	oddCounts = []uint64{0, 1, 2, 7, math.MaxUint64, 1 << 63, 1 << 47}
	oddScales = []int32{0, 1, 3, 20, 21, -10, -11, 100, -100, math.MaxInt32, math.MinInt32}
	oddOffs   = []int32{0, 1, -1, 160, -160, 1 << 20, math.MaxInt32, math.MinInt32, -1074, 1023}
)

// hostile draws what no SDK would send.
type hostile struct{ t *rapid.T }

func (h hostile) pick(name string) int { return rapid.IntRange(0, 1<<20).Draw(h.t, name) }
func (h hostile) float() float64       { return oddFloats[h.pick("float")%len(oddFloats)] }
func (h hostile) count() uint64        { return oddCounts[h.pick("count")%len(oddCounts)] }

// drawHostile fills a batch with metrics that no SDK would send.
func drawHostile(t *rapid.T) pmetric.Metrics {
	h := hostile{t}
	md := pmetric.NewMetrics()
	ms := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	for range 1 + h.pick("metrics")%4 {
		m := ms.AppendEmpty()
		m.SetName([]string{"m", "", "DCGM_FI_X"}[h.pick("name")%3])
		temporality := pmetric.AggregationTemporality(h.pick("temporality") % 4)
		points := h.pick("points") % 4
		switch h.pick("type") % 6 {
		case 0:
		case 1, 2:
			h.numbers(m, temporality, points)
		case 3:
			m.SetEmptyHistogram().SetAggregationTemporality(temporality)
			for range points {
				h.histogram(m.Histogram().DataPoints().AppendEmpty())
			}
		case 4:
			m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
			for range points {
				h.exponential(m.ExponentialHistogram().DataPoints().AppendEmpty())
			}
		case 5:
			s := m.SetEmptySummary()
			for range points {
				h.summary(s.DataPoints().AppendEmpty())
			}
		}
	}
	return md
}

func (h hostile) head(p interface {
	Attributes() pcommon.Map
	SetTimestamp(pcommon.Timestamp)
	SetStartTimestamp(pcommon.Timestamp)
	SetFlags(pmetric.DataPointFlags)
}) {
	if runID := h.pick("run") % 3; runID > 0 {
		p.Attributes().PutStr("run_id", fmt.Sprint(runID))
	}
	p.SetTimestamp(pcommon.Timestamp(oddTimes[h.pick("time")%len(oddTimes)]))
	p.SetStartTimestamp(pcommon.Timestamp(oddTimes[h.pick("start")%len(oddTimes)]))
	if h.pick("flag")%5 == 0 {
		p.SetFlags(pmetric.DataPointFlags(h.pick("flags") % 4))
	}
}

// numbers makes a gauge or a sum of points.
func (h hostile) numbers(m pmetric.Metric, temporality pmetric.AggregationTemporality, points int) {
	list := pmetric.NewNumberDataPointSlice()
	for range points {
		p := list.AppendEmpty()
		h.head(p)
		switch h.pick("value") % 3 {
		case 0:
			p.SetIntValue(oddInts[h.pick("int")%len(oddInts)])
		case 1:
			p.SetDoubleValue(h.float())
		}
	}
	if h.pick("gauge")%3 == 0 {
		list.CopyTo(m.SetEmptyGauge().DataPoints())
		return
	}
	s := m.SetEmptySum()
	s.SetAggregationTemporality(temporality)
	s.SetIsMonotonic(h.pick("monotonic")%2 == 0)
	list.CopyTo(s.DataPoints())
}

func (h hostile) histogram(p pmetric.HistogramDataPoint) {
	h.head(p)
	var all uint64
	for range h.pick("buckets") % 4 {
		c := h.count()
		all += c
		p.BucketCounts().Append(c)
	}
	for i := range h.pick("bounds") % 4 {
		b := float64(i)
		if h.pick("odd bound")%4 == 0 {
			b = h.float()
		}
		p.ExplicitBounds().Append(b)
	}
	p.SetCount(all)
	if h.pick("wrong")%4 == 0 {
		p.SetCount(h.count())
	}
	if h.pick("sum")%2 == 0 {
		p.SetSum(h.float())
		p.SetMin(h.float())
		p.SetMax(h.float())
	}
}

func (h hostile) exponential(p pmetric.ExponentialHistogramDataPoint) {
	h.head(p)
	all := h.count()
	p.SetZeroCount(all)
	for _, side := range []pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
		side.SetOffset(oddOffs[h.pick("offset")%len(oddOffs)])
		for range h.pick("buckets") % 4 {
			c := h.count()
			all += c
			side.BucketCounts().Append(c)
		}
	}
	p.SetScale(oddScales[h.pick("scale")%len(oddScales)])
	p.SetZeroThreshold(h.float())
	p.SetCount(all)
	if h.pick("sum")%2 == 0 {
		p.SetSum(h.float())
	}
}

func (h hostile) summary(p pmetric.SummaryDataPoint) {
	h.head(p)
	p.SetCount(h.count())
	p.SetSum(h.float())
	for range h.pick("quantiles") % 3 {
		q := p.QuantileValues().AppendEmpty()
		q.SetQuantile(h.float())
		q.SetValue(h.float())
	}
}

// sound says what is wrong with a merged point.
func sound(m pmetric.Metric) string {
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			if p.StartTimestamp() > p.Timestamp() {
				return "start behind time"
			}
			var all uint64
			for _, c := range p.BucketCounts().All() {
				all += c
			}
			if n := p.BucketCounts().Len(); n > 0 && (n != p.ExplicitBounds().Len()+1 || all != p.Count()) {
				return "buckets"
			}
			for i, b := range p.ExplicitBounds().All() {
				if math.IsNaN(b) || i > 0 && b <= p.ExplicitBounds().At(i-1) {
					return "bounds"
				}
			}
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			all := p.ZeroCount()
			for _, c := range p.Positive().BucketCounts().All() {
				all += c
			}
			for _, c := range p.Negative().BucketCounts().All() {
				all += c
			}
			if all != p.Count() || p.Positive().BucketCounts().Len() > 160 || p.Negative().BucketCounts().Len() > 160 || p.StartTimestamp() > p.Timestamp() {
				return "exponential"
			}
		}
	case pmetric.MetricTypeSum:
		for _, p := range m.Sum().DataPoints().All() {
			if p.StartTimestamp() > p.Timestamp() {
				return "start behind time"
			}
			if p.ValueType() == pmetric.NumberDataPointValueTypeDouble && math.IsNaN(p.DoubleValue()) {
				return "not a number"
			}
		}
	}
	return ""
}

// TestHostileMetricsBreakNothing: no panic, no error, and what a flush sends is sound whatever came in.
func TestHostileMetricsBreakNothing(t *testing.T) {
	property(t, func(rt *rapid.T) {
		l := newLab(rt, 1, policy.Default(), func(c *Config) {
			c.TrackNative = rapid.Bool().Draw(rt, "tracks")
			c.Limits.SeriesPerMetric = rapid.SampledFrom([]int{2, 2000}).Draw(rt, "series")
			c.Limits.SourcesTotal = rapid.SampledFrom([]int{1, 1000}).Draw(rt, "sources")
		})
		l.at(1000)
		last := map[string]pcommon.Timestamp{}
		for i := range rapid.IntRange(1, 6).Draw(rt, "batches") {
			l.feed(rt, drawHostile(rt))
			l.sink.Reset()
			if rapid.IntRange(0, 2).Draw(rt, "flushes") > 0 {
				continue
			}
			l.at(1000 + int64(i)*int64(time.Minute))
			l.guard.flush(t.Context(), rapid.Bool().Draw(rt, "last"))
			for _, md := range l.sink.AllMetrics() {
				for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
					require.Empty(rt, sound(m), "%s", marshal(t, md))
				}
				for _, p := range flatten(md) {
					require.Greater(rt, p.time, last[p.series], "%s", marshal(t, md))
					last[p.series] = p.time
				}
			}
			l.sink.Reset()
		}
	})
}

// TestAPolicyMayChangeInTheMiddleOfABatch: batches, flushes and policies that contradict each other at the same time.
func TestAPolicyMayChangeInTheMiddleOfABatch(t *testing.T) {
	t.Parallel()
	policies := []*policy.Policy{
		policy.Default(),
		parsed(t, "attributes: {deny: {exact: [phase]}, allow_values: {phase: {values: [a]}}}\nexempt: [{metrics: {prefix: [g]}, keep: [run_id, phase], writer: single}]\n"),
		parsed(t, "attributes: {keep_only: {keys: [none]}}\nmetrics: {allow: {exact: [nothing]}, otherwise: drop}\n"),
		parsed(t, "mode: audit\n"), parsed(t, "mode: off\n"),
		parsed(t, "gauges: {default: sum}\nlimits: {series_per_metric: 2, values_per_attribute: {phase: 1}}\n"),
	}
	l := newLab(t, 1, policies[0])
	l.at(1000)
	var wait sync.WaitGroup
	work := func(n int, do func(i int)) {
		wait.Go(func() {
			for i := range n {
				do(i)
			}
		})
	}
	for worker := range 4 {
		work(200, func(i int) {
			md := gaugeBatch("g", "run_id", "a", "b", "c")
			for _, p := range numbers(md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)).All() {
				p.Attributes().PutStr("phase", fmt.Sprint(i%3, worker))
				p.SetTimestamp(pcommon.Timestamp(i + 1))
			}
			l.feed(t, md)
			l.feed(t, counter("a", cumulative, 10, int64(20+i), int64(i)))
		})
	}
	work(100, func(int) { l.guard.flush(t.Context(), false) })
	for i := range 300 {
		l.guard.govern(policies[i%len(policies)])
	}
	wait.Wait()
	l.guard.govern(policies[0])
	l.sink.Reset()
	l.feed(t, gaugeBatch("g", "run_id", "x"))
	l.guard.flush(t.Context(), true)
	for _, md := range l.sink.AllMetrics() {
		for _, p := range flatten(md) {
			require.NotContains(t, p.series, "run_id")
		}
	}
}

// TestAPointWithManyAttributesLeavesNothingBehind: it costs in proportion to its size, and its room is given back.
func TestAPointWithManyAttributesLeavesNothingBehind(t *testing.T) {
	l := newLab(t, 1, policy.Default())
	l.at(1000)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	feed := func(n int) time.Duration {
		many := map[string]any{"run_id": "a"}
		for i := range n {
			many[strconv.Itoa(i)] = "v"
		}
		md := gaugeBatch("m", "k", "v")
		p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
		require.NoError(t, p.Attributes().FromRaw(many))
		return cputime.Of(func() {
			l.feed(t, md)
			l.guard.flush(t.Context(), true)
			l.sink.Reset()
		})
	}
	feed(10)
	before := heap()
	require.Less(t, feed(200_000), time.Minute)
	l.at(int64(48 * time.Hour))
	l.guard.flush(t.Context(), true)
	l.sink.Reset()
	feed(10)
	l.at(int64(96 * time.Hour))
	l.guard.flush(t.Context(), true)
	l.sink.Reset()
	require.Less(t, int64(heap())-int64(before), int64(4<<20))
}
