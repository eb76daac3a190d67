package cardinalityguardprocessor

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// temperature is a scrape of one GPU, with a run or without.
func temperature(runID string, at int64, v int64) pmetric.Metrics {
	md := gaugeBatch("DCGM_FI_DEV_GPU_TEMP", "gpu", "0")
	p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
	if runID != "" {
		p.Attributes().PutStr("run_id", runID)
	}
	p.SetTimestamp(pcommon.Timestamp(at))
	p.SetIntValue(v)
	return md
}

// TestASeriesWithOneWriterDoesNotRepeatATimeAcrossBatches, whichever of its sets of labels came first.
func TestASeriesWithOneWriterDoesNotRepeatATimeAcrossBatches(t *testing.T) {
	t.Parallel()
	type scrape struct {
		run  string
		at   int64
		want string
	}
	for name, scrapes := range map[string][]scrape{
		"two runs":            {{"a", 20, "passes"}, {"b", 20, "duplicate"}, {"b", 30, "passes"}, {"a", 25, "out_of_order"}},
		"a run, then none":    {{"a", 20, "passes"}, {"", 20, "duplicate"}, {"", 30, "passes"}},
		"none, then a run":    {{"", 20, "passes"}, {"a", 20, "duplicate"}, {"a", 30, "passes"}},
		"without a time":      {{"a", 0, "passes"}, {"b", 0, "passes"}},
		"from the future":     {{"a", int64(time.Hour), "passes"}, {"b", 20, "passes"}, {"a", 20, "duplicate"}},
		"untouched, repeated": {{"", 20, "passes"}, {"", 20, "passes"}, {"", 10, "passes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, 1, policy.Default())
			l.at(1000)
			for i, s := range scrapes {
				before := l.counted(t)
				l.feed(t, temperature(s.run, s.at, int64(i)))
				out := l.sink.DataPointCount()
				l.sink.Reset()
				require.Equal(t, s.want == "passes", out == 1, "%d: %v", i, s)
				if s.want != "passes" {
					require.NotEqual(t, before, l.counted(t))
					require.Contains(t, l.counted(t), fmt.Sprintf(`points_dropped{processor="cardinality_guard",reason=%q,type="gauge"}`, s.want))
				}
			}
		})
	}
}

func TestSeriesWithOneWriterAreForgottenAndBounded(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, policy.Default(), func(c *Config) { c.Limits.SourcesTotal = 2 })
	l.at(1000)
	for _, gpu := range []string{"0", "1", "2"} {
		l.feed(t, gaugeBatch("DCGM_FI_DEV_GPU_TEMP", "gpu", gpu))
	}
	assert.Equal(t, int64(2), l.guard.engine.Size().Sources)
	l.at(int64(2 * time.Hour))
	l.guard.flush(t.Context(), false)
	assert.Zero(t, l.guard.engine.Size().Sources)
}

// TestNoTwoPointsOfOneIdentityAndTime mixes native and touched points of gauges, deltas and hardware metrics over batches and flushes. Each sender
// keeps its own times in order and repeats none.
func TestNoTwoPointsOfOneIdentityAndTime(t *testing.T) {
	property(t, func(rt *rapid.T) {
		l := newLab(rt, 1, policy.Default())
		now := int64(time.Hour)
		sent := map[string]int64{}
		var all []flatPoint
		take := func() {
			if l.sink.DataPointCount() > 0 {
				for _, md := range l.sink.AllMetrics() {
					all = append(all, flatten(md)...)
				}
				l.sink.Reset()
			}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			now += int64(time.Second) * rapid.SampledFrom([]int64{0, 1, 20}).Draw(rt, "passes")
			l.at(now)
			if rapid.IntRange(0, 3).Draw(rt, "what") == 0 {
				l.guard.flush(t.Context(), false)
				take()
				continue
			}
			name := rapid.SampledFrom([]string{"loss", "tokens", "DCGM_FI_DEV_GPU_TEMP"}).Draw(rt, "name")
			runID := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "run")
			at := now - int64(time.Second)*rapid.Int64Range(0, 2).Draw(rt, "old")
			if at <= sent[name+runID] {
				continue
			}
			md := temperature(runID, at, now)
			m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
			m.SetName(name)
			if name == "tokens" {
				p := pmetric.NewNumberDataPoint()
				m.Gauge().DataPoints().At(0).CopyTo(p)
				m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
				p.CopyTo(m.Sum().DataPoints().AppendEmpty())
				m.Sum().DataPoints().At(0).SetStartTimestamp(pcommon.Timestamp(max(sent[name+runID], at-int64(time.Second))))
			}
			sent[name+runID] = at
			l.feed(rt, md)
			take()
		}
		now += int64(time.Hour)
		l.at(now)
		l.guard.flush(t.Context(), true)
		take()
		seen := map[string]bool{}
		for _, p := range all {
			key := fmt.Sprint(p.series, p.time)
			require.False(rt, seen[key], "%s twice at %d: %v", p.series, p.time, all)
			seen[key] = true
		}
	})
}

func TestConcurrentBatchesOfOneWriter(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, policy.Default())
	l.at(1_000_000)
	done := make(chan struct{})
	for _, runID := range []string{"a", "b", "c", ""} {
		go func() {
			defer func() { done <- struct{}{} }()
			for at := int64(1); at < 300; at++ {
				l.feed(t, temperature(runID, at*1000, 1))
			}
		}()
	}
	for range 4 {
		<-done
	}
	var times []pcommon.Timestamp
	for _, md := range l.sink.AllMetrics() {
		for _, p := range flatten(md) {
			times = append(times, p.time)
		}
	}
	n := len(times)
	slices.Sort(times)
	require.Len(t, slices.Compact(times), n)
}

// TestASeriesWithOneWriterFromTheFuture: one point a time there, too, and the clock may be set back.
func TestASeriesWithOneWriterFromTheFuture(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1000*second, policy.Default())
	send := func(now, at, value int64, run string) int {
		l.at(now * second)
		md := pointOf("gauge", 0, at*second, value, "run_id", run, "gpu", "0")
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).SetName("DCGM_FI_DEV_GPU_TEMP")
		l.feed(t, md)
		return l.taken(t).DataPointCount()
	}
	assert.Equal(t, 1, send(1010, 1100, 60, "a"))
	assert.Zero(t, send(1011, 1100, 61, "b"), "one of its time went on")
	assert.Zero(t, send(1012, 1090, 61, "b"))
	assert.Equal(t, 1, send(1013, 1110, 62, "b"))
	assert.Equal(t, 1, send(1020, 1019, 63, "b"), "the clock is right now")
	assert.Zero(t, send(1111, 1110, 64, "b"), "also when the time has come")
	assert.Equal(t, 1, send(1112, 1111, 64, "b"))
}
