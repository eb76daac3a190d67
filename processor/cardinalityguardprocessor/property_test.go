package cardinalityguardprocessor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// drawAttributes fills a map from few keys and values, so that points collide.
func drawAttributes(t *rapid.T, m pcommon.Map, forbidden bool) {
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
	put("model")
}

func drawNumber(t *rapid.T, p pmetric.NumberDataPoint, forbidden, unique bool) {
	drawAttributes(t, p.Attributes(), forbidden)
	p.SetTimestamp(pcommon.Timestamp(rapid.IntRange(20, 24).Draw(t, "time")))
	if unique { // points of one writer and time have one value, whatever their order
		p.SetIntValue(int64(p.Timestamp()))
		return
	}
	if rapid.IntRange(0, 3).Draw(t, "no start") > 0 {
		p.SetStartTimestamp(pcommon.Timestamp(rapid.IntRange(10, 19).Draw(t, "start")))
	}
	if rapid.Bool().Draw(t, "int") {
		p.SetIntValue(rapid.Int64Range(-8, 8).Draw(t, "value"))
	} else {
		p.SetDoubleValue(float64(rapid.IntRange(-32, 32).Draw(t, "quarters")) / 4)
	}
	if rapid.IntRange(0, 7).Draw(t, "end") == 0 {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	}
}

func drawMetric(t *rapid.T, m pmetric.Metric, forbidden bool) {
	kind := rapid.SampledFrom([]string{"gauge", "delta", "delta", "cumulative", "histogram", "DCGM_FI_X", "DCGM_FI_Y"}).Draw(t, "kind")
	m.SetName(kind)
	points := rapid.IntRange(1, 5).Draw(t, "points")
	switch kind {
	case "histogram":
		m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		for range points {
			p := m.Histogram().DataPoints().AppendEmpty()
			drawAttributes(t, p.Attributes(), forbidden)
			p.SetCount(rapid.Uint64Range(0, 9).Draw(t, "count"))
		}
		return
	case "gauge", "DCGM_FI_X":
		m.SetEmptyGauge()
	default:
		m.SetEmptySum().SetIsMonotonic(true)
		m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		if kind == "delta" {
			m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		}
	}
	for range points {
		drawNumber(t, numbers(m).AppendEmpty(), forbidden, kind == "DCGM_FI_X" || kind == "DCGM_FI_Y")
	}
}

// drawBatch makes a batch of few resources, scopes and metrics.
func drawBatch(t *rapid.T, forbidden bool) pmetric.Metrics {
	md := pmetric.NewMetrics()
	for range rapid.IntRange(1, 3).Draw(t, "resources") {
		rm := md.ResourceMetrics().AppendEmpty()
		drawAttributes(t, rm.Resource().Attributes(), forbidden)
		for range rapid.IntRange(1, 2).Draw(t, "scopes") {
			sm := rm.ScopeMetrics().AppendEmpty()
			drawAttributes(t, sm.Scope().Attributes(), forbidden && rapid.IntRange(0, 3).Draw(t, "in scope") == 0)
			for range rapid.IntRange(1, 3).Draw(t, "metrics") {
				drawMetric(t, sm.Metrics().AppendEmpty(), forbidden)
			}
		}
	}
	return md
}

func pointsOf(md pmetric.Metrics) int { return md.DataPointCount() }

// TestABatchGivesWhatTheModelSays also reuses one worker for all batches: nothing of one may be seen in the next.
func TestABatchGivesWhatTheModelSays(t *testing.T) {
	t.Parallel()
	w := newWorker(registryRules())
	rapid.Check(t, func(t *rapid.T) {
		md := drawBatch(t, true)
		want, before := expect(md), pointsOf(md)
		w.guard(md)
		require.Equal(t, want, flatten(md))

		accounted := int64(pointsOf(md))
		for typ := range w.counts.mergedBy {
			accounted += w.counts.mergedBy[typ]
			for _, n := range w.counts.droppedBy[typ] {
				accounted += n
			}
		}
		require.Equal(t, int64(before), accounted, "every point is sent on, merged or counted as dropped")
		w.counts.reset()
	})
}

