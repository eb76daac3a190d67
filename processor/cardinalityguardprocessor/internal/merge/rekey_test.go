package merge

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// forbids are the rules, the scrubber and the cleaner of a policy that forbids some keys on points.
type forbids struct {
	plain
	keys []string
}

func (f forbids) Cleaner() Cleaner { return f }

func (f forbids) ScrubPoint(attrs pcommon.Map) (touched bool) {
	for _, k := range f.keys {
		touched = attrs.Remove(k) || touched
	}
	return touched
}

func (f forbids) ScrubExemplars(pmetric.ExemplarSlice) {}

func (f forbids) Metric(pcommon.Resource, pcommon.InstrumentationScope, pmetric.Metric) (stays, changed bool) {
	return true, false
}

func (f forbids) Rejects(pcommon.Map) bool { return false }

var policies = []forbids{{keys: []string{"run_id"}}, {keys: []string{"run_id", "phase"}}}

// changing is a guard whose policy changes, and what it sent.
type changing struct {
	*rig
	at, before int // the policy in force, and the one before
	native     bool
	totals     map[restartable]*restarted
	deltas     map[string]float64
	times      sequences
	stored     map[string][]byte
}

// TestAChangeOfThePolicyLosesNothing changes it at any moment, refuses flushes, restarts with the state, and lets batches of the policy before
// come behind the change: what is sent adds up to what was measured, and nothing is sent that the policy in force forbids.
func TestAChangeOfThePolicyLosesNothing(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, rapid.IntRange(0, 3).Draw(t, "natives") == 0)
		cfg := testConfig()
		cfg.SeriesPerMetric = rapid.SampledFrom([]int{2, 3, 2000}).Draw(t, "series")
		c := &changing{
			rig:    newRig(cfg, policies[0], sec(0)),
			native: slices.ContainsFunc(h.runs, func(r *run) bool { return r.native }),
			totals: map[restartable]*restarted{}, deltas: map[string]float64{}, times: sequences{}, stored: map[string][]byte{},
		}
		for i, e := range h.events {
			c.now = e.now
			if rapid.IntRange(0, 3).Draw(t, "another policy") == 0 {
				c.before, c.at = c.at, 1-c.at
				c.SetRules(policies[c.at])
			}
			if !e.flush {
				c.come(t, e.batch)
				continue
			}
			c.flush(t, i < len(h.events)-3 && rapid.IntRange(0, 2).Draw(t, "refused") == 0)
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				c.before, c.at = c.at, rapid.IntRange(0, 1).Draw(t, "policy")
				c.rig = newRig(cfg, policies[c.at], e.now)
				require.NoError(t, c.Restore(c.stored, e.now))
			}
		}
		if !c.native { // what passes of native runs is a total of its own
			c.requireAll(t, h)
		}
	})
}

// come feeds a batch, perhaps one that was scrubbed by the policy before.
func (c *changing) come(t *rapid.T, batch pmetric.Metrics) {
	md := pmetric.NewMetrics()
	batch.CopyTo(md)
	generation, by := c.Generation(), c.at
	if generation > 1 && rapid.IntRange(0, 3).Draw(t, "of the policy before") == 0 {
		generation, by = generation-1, c.before
	}
	c.batch.scrub = policies[by]
	passed := c.feedOf(md, generation)
	if by == c.at {
		c.take(t, passed)
	}
}

func (c *changing) flush(t *rapid.T, refused bool) {
	portions := c.Flush(c.now, &c.counts, false)
	if refused {
		c.Rollback("", c.now)
	} else {
		c.Commit("")
		for _, p := range portions {
			c.take(t, p.Metrics)
		}
	}
	dirty, err := c.Snapshot()
	require.NoError(t, err)
	maps.Copy(c.stored, dirty)
}

// take adds up what is sent; nothing of it is what the policy in force forbids.
func (c *changing) take(t *rapid.T, md pmetric.Metrics) {
	for _, rm := range md.ResourceMetrics().All() {
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			addMetric(c.totals, m)
			addDelta(c.deltas, m)
			eachPoint(m, func(p movable) {
				c.times.take(t, m, p, c.native)
				for _, k := range policies[c.at].keys {
					_, there := p.Attributes().Get(k)
					require.False(t, there, "%s %s", m.Name(), k)
				}
			})
		}
	}
}

func (c *changing) requireAll(t *rapid.T, h *history) {
	want := 0.
	for _, of := range h.measured {
		want += float64(len(of))
	}
	sums := map[string]float64{}
	for of, total := range c.totals {
		sums[of.metric] += total.before + total.value
	}
	maps.Copy(sums, c.deltas)
	for _, k := range kinds {
		if !k.overLive() {
			require.InDelta(t, want, sums[kindNames[k]], 1e-9, kindNames[k])
		}
	}
}

func addDelta(deltas map[string]float64, m pmetric.Metric) {
	switch m.Name() {
	case kindNames[DeltaSum]:
		for _, p := range m.Sum().DataPoints().All() {
			deltas[m.Name()] += numberOf(p).float()
		}
	case kindNames[DeltaHistogram]:
		for _, p := range m.Histogram().DataPoints().All() {
			deltas[m.Name()] += float64(p.Count())
		}
	case kindNames[DeltaExponential]:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			deltas[m.Name()] += float64(p.Count())
		}
	}
}

// sequences are the last start and time of each series.
type sequences map[string][2]int64

