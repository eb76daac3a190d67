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

// TestAChangeOfThePolicyLosesNothing changes it at any moment, refuses flushes, restarts with the state, and lets batches of the policy before
// come behind the change: what is sent adds up to what was measured, and nothing is sent that the policy in force forbids.
func TestAChangeOfThePolicyLosesNothing(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, rapid.IntRange(0, 3).Draw(t, "natives") == 0)
		native := slices.ContainsFunc(h.runs, func(r *run) bool { return r.native })
		at, before := 0, 0
		cfg := testConfig()
		cfg.SeriesPerMetric = rapid.SampledFrom([]int{2, 3, 2000}).Draw(t, "series")
		r := newRig(cfg, policies[0], sec(0))
		stored := map[string][]byte{}
		totals := map[restartable]*restarted{}
		deltas := map[string]float64{}
		times := sequences{}
		take := func(md pmetric.Metrics) {
			for _, rm := range md.ResourceMetrics().All() {
				for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
					addMetric(totals, m)
					addDelta(deltas, m)
					eachPoint(m, func(p movable) {
						times.take(t, m, p, native)
						for _, k := range policies[at].keys {
							_, there := p.Attributes().Get(k)
							require.False(t, there, "%s %s", m.Name(), k)
						}
					})
				}
			}
		}
		for i, e := range h.events {
			r.now = e.now
			if rapid.IntRange(0, 3).Draw(t, "another policy") == 0 {
				before, at = at, 1-at
				r.SetRules(policies[at])
			}
			if !e.flush {
				md := pmetric.NewMetrics()
				e.batch.CopyTo(md)
				generation, by := r.Generation(), at
				if generation > 1 && rapid.IntRange(0, 3).Draw(t, "of the policy before") == 0 {
					generation, by = generation-1, before
				}
				r.batch.scrub = policies[by]
				passed := r.feedOf(md, generation)
				if by == at {
					take(passed)
				}
				continue
			}
			refused := i < len(h.events)-3 && rapid.IntRange(0, 2).Draw(t, "refused") == 0
			portions := r.Flush(r.now, &r.counts, false)
			if refused {
				r.Rollback("", r.now)
			} else {
				r.Commit("")
				for _, p := range portions {
					take(p.Metrics)
				}
			}
			dirty, err := r.Snapshot()
			require.NoError(t, err)
			maps.Copy(stored, dirty)
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				before, at = at, rapid.IntRange(0, 1).Draw(t, "policy")
				r = newRig(cfg, policies[at], e.now)
				require.NoError(t, r.Restore(stored, e.now))
				clear(times) // what was forgotten before it is not known
			}
		}
		if native { // what passes is a total of its own
			return
		}
		want := 0.
		for _, of := range h.measured {
			want += float64(len(of))
		}
		sums := map[string]float64{}
		for of, total := range totals {
			sums[of.metric] += total.before + total.value
		}
		maps.Copy(sums, deltas)
		for _, k := range kinds {
			if !k.overLive() {
				require.InDelta(t, want, sums[kindNames[k]], 1e-9, kindNames[k])
			}
		}
	})
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
