package merge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// listed is what a flush sent, as sorted texts of single points.
func listed(t require.TestingT, md pmetric.Metrics) []string {
	var out []string
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				one := pmetric.NewMetrics()
				only := one.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
				m.CopyTo(only)
				text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(one)
				require.NoError(t, err)
				var tree map[string]any
				require.NoError(t, json.Unmarshal(text, &tree))
				out = append(out, points(tree)...)
			}
		}
	}
	slices.Sort(out)
	return out
}

// points lists the points of a metric, each with the metric's name.
func points(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		if list, is := v["dataPoints"].([]any); is {
			for _, p := range list {
				out = append(out, fmt.Sprint(p))
			}
			return out
		}
		for _, k := range v {
			for _, p := range points(k) {
				out = append(out, fmt.Sprint(v["name"], p))
			}
		}
	case []any:
		for _, e := range v {
			out = append(out, points(e)...)
		}
	}
	return out
}

// TestTheOrderInABatchDoesNotCount feeds the same history with the resources of each batch in another order.
func TestTheOrderInABatchDoesNotCount(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, true)
		a := h.play(t, newRig(testConfig(), plain{}, sec(0)), false)
		b := h.play(t, newRig(testConfig(), plain{}, sec(0)), true)
		for i := range a {
			require.Equal(t, listed(t, a[i]), listed(t, b[i]), "event %d", i)
		}
	})
}

// TestHowBatchesAreCutDoesNotCount joins the batches between two flushes.
func TestHowBatchesAreCutDoesNotCount(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, false)
		joined := &history{now: h.now}
		for _, e := range h.events {
			last := len(joined.events) - 1
			if last >= 0 && !e.flush && !joined.events[last].flush && joined.events[last].now == e.now {
				both := pmetric.NewMetrics()
				joined.events[last].batch.CopyTo(both)
				more := pmetric.NewMetrics()
				e.batch.CopyTo(more)
				more.ResourceMetrics().MoveAndAppendTo(both.ResourceMetrics())
				joined.events[last].batch = both
				continue
			}
			joined.events = append(joined.events, e)
		}
		a := h.flushes(h.play(t, newRig(testConfig(), plain{}, sec(0)), false))
		b := joined.flushes(joined.play(t, newRig(testConfig(), plain{}, sec(0)), false))
		for i := range a {
			require.Equal(t, listed(t, a[i]), listed(t, b[i]), "flush %d", i)
		}
	})
}

// TestARestartNeverCountsTwice loses the whole state at any moment: what a consumer adds up, with starts telling resets, is never too much, also
// where the clocks of sources are known to be wrong. One that was set back shows no more that a start is of before.
func TestARestartNeverCountsTwice(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, false)
		clocks := map[string]*clock{}
		for _, r := range h.runs {
			if c := drawClock(t); c.by > int64(testConfig().MaxFutureSkew) {
				c.to = 1 << 62
				clocks[r.name] = c
			}
		}
		at := rapid.IntRange(0, len(h.events)-1).Draw(t, "restart")
		r := newRig(testConfig(), plain{}, sec(0))
		totals := map[restartable]*restarted{}
		for i, e := range h.events {
			r.now = e.now
			if !e.flush {
				r.now = arrival(e)
			}
			if i == at {
				r = newRig(testConfig(), plain{}, r.now)
			}
			if !e.flush {
				md := pmetric.NewMetrics()
				e.batch.CopyTo(md)
				sets(clocks, md)
				r.feed(md)
				continue
			}
			for _, rm := range r.flush().ResourceMetrics().All() {
				for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
					addMetric(totals, m)
				}
			}
		}
		for of, total := range totals {
			require.LessOrEqual(t, total.before+total.value, float64(len(h.measured[of.phase])), "%v", of)
		}
	})
}

type (
	restartable struct{ metric, phase string }
	restarted   struct{ before, value, start float64 }
)

// addMetric adds the points of a metric up if its values are totals: what each counts is the measurements.
func addMetric(totals map[restartable]*restarted, m pmetric.Metric) {
	switch m.Name() {
	case kindNames[Sum]:
		for _, p := range m.Sum().DataPoints().All() {
			add(totals, m, p, numberOf(p).float())
		}
	case kindNames[Histogram]:
		for _, p := range m.Histogram().DataPoints().All() {
			add(totals, m, p, float64(p.Count()))
		}
	case kindNames[Exponential]:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			add(totals, m, p, float64(p.Count()))
		}
	case kindNames[Summary]:
		for _, p := range m.Summary().DataPoints().All() {
			add(totals, m, p, float64(p.Count()))
		}
	}
}

