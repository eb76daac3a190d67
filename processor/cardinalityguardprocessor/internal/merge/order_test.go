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
		h := drawHistory(t)
		a := h.play(t, newRig(testConfig(), plain{}, sec(0)), false)
		b := h.play(t, newRig(testConfig(), plain{}, sec(0)), true)
		for i := range a {
			require.Equal(t, listed(t, a[i]), listed(t, b[i]), "flush %d", i)
		}
	})
}

// TestHowBatchesAreCutDoesNotCount joins the batches between two flushes.
func TestHowBatchesAreCutDoesNotCount(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t)
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
		a := h.play(t, newRig(testConfig(), plain{}, sec(0)), false)
		b := joined.play(t, newRig(testConfig(), plain{}, sec(0)), false)
		for i := range a {
			require.Equal(t, listed(t, a[i]), listed(t, b[i]), "flush %d", i)
		}
	})
}

// TestARestartNeverCountsTwice loses the whole state at any moment: what a consumer adds up, with starts telling resets, is never too much.
func TestARestartNeverCountsTwice(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t)
		at := rapid.IntRange(0, len(h.events)-1).Draw(t, "restart")
		r := newRig(testConfig(), plain{}, sec(0))
		totals := map[string]*restarted{}
		for i, e := range h.events {
			if i == at {
				r = newRig(testConfig(), plain{}, e.now)
			}
			r.now = e.now
			if !e.flush {
				md := pmetric.NewMetrics()
				e.batch.CopyTo(md)
				r.feed(md)
				continue
			}
			for _, rm := range r.flush().ResourceMetrics().All() {
				for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
					if m.Name() != kindNames[Sum] {
						continue
					}
					for _, p := range m.Sum().DataPoints().All() {
						phase, _ := p.Attributes().Get("phase")
						add(totals, phase.Str(), p)
					}
				}
			}
		}
		for phase, total := range totals {
			require.LessOrEqual(t, total.before+total.value, float64(len(h.measured[phase])), phase)
		}
	})
}

type restarted struct{ before, value, start float64 }

func add(totals map[string]*restarted, phase string, p pmetric.NumberDataPoint) {
	if p.Flags().NoRecordedValue() {
		return
	}
	s := totals[phase]
	if s == nil {
		s = &restarted{start: float64(p.StartTimestamp())}
		totals[phase] = s
	}
	v := numberOf(p).float()
	if float64(p.StartTimestamp()) != s.start || v < s.value {
		s.before += s.value
	}
	s.value, s.start = v, float64(p.StartTimestamp())
}
