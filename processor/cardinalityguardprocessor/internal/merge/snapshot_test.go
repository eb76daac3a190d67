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

// FuzzADamagedStateIsRefusedOrUsable must not panic, whatever the storage gives back, also where the checksum is right and the policy another one.
func FuzzADamagedStateIsRefusedOrUsable(f *testing.F) {
	r := newRig(testConfig(), plain{}, sec(0))
	run := &run{name: "a", phase: "train", start: sec(1), scraped: sec(1), bounds: layouts[0], values: values, fresh: values}
	r.now = sec(10)
	r.feed(run.scrape(sec(10)))
	r.flush()
	r.feed(run.scrape(sec(11))) // waits
	state, err := r.Snapshot()
	require.NoError(f, err)
	for key := range state {
		f.Add(key, state[key], false)
		f.Add(key, unseal(state[key]), true)
	}
	f.Fuzz(func(t *testing.T, key string, text []byte, sealed bool) {
		if sealed {
			text = seal(text)
		}
		changed := maps.Clone(state)
		changed[key] = text
		r := newRig(testConfig(), policies[1], sec(0))
		if err := r.Restore(changed, sec(20)); err != nil {
			require.Equal(t, Size{}, r.Size())
		}
		r.now = sec(30)
		r.feed(run.scrape(sec(30)))
		r.flush()
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
