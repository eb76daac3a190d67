package cardinalityguardprocessor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// drawMixedAttributes fills a map from few keys and values, so that points collide.
func drawMixedAttributes(t *rapid.T, m pcommon.Map, forbidden bool) {
	put := func(key string) {
		if rapid.IntRange(0, 2).Draw(t, key) == 0 {
			m.PutStr(key, rapid.SampledFrom([]string{"a", "b"}).Draw(t, key+"'s value"))
		}
	}
	inside := func(m pcommon.Map) {
		if forbidden && rapid.Bool().Draw(t, "inside") {
			m.PutInt("epoch", rapid.Int64Range(0, 2).Draw(t, "epoch"))
		}
		m.PutBool("kept", true)
	}
	put("phase")
	if rapid.IntRange(0, 9).Draw(t, "nested") == 0 {
		inside(m.PutEmptyMap("ctx"))
		inside(m.PutEmptySlice("list").AppendEmpty().SetEmptyMap())
	}
	if forbidden {
		put("run_id")
		put("mlflow.runId")
	}
}

var drawnKinds = []string{"gauge", "delta", "sum", "updown", "histogram", "exponential", "summary", "DCGM_FI_X"}

// drawMetric makes a metric whose points all have the batch's time.
func drawMixedMetric(t *rapid.T, m pmetric.Metric, forbidden bool, at int64) {
	kind := rapid.SampledFrom(drawnKinds).Draw(t, "kind")
	m.SetName(kind)
	points := rapid.IntRange(1, 4).Draw(t, "points")
	temporality := pmetric.AggregationTemporalityCumulative
	start, time := pcommon.Timestamp(second), pcommon.Timestamp(at)
	for range points {
		n := rapid.Uint64Range(0, 9).Draw(t, "count")
		switch kind {
		case "gauge", "DCGM_FI_X", "delta", "sum", "updown":
			switch {
			case m.Type() != pmetric.MetricTypeEmpty:
			case kind == "gauge" || kind == "DCGM_FI_X":
				m.SetEmptyGauge()
			default:
				if kind == "delta" {
					temporality, start = pmetric.AggregationTemporalityDelta, time-5
				}
				m.SetEmptySum().SetAggregationTemporality(temporality)
				m.Sum().SetIsMonotonic(kind == "sum")
			}
			p := numbers(m).AppendEmpty()
			drawMixedAttributes(t, p.Attributes(), forbidden)
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
			p.SetIntValue(int64(n))
		case "histogram":
			if m.Type() == pmetric.MetricTypeEmpty {
				m.SetEmptyHistogram().SetAggregationTemporality(temporality)
			}
			p := m.Histogram().DataPoints().AppendEmpty()
			drawMixedAttributes(t, p.Attributes(), forbidden)
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
			p.SetCount(n)
		case "exponential":
			if m.Type() == pmetric.MetricTypeEmpty {
				m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
			}
			p := m.ExponentialHistogram().DataPoints().AppendEmpty()
			drawMixedAttributes(t, p.Attributes(), forbidden)
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
			p.SetCount(n)
			p.SetZeroCount(n)
		case "summary":
			if m.Type() == pmetric.MetricTypeEmpty {
				m.SetEmptySummary()
			}
			p := m.Summary().DataPoints().AppendEmpty()
			drawMixedAttributes(t, p.Attributes(), forbidden)
			p.SetStartTimestamp(start)
			p.SetTimestamp(time)
			p.SetCount(n)
		}
	}
}

