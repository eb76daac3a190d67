package merge

import (
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// TestNothingIsLostOverARestartWithAState restarts at any moments after a flush: what is sent is the same as without.
func TestNothingIsLostOverARestartWithAState(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, false)
		want := h.flushes(h.play(t, newRig(testConfig(), plain{}, sec(0)), false))
		r := newRig(testConfig(), plain{}, sec(0))
		stored := map[string][]byte{}
		var got []pmetric.Metrics
		for _, e := range h.events {
			r.now = e.now
			if !e.flush {
				md := pmetric.NewMetrics()
				e.batch.CopyTo(md)
				r.feed(md)
				continue
			}
			got = append(got, r.flush())
			dirty, err := r.Snapshot()
			require.NoError(t, err)
			maps.Copy(stored, dirty)
			if rapid.Bool().Draw(t, "restart") {
				size := r.Size()
				r = newRig(testConfig(), plain{}, e.now)
				require.NoError(t, r.Restore(stored, e.now))
				require.Equal(t, size, r.Size())
			}
		}
		for i := range want {
			require.Equal(t, listed(t, want[i]), listed(t, got[i]), "flush %d", i)
		}
	})
}

// TestWhatIsForgottenIsForgottenInTheStateToo: with the next write, also where the flush that forgets it sends nothing on.
func TestWhatIsForgottenIsForgottenInTheStateToo(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{gauge: Total, rule: true}, sec(0))
	stored := map[string][]byte{}
	store := func() {
		dirty, err := r.Snapshot()
		require.NoError(t, err)
		maps.Copy(stored, dirty)
	}
	restart := func(now float64) {
		r = newRig(testConfig(), plain{gauge: Total, rule: true}, sec(now))
		require.NoError(t, r.Restore(stored, sec(now)))
		r.now = sec(now)
	}
	r.now = sec(20)
	r.feed(gauges(reading{"a", 19, 4}, reading{"b", 19, 1}))
	require.Equal(t, []string{"[] (none, 19] 5"}, sent(r.flush()))
	store()
	r.now = sec(320)
	require.Empty(t, sent(r.flush()), "both are stale, and the end is held")
	store()
	restart(325)
	r.feed(gauges(reading{"a", 19, 4}, reading{"b", 324, 2})) // a only repeats what it said
	require.Equal(t, []string{"[] (none, 324] 2"}, sent(r.flush()))
	store()
	r.now = sec(325) + int64(testConfig().SourceExpiry)
	require.Empty(t, sent(r.flush()))
	store()
	restart(4000)
	require.Zero(t, r.Size().Sources)
	r.now = sec(90_000)
	r.flush()
	require.Zero(t, r.Size().Series, "after a day")
	store()
	restart(90_010)
	require.Zero(t, r.Size())
}

// TestWhatIsEvictedIsForgottenInTheStateToo, also where nothing else came to its shard.
func TestWhatIsEvictedIsForgottenInTheStateToo(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.Sources = 2
	r := newRig(cfg, plain{gauge: Total, rule: true}, sec(0))
	stored := map[string][]byte{}
	store := func() {
		dirty, err := r.Snapshot()
		require.NoError(t, err)
		maps.Copy(stored, dirty)
	}
	r.now = sec(20)
	r.feed(gauges(reading{"a", 19, 4}, reading{"b", 19, 1}))
	require.Equal(t, []string{"[] (none, 19] 5"}, sent(r.flush()))
	store()
	r.now = sec(320)
	require.Empty(t, sent(r.flush()), "both are stale, and the end is held")
	store()
	r.now = sec(330)
	r.feed(sums(true, tick{run: "c", start: 321, time: 329, value: 1}))
	require.Len(t, sent(r.flush()), 1)
	require.Equal(t, 1, int(r.Size().Sources), "a and b made room")
	store()
	size := r.Size()
	r = newRig(cfg, plain{gauge: Total, rule: true}, sec(340))
	require.NoError(t, r.Restore(stored, sec(340)))
	require.Equal(t, size, r.Size())
}

