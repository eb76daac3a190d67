package trainingsignalsconnector

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// hangingHost has a storage whose writes wait at the gate while it is shut. They heed no context, as calls on a file system do.
type hangingHost struct {
	*componentcheck.StorageHost
	mu    sync.Mutex
	gate  chan struct{} // nil when open
	first int           // calls that still pass it
}

func (h *hangingHost) shut() (open func()) { return h.shutAfter(0) }

func (h *hangingHost) shutAfter(calls int) (open func()) {
	gate := make(chan struct{})
	h.mu.Lock()
	h.gate, h.first = gate, calls
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		h.gate = nil
		h.mu.Unlock()
		close(gate)
	}
}

func (h *hangingHost) pass() {
	h.mu.Lock()
	gate := h.gate
	if h.first--; h.first >= 0 {
		gate = nil
	}
	h.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

func (h *hangingHost) GetExtensions() map[component.ID]component.Component {
	all := map[component.ID]component.Component{}
	for id, e := range h.StorageHost.GetExtensions() {
		all[id] = hangingStorage{e.(storage.Extension), h}
	}
	return all
}

type hangingStorage struct {
	storage.Extension
	host *hangingHost
}

func (e hangingStorage) GetClient(ctx context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	e.host.pass()
	c, err := e.Extension.GetClient(ctx, kind, id, name)
	return hangingClient{c, e.host}, err
}

type hangingClient struct {
	storage.Client
	host *hangingHost
}

func (c hangingClient) Get(_ context.Context, key string) ([]byte, error) {
	c.host.pass()
	return c.Client.Get(context.Background(), key)
}

func (c hangingClient) Set(_ context.Context, key string, value []byte) error {
	c.host.pass()
	return c.Client.Set(context.Background(), key, value)
}

func (c hangingClient) Batch(_ context.Context, ops ...*storage.Operation) error {
	c.host.pass()
	return c.Client.Batch(context.Background(), ops...)
}

func (c hangingClient) Close(context.Context) error {
	c.host.pass()
	return c.Client.Close(context.Background())
}

func took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// TestAStorageThatHangsHoldsNobody: results wait for whatever stands beside them, so a call waits a moment once, and then not at all.
func TestAStorageThatHangsHoldsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
		b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
		b.rec(1, 0, "run.start", "a", nil, nil)
		open := h.shut()
		assert.Equal(t, patience, took(func() { b.rec(2, 0, "run.start", "b", nil, nil) }))
		assert.Zero(t, took(func() {
			for i := range 50 {
				b.rec(3+float64(i)/10, 0, "step.end", "b", nil, m{"step": i})
			}
			b.tick(10)
		}), "nobody else waits")
		points, spans := b.took()
		assert.InDelta(t, 2, value1(points, "run.active", "running"), 0, "metrics go on")
		assert.Len(t, named(spans, "start"), 2)
		assert.Contains(t, b.self(), `storage_errors{connector="training_signals",reason="slow"} 1`)

		open()
		synctest.Wait()
		h.Crash()
		b = newBenchAt(t, at(15), h, &backend{}, stored(h.StorageHost))
		b.tick(20)
		points, _ = b.took()
		assert.InDelta(t, 2, value1(points, "run.active", "running"), 0, "what had waited was written")
		require.NoError(t, b.core.close(t.Context()))
	})
}

