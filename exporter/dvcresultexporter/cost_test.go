package dvcresultexporter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// meteredClient counts the bytes that it is given to store.
type meteredClient struct {
	storage.Client
	bytes int64
}

func (c *meteredClient) Batch(ctx context.Context, ops ...*storage.Operation) error {
	for _, op := range ops {
		c.bytes += int64(len(op.Key) + len(op.Value))
	}
	return c.Client.Batch(ctx, ops...)
}

// stepsOf are steps of a run from one on.
func stepsOf(id string, from, n int) []line {
	out := make([]line, n)
	for i := range out {
		step := from + i
		text := record(id, step, "step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/loss":%.8g}`, step, math.Sin(float64(step*step))))
		out[i] = line{text, int64(step) * 200}
	}
	return out
}

// What a record costs in the storage does not grow with the length of its run: the journal has what is new, and is replaced by a snapshot
// when it is as large as two of them.
func TestTheBytesStoredARecordDoNotGrowWithTheRun(t *testing.T) {
	t.Parallel()
	const call = 50
	stored := func(records int) (perRecord float64, snapshots int) {
		inBubble(t, func(t *testing.T, r *rig) {
			r.start()
			defer r.stop()
			g := r.exp.engine
			g.mu.Lock()
			metered := &meteredClient{Client: g.store.client}
			g.store.client, g.store.least = metered, 4<<10
			g.mu.Unlock()
			first := uint64(0)
			for n := 0; n < records; n += call {
				r.feed(stepsOf("long", n, call)...)
				if g.store.first != first {
					first, snapshots = g.store.first, snapshots+1
				}
			}
			perRecord = float64(metered.bytes) / float64(records)
		})
		return perRecord, snapshots
	}
	short, few := stored(2_000)
	long, more := stored(8_000)
	assert.Less(t, short, 100.0)
	assert.Less(t, long, 1.25*short)
	assert.Positive(t, few, "the journal was never replaced")
	assert.LessOrEqual(t, more, few+2, "it is replaced when it has grown by a factor")
}

// A replay at full speed, of many runs at once, gives the results of one that lets each line wait, and shows how far the run is meanwhile.
func TestAFastReplayGivesTheResultsOfASlowOne(t *testing.T) {
	t.Parallel()
	const runs, epochs, measurements = 6, 25, 20
	lines := func(id string, shift float64) []line {
		texts := []string{record(id, 0, "run.start", fmt.Sprintf(`"planned_epochs":%d,"params":{"lr":0.001}`, epochs))}
		for e := range epochs {
			body := fmt.Sprintf(`"epoch":%d,"durations":{"epoch_s":40.5},"measurements":{"val/loss":%g`, e, 1/(float64(e)+shift))
			for m := range measurements - 1 {
				body += fmt.Sprintf(`,"train/metric_%02d":%g`, m, math.Sin(float64(e*m)+shift))
			}
			texts = append(texts, record(id, 10+e, "epoch.end", body+"}"))
		}
		return stream(append(texts, record(id, 1000, "run.end", `"outcome":"success"`))...)
	}
	streams := map[string][]line{}
	for i := range runs {
		streams[fmt.Sprintf("run-%d", i)] = lines(fmt.Sprintf("run-%d", i), 1+float64(i))
	}
	replay := func(prepare func(cfg *Config), feed func(r *rig)) map[string]map[string]string {
		out := map[string]map[string]string{}
		inBubble(t, func(t *testing.T, r *rig) {
			prepare(r.cfg)
			r.start()
			defer r.stop()
			feed(r)
			pass(time.Minute)
			for id := range streams {
				r.says(id, "success", true, false)
				out[id] = r.files(id)
			}
		})
		return out
	}
	slow := replay(func(cfg *Config) { cfg.LiveInterval = 5 * time.Second }, func(r *rig) {
		for i := range epochs + 2 {
			for _, lines := range streams {
				r.feed(lines[i])
			}
			pass(time.Second)
		}
	})
	fast := replay(func(*Config) {}, func(r *rig) {
		var wg sync.WaitGroup
		for _, lines := range streams {
			wg.Go(func() { assert.NoError(t, r.exp.consumeLogs(r.t.Context(), logsOf(t, lines...))) })
		}
		wg.Wait()
	})
	for id, files := range slow {
		require.Len(t, files, 4+measurements)
		assert.Equal(t, files, fast[id], id)
	}
}

// What a call brought is stored by a later one when the storage refused it: nothing of it may be overwritten until then.
func TestWhatIsPendingIsNotOverwritten(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{}
	for _, refused := range []bool{false, true} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.start()
			if refused {
				r.host.FailWrites(errors.New("no"))
			}
			for _, id := range []string{"a", "b"} {
				for _, l := range wholeRun(id) {
					err := r.exp.consumeLogs(t.Context(), logsOf(t, l))
					assert.Equal(t, refused, err != nil)
				}
			}
			r.host.FailWrites(nil)
			pass(10 * time.Second) // what is pending is stored
			r.kill()
			r.start()
			pass(time.Minute)
			for _, id := range []string{"a", "b"} {
				if !refused {
					want[id] = r.files(id)
				}
				assert.NotEmpty(t, want[id])
				assert.Equal(t, want[id], r.files(id))
			}
			r.stop()
		})
	}
}
