package cardinalityguardprocessor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

var cleanKeys = []string{"phase", "framework", "task_family", "outcome", "host.name"}

var forbiddenKeys = []string{"run_id", "trace_id", "epoch"}

const benchPoints = 10_000

// benchBatch makes one metric of 10,000 points with eight attributes. Every runs points have one identity after a removal.
func benchBatch(kind string, extra []string, runs int) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("training." + kind)
	temporality := pmetric.AggregationTemporalityCumulative
	switch kind {
	case "gauge":
		m.SetEmptyGauge()
	case "delta":
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	case "sum":
		m.SetEmptySum().SetAggregationTemporality(temporality)
		m.Sum().SetIsMonotonic(true)
	case "histogram":
		m.SetEmptyHistogram().SetAggregationTemporality(temporality)
	case "exponential":
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
	}
	for i := range benchPoints {
		attrs := benchPoint(m, i)
		for _, k := range cleanKeys {
			attrs.PutStr(k, fmt.Sprintf("value-%d", i/runs))
		}
		for _, k := range extra {
			attrs.PutStr(k, fmt.Sprintf("value-%d", i))
		}
	}
	return md
}

func benchPoint(m pmetric.Metric, i int) pcommon.Map {
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		p := m.Histogram().DataPoints().AppendEmpty()
		p.ExplicitBounds().FromRaw([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		p.BucketCounts().FromRaw([]uint64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
		p.SetCount(12)
		p.SetSum(60)
		return p.Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		p.SetScale(3)
		for range 40 {
			p.Positive().BucketCounts().Append(1)
		}
		p.SetCount(40)
		p.SetSum(60)
		return p.Attributes()
	default:
		p := numbers(m).AppendEmpty()
		p.SetIntValue(int64(i))
		return p.Attributes()
	}
}

// retime moves all points to a time, as the next scrape of the same sources would.
func retime(md pmetric.Metrics, at int64) {
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	start, time := pcommon.Timestamp(10), pcommon.Timestamp(at)
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
		}
	default:
		if m.Type() == pmetric.MetricTypeSum && m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityDelta {
			start = time - 5
		}
		for _, p := range numbers(m).All() {
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
		}
	}
}

func benchGuard(b testing.TB) *worker {
	return newLab(b, 1, policy.Default(), func(c *Config) {
		c.Limits.SeriesPerMetric, c.Limits.SeriesTotal = 20_000, 50_000
	}).guard.take()
}

func TestUntouchedPointsCostNoAllocation(t *testing.T) {
	for _, kind := range []string{"gauge", "delta", "sum", "histogram", "exponential"} {
		w := benchGuard(t)
		md := benchBatch(kind, []string{"a", "b", "c"}, 1)
		at := int64(100)
		retime(md, at)
		w.guard(md, at) // the keys are judged once, the sources are remembered
		require.Less(t, testing.AllocsPerRun(5, func() {
			at += 10
			retime(md, at)
			w.guard(md, at)
		}), 10.0, kind)
		require.Equal(t, benchPoints, md.DataPointCount())
	}
}

// BenchmarkUntouched is held against BenchmarkPlainDelete: gauges and deltas at most twice its time, cumulative sums five times, no allocation.
func BenchmarkUntouched(b *testing.B) {
	for _, kind := range []string{"gauge", "delta", "sum", "histogram", "exponential"} {
		b.Run(kind, func(b *testing.B) {
			w := benchGuard(b)
			md := benchBatch(kind, []string{"a", "b", "c"}, 1)
			at := int64(100)
			retime(md, at)
			w.guard(md, at)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				at += 10
				retime(md, at)
				b.StartTimer()
				w.guard(md, at)
			}
			perPoint(b)
		})
	}
}

// BenchmarkPlainDelete removes three of eight attributes and merges nothing, as the attributes processor does.
func BenchmarkPlainDelete(b *testing.B) {
	md := benchBatch("gauge", forbiddenKeys, 1)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		work := clone(md)
		b.StartTimer()
		for _, p := range numbers(work.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)).All() {
			for _, k := range forbiddenKeys {
				p.Attributes().Remove(k)
			}
		}
	}
	perPoint(b)
}

// BenchmarkMerge feeds known sources.
func BenchmarkMerge(b *testing.B) {
	for _, kind := range []string{"gauge", "delta", "sum", "histogram", "exponential"} {
		for _, runs := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/runs=%d", kind, runs), func(b *testing.B) {
				w := benchGuard(b)
				md := benchBatch(kind, forbiddenKeys, runs)
				at := int64(100)
				first := clone(md)
				retime(first, at)
				w.guard(first, at)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					at += 10
					work := clone(md)
					retime(work, at)
					b.StartTimer()
					w.guard(work, at)
				}
				perPoint(b)
			})
		}
	}
}

// BenchmarkFlush sends 10,000 outputs.
func BenchmarkFlush(b *testing.B) {
	l := newLab(b, 1, policy.Default(), func(c *Config) {
		c.Limits.SeriesPerMetric, c.Limits.SeriesTotal = 20_000, 50_000
	})
	w := l.guard.take()
	md := benchBatch("sum", forbiddenKeys, 1)
	at := int64(100)
	for b.Loop() {
		b.StopTimer()
		at += 10
		work := clone(md)
		retime(work, at)
		w.guard(work, at)
		l.at(at)
		l.sink.Reset()
		b.StartTimer()
		l.guard.flush(b.Context(), false)
	}
	require.Equal(b, benchPoints, l.sink.DataPointCount())
}

func perPoint(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchPoints, "ns/point")
}
