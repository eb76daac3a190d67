package e2e

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// hostileBatches are metrics of one run that contradict themselves.
func hostileBatches(base pcommon.Timestamp) []pmetric.Metrics {
	var all []pmetric.Metrics
	add := func(fill func(pmetric.Metric)) {
		md := pmetric.NewMetrics()
		m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("hostile")
		fill(m)
		all = append(all, md)
	}
	for _, temporality := range []pmetric.AggregationTemporality{0, 1, 2, 77} {
		for _, bounds := range [][]float64{nil, {math.NaN()}, {2, 1}, {math.Inf(1)}} {
			for _, counts := range [][]uint64{nil, {1}, {1, 2}, {math.MaxUint64, 2}} {
				add(func(m pmetric.Metric) {
					m.SetEmptyHistogram().SetAggregationTemporality(temporality)
					p := m.Histogram().DataPoints().AppendEmpty()
					p.Attributes().PutStr("run_id", "a")
					p.ExplicitBounds().FromRaw(bounds)
					p.BucketCounts().FromRaw(counts)
					p.SetCount(3)
					p.SetSum(math.NaN())
					p.SetTimestamp(base)
				})
			}
		}
		for _, scale := range []int32{math.MinInt32, -11, 20, math.MaxInt32} {
			for _, offset := range []int32{math.MinInt32, 0, math.MaxInt32} {
				add(func(m pmetric.Metric) {
					m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
					p := m.ExponentialHistogram().DataPoints().AppendEmpty()
					p.Attributes().PutStr("run_id", "a")
					p.SetScale(scale)
					p.Positive().SetOffset(offset)
					p.Positive().BucketCounts().FromRaw([]uint64{1, 1})
					p.SetCount(2)
					p.SetZeroThreshold(math.Inf(1))
					p.SetTimestamp(math.MaxUint64)
				})
			}
		}
		for _, at := range []pcommon.Timestamp{0, base - 1e18, base, math.MaxUint64} {
			add(func(m pmetric.Metric) {
				m.SetEmptySum().SetAggregationTemporality(temporality)
				m.Sum().SetIsMonotonic(true)
				p := m.Sum().DataPoints().AppendEmpty()
				p.Attributes().PutStr("run_id", "a")
				p.SetIntValue(math.MinInt64)
				p.SetTimestamp(at)
				p.SetStartTimestamp(math.MaxUint64)
				p.SetFlags(7)
			})
		}
	}
	add(func(pmetric.Metric) {})
	return append(all, pmetric.NewMetrics())
}

// TestTheBinarySurvivesHostileMetrics: what contradicts itself is counted, and the series of others go on.
func TestTheBinarySurvivesHostileMetrics(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	endpoint := ports.Free(t)
	c := collector.Start(t, collector.Options{YAML: guardAlone, Env: map[string]string{"NETDATA_OTLP_ENDPOINT": sink.Endpoint(), "OTLP_ENDPOINT": endpoint}})
	base := pcommon.NewTimestampFromTime(time.Now())
	for _, md := range hostileBatches(base) {
		exportMetrics(t, endpoint, md)
	}
	exportMetrics(t, endpoint, trainerBatch(base, secretRun, 3))
	require.Eventually(t, func() bool {
		for _, p := range series.Points(sink.Metrics()...) {
			if p.Name == "training.steps" && p.Value == "3" {
				return true
			}
		}
		return false
	}, resultWithin, 20*time.Millisecond)
	c.WaitMetric("otelcol_cardinality_guard_points_dropped", map[string]string{"reason": "malformed"}, 10, resultWithin)
	require.True(t, c.Running())
}