// TestAStorageThatHangsDoesNotHoldTheStart neither when it is opened nor at any later word: records are taken, and when it answers it gets
// what is known. What was stored is gone, also parts of the journal that would fit behind the new ones.
func TestAStorageThatHangsDoesNotHoldTheStart(t *testing.T) {
	t.Parallel()
	for name, passes := range map[string]int{"opening": 0, "index": 1, "journal": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
				b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
				for i := range 9 {
					b.rec(1+float64(i), 0, "run.start", "old"+string(rune('a'+i)), nil, nil)
				}
				h.Crash()
				open := h.shutAfter(passes)
				assert.Equal(t, startPatience, took(func() { b = newBenchAt(t, at(15), h, &backend{}, stored(h.StorageHost)) }))
				assert.Contains(t, b.self(), `storage_errors{connector="training_signals",reason="slow"} 1`)
				assert.Zero(t, took(func() {
					b.rec(16, 0, "run.start", "new", nil, nil)
					b.tick(20)
				}))
				points, _ := b.took()
				assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
				open()
				synctest.Wait()
				b.tick(30) // writes a snapshot
				synctest.Wait()
				b.rec(31, 0, "run.start", "newer", nil, nil)
				h.Crash()
				b = newBenchAt(t, at(35), h, &backend{}, stored(h.StorageHost))
				b.tick(40)
				points, _ = b.took()
				assert.InDelta(t, 2, value1(points, "run.active", "running"), 0)
				require.NoError(t, b.core.close(t.Context()))
			})
		})
	}
}

// TestAStorageThatIsRefusedLateLeavesTheStateInMemory is one that hung at the start, and then could not be opened.
func TestAStorageThatIsRefusedLateLeavesTheStateInMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
		open := h.shut()
		b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
		h.Fail(func(componentcheck.StorageCall) error { return errRefused })
		open()
		synctest.Wait()
		b.rec(11, 0, "run.start", "a", nil, nil)
		b.tick(20)
		points, _ := b.took()
		assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
		require.NoError(t, b.core.close(t.Context()))
	})
}

// TestManyCallsWaitNoLongerThanOne: each waits for itself, not for those before it.
func TestManyCallsWaitNoLongerThanOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
		b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
		defer h.shut()()
		ld := logsOf(t, map[string]any{"event": "run.start", "run_id": "a", "framework": "pytorch", "ts": t0, "body": map[string]any{}})
		assert.Equal(t, patience, took(func() {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { assert.NoError(t, b.ports[0].ConsumeLogs(t.Context(), ld)) })
			}
			all.Wait()
		}))
	})
}

// TestWhatWaitsForAStorageIsBounded: beyond the bound it is given up, counted, and the next snapshot brings it.
func TestWhatWaitsForAStorageIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
		b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
		open := h.shut()
		b.rec(1, 0, "run.start", "a", nil, nil)
		big := make([]byte, 1<<20)
		for range 2 * maxQueued / len(big) {
			b.core.mu.Lock()
			b.core.store.append(big)
			b.core.mu.Unlock()
		}
		b.rec(2, 0, "run.start", "b", nil, nil)
		b.core.store.mu.Lock()
		assert.LessOrEqual(t, b.core.store.bytes, maxQueued)
		b.core.store.mu.Unlock()
		assert.Contains(t, b.self(), `storage_errors{connector="training_signals",reason="overflow"} 1`)
		open()
		synctest.Wait()
		b.tick(10)
		synctest.Wait()
		h.Crash()
		b = newBenchAt(t, at(15), h, &backend{}, stored(h.StorageHost))
		b.tick(20)
		points, _ := b.took()
		assert.InDelta(t, 2, value1(points, "run.active", "running"), 0)
		require.NoError(t, b.core.close(t.Context()))
	})
}

// TestShutdownDoesNotWaitForAStorageThatHangs: neither beyond its context, nor for ever without one.
func TestShutdownDoesNotWaitForAStorageThatHangs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ limit, want time.Duration }{
		"with a limit": {3 * time.Second, 3 * time.Second}, "without a limit": {time.Hour, patience + lastSend},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
				b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
				defer h.shut()()
				for _, p := range b.ports {
					p.started = true
				}
				b.ports[0].shared.up = len(b.ports)
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				assert.Equal(t, tc.want, took(func() {
					require.NoError(t, b.ports[0].Shutdown(ctx))
					require.ErrorIs(t, b.ports[1].Shutdown(ctx), errNoAnswer)
				}))
			})
		})
	}
}