// storedStates are what a storage may hold: of outputs of which something waits, that a change of the policy moved, of which a flush was refused, whose
// sources ended or were forgotten, and of a metric over its limit.
func storedStates(t testing.TB, a, b *run) []map[string][]byte {
	var states []map[string][]byte
	r := newRig(testConfig(), plain{}, sec(0))
	store := func() {
		r.Unsaved()
		state, err := r.Snapshot()
		require.NoError(t, err)
		states = append(states, state)
	}
	come := func(at float64, runs ...*run) {
		r.now = sec(at)
		for _, one := range runs {
			r.feed(one.scrape(r.now))
		}
	}
	come(10, a)
	r.flush()
	come(11, a)
	store() // it waits
	r.SetRules(policies[1])
	r.batch.scrub = policies[1]
	r.flush()
	require.NotZero(t, r.counts.Moved)
	store()
	r.Flush(sec(40), &r.counts, false)
	come(41, a, b)
	r.Rollback("", sec(42))
	store()
	b.ended = true
	come(43, b)
	store()
	r.now = sec(43) + int64(testConfig().SourceExpiry)
	r.flush()
	require.NotZero(t, r.Size().Tombstones)
	store()
	b.ended, b.phase = false, "test"
	cfg := testConfig()
	cfg.SeriesPerMetric = 2
	r = newRig(cfg, plain{}, sec(0))
	come(10, a, b)
	require.NotZero(t, r.batch.Counts.Overflow)
	store()
	return states
}

// FuzzADamagedStateIsRefusedOrUsable must not panic, whatever the storage gives back, also where the checksum is right and the policy another one.
func FuzzADamagedStateIsRefusedOrUsable(f *testing.F) {
	named := func(name string, bounds []float64, scale int32) *run {
		return &run{name: name, phase: "train", start: sec(1), scraped: sec(1), bounds: bounds, scale: scale, values: values, fresh: values}
	}
	states := storedStates(f, named("a", layouts[0], 0), named("b", layouts[2], 2))
	for i, state := range states {
		for key := range state {
			f.Add(uint8(i), key, state[key], false)
			f.Add(uint8(i), key, unseal(state[key]), true)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, key string, text []byte, sealed bool) {
		if sealed {
			text = seal(text)
		}
		changed := maps.Clone(states[int(which)%len(states)])
		changed[key] = text
		r := newRig(testConfig(), policies[1], sec(0))
		if err := r.Restore(changed, sec(20)); err != nil {
			require.Equal(t, Size{}, r.Size())
		}
		for i := range 3 { // and what is taken in then is refused once, and known after all
			r.now = sec(float64(50 + 20*i))
			for _, one := range []*run{named("a", layouts[0], 0), named("b", layouts[2], 2)} {
				r.feed(one.scrape(r.now))
			}
			if i == 1 {
				r.Flush(r.now, &r.counts, false)
				r.Rollback("", r.now)
				continue
			}
			r.flush()
		}
	})
}

// TestAStateThatNoPointLeavesIsRefused stores one: taken in, the next point of the source would find no buckets where it looks
// for them, or ask for room between indexes that doubles do not have.
func TestAStateThatNoPointLeavesIsRefused(t *testing.T) {
	for name, damage := range map[string]func(o *output){
		"bounds of a source without buckets": func(o *output) {
			if d, is := o.sources.dist.(*histLast); is {
				d.counts = nil
			}
		},
		"bounds of a total without buckets": func(o *output) {
			if o.hist != nil {
				o.hist.wait.counts = nil
			}
		},
		"indexes of a source beyond doubles": func(o *output) {
			if d, is := o.sources.dist.(*expLast); is {
				d.positive.offset = math.MaxInt32
			}
		},
		"indexes of a total beyond doubles": func(o *output) {
			if o.exp != nil {
				o.exp.scale, o.exp.negative.offset = minScale-11, math.MinInt32
			}
		},
		"outputs of a metric that no point described": func(o *output) {
			o.metric.described = false
		},
		"buckets of a total without a scale": func(o *output) {
			if o.exp != nil {
				o.exp.set = false
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(testConfig(), plain{}, sec(0))
			run := &run{name: "a", phase: "train", start: sec(1), scraped: sec(1), bounds: layouts[0], values: values, fresh: values}
			r.now = sec(10)
			r.feed(run.scrape(sec(10)))
			state, err := r.Snapshot()
			require.NoError(t, err)
			require.NoError(t, newRig(testConfig(), plain{}, sec(0)).Restore(state, sec(20)))
			for _, sh := range r.shards {
				for _, o := range sh.outputs {
					damage(o)
				}
			}
			r.Unsaved()
			state, err = r.Snapshot()
			require.NoError(t, err)
			require.Error(t, newRig(testConfig(), plain{}, sec(0)).Restore(state, sec(20)))
		})
	}
}