func TestNoForbiddenKeyIsLeftAtAnyDepthAndASecondPassChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorker(registryRules())
	rapid.Check(t, func(t *rapid.T) {
		md := drawBatch(t, true)
		w.guard(md)
		for _, rm := range md.ResourceMetrics().All() {
			requireClean(t, rm.Resource().Attributes().AsRaw())
			for _, sm := range rm.ScopeMetrics().All() {
				requireClean(t, sm.Scope().Attributes().AsRaw())
				for _, m := range sm.Metrics().All() {
					for i := range pointCount(m) {
						attrs, _ := attributesAt(m, i)
						requireClean(t, attrs)
					}
				}
			}
		}
		w.counts.reset()
		bytes := marshal(t, md)
		w.guard(md)
		require.Equal(t, bytes, marshal(t, md))
		require.False(t, w.counts.any)
	})
}

func requireClean(t *rapid.T, m map[string]any) {
	_, found := strip(m)
	require.False(t, found, "%v", m)
}

func TestUntouchedBatchesAreByteEqual(t *testing.T) {
	t.Parallel()
	w := newWorker(registryRules())
	rapid.Check(t, func(t *rapid.T) {
		md := drawBatch(t, false)
		bytes := marshal(t, md)
		w.guard(md)
		require.Equal(t, bytes, marshal(t, md))
		require.False(t, w.counts.any)
	})
}

func TestTheOrderInABatchDoesNotCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		md := drawBatch(t, true)
		turned := clone(md)
		reverse(turned)
		if rapid.Bool().Draw(t, "split") { // the same points, each metric in a resource of its own
			turned = split(turned)
		}
		w := newWorker(registryRules())
		w.guard(md)
		w.guard(turned)
		require.Equal(t, flatten(md), flatten(turned))
	})
}

func split(md pmetric.Metrics) pmetric.Metrics {
	out := pmetric.NewMetrics()
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				r := out.ResourceMetrics().AppendEmpty()
				rm.Resource().CopyTo(r.Resource())
				s := r.ScopeMetrics().AppendEmpty()
				sm.Scope().CopyTo(s.Scope())
				m.CopyTo(s.Metrics().AppendEmpty())
			}
		}
	}
	return out
}

// TestNoTwoPointsOfOneSeriesAndTime holds where the input had none: native duplicates are not the guard's.
func TestNoTwoPointsOfOneSeriesAndTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		md := drawBatch(t, true)
		seen := map[string]bool{}
		for _, p := range flatten(md) {
			key := fmt.Sprint(p.series, p.time)
			if seen[key] {
				t.Skip("the input has duplicates")
			}
			seen[key] = true
		}
		newWorker(registryRules()).guard(md)
		seen = map[string]bool{}
		for _, p := range flatten(md) {
			key := fmt.Sprint(p.series, p.time)
			require.False(t, seen[key], key)
			seen[key] = true
		}
	})
}

func TestDeltaSumsAreConserved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		md := pmetric.NewMetrics()
		want := 0.0
		for i := range rapid.IntRange(1, 30).Draw(t, "points") {
			rm := md.ResourceMetrics().AppendEmpty()
			drawAttributes(t, rm.Resource().Attributes(), true)
			m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
			m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			p := m.Sum().DataPoints().AppendEmpty()
			drawNumber(t, p, true, false)
			p.SetFlags(pmetric.DefaultDataPointFlags)
			p.SetStartTimestamp(pcommon.Timestamp(i)) // no retries
			want += value(p)
		}
		newWorker(registryRules()).guard(md)
		got := 0.0
		for _, rm := range md.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					for _, p := range m.Sum().DataPoints().All() {
						got += value(p)
					}
				}
			}
		}
		require.Equal(t, want, got)
	})
}