// drawMixed makes a batch of few resources, scopes and metrics.
func drawMixed(t *rapid.T, forbidden bool, at int64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	for range rapid.IntRange(1, 3).Draw(t, "resources") {
		rm := md.ResourceMetrics().AppendEmpty()
		drawMixedAttributes(t, rm.Resource().Attributes(), forbidden)
		for range rapid.IntRange(1, 2).Draw(t, "scopes") {
			sm := rm.ScopeMetrics().AppendEmpty()
			drawMixedAttributes(t, sm.Scope().Attributes(), forbidden && rapid.IntRange(0, 3).Draw(t, "in scope") == 0)
			for range rapid.IntRange(1, 3).Draw(t, "metrics") {
				drawMixedMetric(t, sm.Metrics().AppendEmpty(), forbidden, at)
			}
		}
	}
	return md
}

// hasForbidden looks for the forbidden keys of the generator at every depth.
func hasForbidden(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, inside := range v {
			if k == "run_id" || k == "mlflow.runId" || k == "epoch" || hasForbidden(inside) {
				return true
			}
		}
	case []any:
		for _, inside := range v {
			if hasForbidden(inside) {
				return true
			}
		}
	}
	return false
}

// repeated says whether a batch has two points of one series, which are not the guard's to settle when nothing touched them.
func repeated(md pmetric.Metrics) bool {
	seen := map[string]bool{}
	for _, p := range flatten(md) {
		key := fmt.Sprint(p.series, p.time)
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// TestNothingForbiddenIsLeftAndNoPointComesTwice feeds batches with forbidden keys at every level, native and touched series mixed.
func TestNothingForbiddenIsLeftAndNoPointComesTwice(t *testing.T) {
	property(t, func(t *rapid.T) {
		l := newLab(t, second, policy.Default())
		var all []pmetric.Metrics
		for i := range rapid.IntRange(1, 4).Draw(t, "batches") {
			at := int64(i+2) * 10 * second
			l.at(at + second)
			md := drawMixed(t, true, at)
			if repeated(md) {
				continue
			}
			l.feed(t, md)
			l.guard.flush(ctxOf(t), false)
			out := l.taken(t)
			requireNothingEmptyRapid(t, out)
			all = append(all, out)
		}
		seen := map[string]bool{}
		for _, md := range all {
			for _, rm := range md.ResourceMetrics().All() {
				require.False(t, hasForbidden(rm.Resource().Attributes().AsRaw()))
				for _, sm := range rm.ScopeMetrics().All() {
					require.False(t, hasForbidden(sm.Scope().Attributes().AsRaw()))
				}
			}
			for _, p := range flatten(md) {
				require.NotContains(t, p.series, "run_id")
				require.NotContains(t, p.series, "epoch")
				key := fmt.Sprint(p.series, p.time)
				require.False(t, seen[key], "two points of one series and time: %s", key)
				seen[key] = true
			}
		}
		again := newLab(t, second, policy.Default())
		for i, md := range all {
			again.at(int64(i+2)*10*second + second)
			want := flatten(md)
			again.feed(t, clone(md))
			again.guard.flush(ctxOf(t), false)
			require.Equal(t, want, flatten(again.taken(t)), "the output guarded again")
		}
	})
}

func requireNothingEmptyRapid(t *rapid.T, md pmetric.Metrics) {
	for _, rm := range md.ResourceMetrics().All() {
		require.NotZero(t, rm.ScopeMetrics().Len())
		for _, sm := range rm.ScopeMetrics().All() {
			require.NotZero(t, sm.Metrics().Len())
			for _, m := range sm.Metrics().All() {
				require.NotZero(t, pointCount(m))
			}
		}
	}
}

func TestUntouchedBatchesAreByteEqualInTheSameCall(t *testing.T) {
	property(t, func(t *rapid.T) {
		l := newLab(t, second, policy.Default())
		for i := range 3 {
			at := int64(i+2) * 10 * second
			l.at(at)
			md := drawMixed(t, false, at)
			bytes := marshal(t, md)
			l.feed(t, md)
			require.Equal(t, bytes, marshal(t, l.sink.AllMetrics()[0]))
			l.guard.flush(ctxOf(t), false)
			require.Len(t, l.sink.AllMetrics(), 1)
			l.sink.Reset()
		}
	})
}
