package merge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// clock is the one of a run: ahead by something, all the time or for a while.
type clock struct {
	by, from, to int64
	first, began pcommon.Timestamp // the first point's start, and what it is by the clock
}

func (c *clock) at(t pcommon.Timestamp) pcommon.Timestamp {
	if t == 0 || int64(t) < c.from || int64(t) >= c.to {
		return t
	}
	return t + pcommon.Timestamp(c.by)
}

func drawClock(t *rapid.T) *clock {
	c := &clock{by: rapid.SampledFrom([]int64{0, 1e6, 5.3e9, 30.7e9, 61.3e9, 3601.9e9, 1 << 62}).Draw(t, "ahead by"), to: 1 << 62}
	if rapid.Bool().Draw(t, "for a while") {
		c.from = sec(float64(10*rapid.IntRange(0, 12).Draw(t, "from")) - 6)
		c.to = c.from + int64(10e9*rapid.IntRange(1, 8).Draw(t, "for"))
	}
	return c
}

// start is at for a start. A clock that is set back between a start and the first point is not among these: the start says nothing then.
func (c *clock) start(start, time pcommon.Timestamp) pcommon.Timestamp {
	if c.first == 0 {
		c.first, c.began = start, start+c.at(time)-time
	}
	if start == c.first {
		return c.began
	}
	return c.at(start)
}

// sets gives the times of a batch by the clocks of its runs.
func sets(clocks map[string]*clock, md pmetric.Metrics) {
	for _, rm := range md.ResourceMetrics().All() {
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			eachPoint(m, func(p movable) {
				run, _ := p.Attributes().Get("run_id")
				c := clocks[run.Str()]
				if c == nil || p.StartTimestamp() == 0 {
					return
				}
				p.SetStartTimestamp(c.start(p.StartTimestamp(), p.Timestamp()))
				p.SetTimestamp(c.at(p.Timestamp()))
			})
		}
	}
}

// arrival is when a batch comes that is hardly on its way.
func arrival(e event) int64 { return e.now - 2e9 + 1e6 }

// movable is a point whose times can be set.
type movable interface {
	point
	SetTimestamp(ts pcommon.Timestamp)
	SetStartTimestamp(ts pcommon.Timestamp)
}

func eachPoint(m pmetric.Metric, visit func(movable)) {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		for _, p := range Numbers(m).All() {
			visit(p)
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			visit(p)
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			visit(p)
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			visit(p)
		}
	}
}

// totalsOf adds what a consumer gets of each metric: the last value of a cumulative series, all windows of a delta.
func totalsOf(out []pmetric.Metrics) map[string]float64 {
	totals := map[string]float64{}
	for _, md := range out {
		for _, rm := range md.ResourceMetrics().All() {
			for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
				delta := KindOf(m).delta()
				put := func(p point, n float64) {
					phase, _ := p.Attributes().Get("phase")
					key := m.Name() + " " + phase.Str()
					if p.Flags().NoRecordedValue() || KindOf(m).overLive() { // levels are no totals
						return
					}
					if delta {
						n += totals[key]
					}
					totals[key] = n
				}
				switch m.Type() {
				case pmetric.MetricTypeSum:
					for _, p := range m.Sum().DataPoints().All() {
						put(p, numberOf(p).float())
					}
				case pmetric.MetricTypeHistogram:
					for _, p := range m.Histogram().DataPoints().All() {
						put(p, float64(p.Count()))
					}
				case pmetric.MetricTypeExponentialHistogram:
					for _, p := range m.ExponentialHistogram().DataPoints().All() {
						put(p, float64(p.Count()))
					}
				case pmetric.MetricTypeSummary:
					for _, p := range m.Summary().DataPoints().All() {
						put(p, float64(p.Count()))
					}
				}
			}
		}
	}
	return totals
}