func add(totals map[restartable]*restarted, m pmetric.Metric, p point, v float64) {
	if p.Flags().NoRecordedValue() {
		return
	}
	phase, _ := p.Attributes().Get("phase")
	of := restartable{m.Name(), phase.Str()}
	if isOverflow(p.Attributes()) {
		of.phase = OverflowKey
	}
	s := totals[of]
	if s == nil {
		s = &restarted{start: float64(p.StartTimestamp())}
		totals[of] = s
	}
	if float64(p.StartTimestamp()) != s.start || v < s.value {
		s.before += s.value
	}
	s.value, s.start = v, float64(p.StartTimestamp())
}

// TestHowSourcesInterleaveDoesNotCount mixes the scrapes between two flushes; those of a run stay in order.
func TestHowSourcesInterleaveDoesNotCount(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, false)
		mixed := &history{now: h.now}
		byRun := map[string][]pmetric.Metrics{}
		var waiting []string // a run for each of its scrapes
		for _, e := range h.events {
			if !e.flush {
				for _, rm := range e.batch.ResourceMetrics().All() {
					one := pmetric.NewMetrics()
					rm.CopyTo(one.ResourceMetrics().AppendEmpty())
					run, _ := rm.ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes().Get("run_id")
					byRun[run.Str()] = append(byRun[run.Str()], one)
					waiting = append(waiting, run.Str())
				}
				continue
			}
			if len(waiting) > 0 {
				for _, run := range rapid.Permutation(waiting).Draw(t, "order") {
					mixed.events = append(mixed.events, event{now: e.now, batch: byRun[run][0]})
					byRun[run] = byRun[run][1:]
				}
			}
			waiting = nil
			mixed.events = append(mixed.events, e)
		}
		a := h.flushes(h.play(t, newRig(testConfig(), plain{}, sec(0)), false))
		b := mixed.flushes(mixed.play(t, newRig(testConfig(), plain{}, sec(0)), false))
		for i := range a {
			require.Equal(t, listed(t, a[i]), listed(t, b[i]), "flush %d", i)
		}
	})
}

// TestALimitLosesNothing lets more series come than a metric may have: no more go out, and the totals are those of the input.
func TestALimitLosesNothing(t *testing.T) {
	property(t, func(t *rapid.T) {
		cfg := testConfig()
		cfg.SeriesPerMetric = rapid.IntRange(2, 4).Draw(t, "limit")
		r := newRig(cfg, plain{}, sec(0))
		series, values, want := map[string]int64{}, map[string]int64{}, int64(0)
		for i := range rapid.IntRange(1, 8).Draw(t, "steps") {
			at := float64(10 * (i + 1))
			r.now = sec(at)
			var ticks []tick
			for range rapid.IntRange(1, 5).Draw(t, "points") {
				k := tick{
					run: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "run"), phase: rapid.StringMatching("[1-6]").Draw(t, "phase"),
					start: 1, time: at,
				}
				id := k.run + "/" + k.phase
				k.value = values[id] + rapid.Int64Range(0, 5).Draw(t, "more")
				if slices.ContainsFunc(ticks, func(o tick) bool { return o.run == k.run && o.phase == k.phase }) {
					continue
				}
				want += k.value - values[id]
				values[id] = k.value
				ticks = append(ticks, k)
			}
			passed := r.feed(sums(true, ticks...))
			for _, md := range []pmetric.Metrics{passed, r.flush()} {
				for _, rm := range md.ResourceMetrics().All() {
					for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
						for _, p := range m.Sum().DataPoints().All() {
							key := fmt.Sprint(p.Attributes().AsRaw())
							require.GreaterOrEqual(t, p.IntValue(), series[key], key)
							series[key] = p.IntValue()
						}
					}
				}
			}
		}
		var got int64
		for _, v := range series {
			got += v
		}
		require.LessOrEqual(t, len(series), cfg.SeriesPerMetric)
		require.Equal(t, want, got)
	})
}