// take holds a point to the ones before it: times grow, and a sequence begins behind the one before.
func (s sequences) take(t *rapid.T, m pmetric.Metric, p point, native bool) {
	if p.Flags().NoRecordedValue() {
		return
	}
	key := fmt.Sprint(m.Name(), p.Attributes().AsRaw())
	start, at := int64(p.StartTimestamp()), int64(p.Timestamp())
	before, known := s[key]
	require.LessOrEqual(t, start, at, key)
	if known {
		require.Greater(t, at, before[1], key)
		if start != before[0] && !native { // what passes has a start of its own
			require.GreaterOrEqual(t, start, before[1], key)
		}
	}
	s[key] = [2]int64{start, at}
}

// TestAnOutputThatEndedBeforeItHadAValueStartsWithTheFirst: an end says nothing of when what comes next began.
func TestAnOutputThatEndedBeforeItHadAValueStartsWithTheFirst(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), policies[0], sec(0))
	r.batch.scrub = policies[0]
	r.now = sec(10)
	r.feed(sums(true, tick{run: "a", phase: "train", start: 1, time: 9, value: 100}))
	require.Equal(t, []string{"[phase:train] (1, 9] 100"}, sent(r.flush()))
	r.SetRules(policies[1])
	r.batch.scrub = policies[1]
	r.now = sec(20)
	require.Empty(t, sent(r.flush()))
	r.now = sec(30)
	r.feed(sums(true, tick{run: "a", phase: "train", start: 1, time: 29, ends: true}))
	require.Equal(t, []string{"[] (none, 29] end"}, sent(r.flush()))
	r.now = sec(40)
	r.feed(sums(true, tick{run: "b", phase: "train", start: 31, time: 39, value: 5}))
	require.Equal(t, []string{"[] (31, 39] 5"}, sent(r.flush()))
	r.now = sec(50)
	r.feed(sums(true, tick{run: "c", phase: "train", start: 21, time: 49, value: 1}))
	require.Equal(t, []string{"[] (31, 49] 6"}, sent(r.flush()), "frozen")
}

// TestALevelOfSourcesThatSaidNothingNewHasAStart: a change of the policy brings them together, they repeat their last points, and one of them ends.
func TestALevelOfSourcesThatSaidNothingNewHasAStart(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), policies[1], sec(0))
	r.batch.scrub = policies[1]
	points := []tick{{run: "a", phase: "train", start: 1, time: 9, value: 100}, {run: "b", phase: "train", start: 2, time: 8, value: 10}}
	r.now = sec(10)
	r.feed(sums(false, points...))
	require.Equal(t, []string{"[] (1, 9] 110"}, sent(r.flush()))
	r.SetRules(policies[0])
	r.batch.scrub = policies[0]
	r.now = sec(20)
	r.feed(sums(false, points...))
	r.feed(sums(false, tick{run: "b", phase: "train", start: 2, time: 19, ends: true}))
	require.Equal(t, []string{"[phase:train] (9, 19] 100"}, sent(r.flush()))
}

// TestAnOutputThatEndedBeforeItHadAValueIsStored: its first source came with a change of the policy, said only that it ended, and then another came.
func TestAnOutputThatEndedBeforeItHadAValueIsStored(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), policies[0], sec(0))
	r.batch.scrub = policies[0]
	a := &run{name: "a", phase: "train", start: sec(1), scraped: sec(1), scale: 3, values: values, fresh: values}
	r.now = sec(10)
	r.feed(a.scrape(sec(10)))
	r.flush()
	r.SetRules(policies[1])
	r.batch.scrub = policies[1]
	r.now = sec(20)
	r.flush()
	a.ended, r.now = true, sec(30)
	r.feed(a.scrape(sec(30)))
	require.NotZero(t, r.flush().DataPointCount(), "that it ended")
	b := &run{name: "b", phase: "train", start: sec(31), scraped: sec(31), scale: 3, values: values, fresh: values}
	r.now = sec(40)
	r.feed(b.scrape(sec(40)))
	state, err := r.Snapshot()
	require.NoError(t, err)
	restored := newRig(testConfig(), policies[1], sec(40))
	require.NoError(t, restored.Restore(state, sec(40)))
	restored.now, r.now = sec(50), sec(50)
	require.Equal(t, listed(t, r.flush()), listed(t, restored.flush()))
}

// blind are rules under which no batch comes here: those of a policy in audit, or off.
type blind struct{ plain }

func (blind) Cleaner() Cleaner { return nil }

// TestSourcesThatNobodySeesAreNotSilent: while a policy only audits, their points pass as they are. What waited of totals is sent, levels say nothing,
// nothing ends, and when the sources are seen again they go on.
func TestSourcesThatNobodySeesAreNotSilent(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{gauge: Total, rule: true}, sec(0))
	r.now = sec(10)
	r.feed(gauges(reading{"a", 9, 5}, reading{"b", 9, 7}))
	r.feed(sums(true, tick{run: "a", start: 1, time: 9, value: 3}))
	r.SetRules(blind{})
	require.Equal(t, []string{"[] (1, 9] 3"}, sent(r.flush()), "it waited")
	for at := 20.; at < 9000; at += 60 {
		r.now = sec(at)
		require.Empty(t, sent(r.flush()), at)
	}
	r.SetRules(plain{gauge: Total, rule: true})
	r.now = sec(9000)
	require.Empty(t, sent(r.flush()))
	r.now = sec(9010)
	r.feed(gauges(reading{"a", 9009, 6}))
	require.Equal(t, []string{"[] (none, 9009] 13"}, sent(r.flush()))
	r.now = sec(9400)
	require.Empty(t, sent(r.flush()), "both are silent now, and time has not gone on")
	r.now = sec(9440)
	require.Equal(t, []string{"[] (none, 9009.001] end"}, sent(r.flush()))
}