// TestAClockThatIsAheadChangesNoTotal: whether it is ahead all the time or is set forward and back.
func TestAClockThatIsAheadChangesNoTotal(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, false)
		layout := map[string]bool{}
		for _, r := range h.runs {
			layout[fmt.Sprint(r.bounds)] = true
		}
		clocks := map[string]*clock{}
		for _, r := range h.runs {
			clocks[r.name] = drawClock(t)
		}
		play := func(clocks map[string]*clock) map[string]float64 {
			r := newRig(testConfig(), plain{}, sec(0))
			var out []pmetric.Metrics
			for _, e := range h.events {
				r.now = e.now
				if e.flush {
					out = append(out, r.flush())
					continue
				}
				r.now = arrival(e)
				md := pmetric.NewMetrics()
				e.batch.CopyTo(md)
				sets(clocks, md)
				r.feed(md)
			}
			return totalsOf(out)
		}
		want, got := play(nil), play(clocks)
		if len(layout) > 1 { // a sequence begins anew where the bounds narrow, wherever the flushes are
			for _, phase := range []string{"train", "test"} {
				delete(want, "hist "+phase)
				delete(got, "hist "+phase)
			}
		}
		require.Equal(t, want, got)
	})
}

// TestARepeatFromAClockThatIsAheadIsKnown: also when its time has come in between.
func TestARepeatFromAClockThatIsAheadIsKnown(t *testing.T) {
	t.Parallel()
	for _, ahead := range []int64{1e9, 30e9, 61e9, 100e9} {
		for _, later := range []int64{0, 5e9, 31e9, 70e9, 200e9} {
			r := newRig(testConfig(), plain{}, sec(0))
			start := sec(1) + ahead
			send := func(now, v int64) pmetric.Metrics {
				md := one(Sum, "a", start, sec(float64(now))+ahead, v)
				sum := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum()
				sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
				sum.SetIsMonotonic(true)
				return md
			}
			for i := range int64(10) {
				r.now = sec(float64(10 + i))
				r.feed(send(10+i, 100*(i+1)))
			}
			r.now += later
			for i := range int64(10) {
				r.feed(send(10+i, 100*(i+1)))
			}
			assert.EqualValues(t, 1000, onlyPoint(t, r.flush()).IntValue(), "%d %d", ahead, later)
			assert.Zero(t, r.batch.Counts.Resets)
		}
	}
}

// TestTheOrderInABatchDoesNotCountWhereClocksAreAhead: also where a clock is set within it.
func TestTheOrderInABatchDoesNotCountWhereClocksAreAhead(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, false)
		clocks := map[string]*clock{}
		for _, r := range h.runs {
			clocks[r.name] = drawClock(t)
		}
		for i := range h.events {
			if !h.events[i].flush {
				sets(clocks, h.events[i].batch)
			}
		}
		a := h.flushes(h.play(t, newRig(testConfig(), plain{}, sec(0)), false))
		b := h.flushes(h.play(t, newRig(testConfig(), plain{}, sec(0)), true))
		for i := range a {
			require.Equal(t, listed(t, a[i]), listed(t, b[i]), "flush %d", i)
		}
	})
}

// TestARefusedValueCastsNoDoubtOnAPointBeforeIt: of two points that have one time, which is ahead, one fell and the other is no count. Which of them
// comes first in the batch does not matter, nor whether the source is mapped anew behind a restart or another policy.
func TestARefusedValueCastsNoDoubtOnAPointBeforeIt(t *testing.T) {
	t.Parallel()
	fell, refused := tick{run: "a", start: -1, time: 120, value: 3}, tick{run: "a", start: 2, time: 120, value: -1}
	for _, batch := range [][]tick{{fell, refused}, {refused, fell}} {
		for name, remap := range map[string]func(r *rig) *rig{
			"as it was":      func(r *rig) *rig { return r },
			"another policy": func(r *rig) *rig { r.SetRules(plain{}); return r },
			"a restart": func(r *rig) *rig {
				state, err := r.Snapshot()
				require.NoError(t, err)
				restarted := newRig(testConfig(), plain{}, r.now)
				require.NoError(t, restarted.Restore(state, r.now))
				return restarted
			},
		} {
			r := newRig(testConfig(), plain{}, sec(0))
			r.now = sec(10)
			r.feed(sums(true, tick{run: "a", start: 1, time: 9, value: 5}))
			require.Equal(t, []string{"[] (1, 9] 5"}, sent(r.flush()))
			r = remap(r)
			r.now = sec(20)
			r.feed(sums(true, batch...))
			require.Equal(t, []string{"[] (1, 20] 8"}, sent(r.flush()), "%s, %v", name, batch)
			require.Equal(t, [Reasons]int64{Malformed: 1}, r.batch.Counts.Dropped[Sum], "%s, %v", name, batch)
		}
	}
}
