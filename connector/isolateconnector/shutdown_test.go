package isolateconnector

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// stopTakes stops the connector and returns the time that it took.
func (b *bench) stopTakes(t *testing.T, ctx context.Context) time.Duration {
	t.Helper()
	begin := time.Now()
	require.NoError(t, b.Shutdown(ctx))
	return time.Since(begin)
}

func TestShutdownDeliversWhatIsQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{answer: func(context.Context, plog.Logs) error {
			time.Sleep(time.Second)
			return nil
		}}).start(t)
		b.put(t, "a", "b", "c")
		assert.Equal(t, 3*time.Second, b.stopTakes(t, t.Context()))
		assert.Equal(t, []string{"a", "b", "c"}, b.next.taken())
		b.assertCounters(t, 1000, counters{sent: 3, gone: true})
		assert.Zero(t, b.log.Len())
	})
}

func TestShutdownTriesARefusingNextForABoundedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{answer: func(context.Context, plog.Logs) error { return errDown }})
		require.NoError(t, b.Start(t.Context(), b.host))
		b.put(t, "a", "b")
		synctest.Wait()
		assert.Len(t, b.host.Statuses(), 1)
		assert.Equal(t, drainTime, b.stopTakes(t, t.Context()))
		lines := b.log.FilterMessage("Stopped with undelivered data").All()
		require.Len(t, lines, 1)
		assert.EqualValues(t, 2, lines[0].ContextMap()["dropped_items"])
		assert.Len(t, b.host.Statuses(), 1, "the status belongs to the collector from the stop on")
	})
}

func TestStatusBelongsToTheCollectorFromTheStopOn(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]componentstatus.Status{
		"recovers while it drains": {componentstatus.StatusRecoverableError},
		"fails while it drains":    {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var stopping atomic.Bool
				b := newBench(t, 1000, &nextLogs{answer: func(context.Context, plog.Logs) error {
					if len(before) > 0 != stopping.Load() {
						return errDown
					}
					time.Sleep(componentkit.MinPause)
					return nil
				}}).start(t)
				b.put(t, "a", "b", "c")
				synctest.Wait()
				assert.Equal(t, before, b.host.Statuses())
				stopping.Store(true)
				b.stopTakes(t, t.Context())
				assert.Equal(t, before, b.host.Statuses())
			})
		})
	}
}

func TestShutdownCancelsAHangingCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit, want time.Duration
	}{
		"own bound":           {time.Hour, drainTime},
		"context ends before": {time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				next, release := hanging()
				defer release()
				b := newBench(t, 1000, next).start(t)
				b.put(t, "a", "b")
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				assert.Equal(t, tc.want, b.stopTakes(t, ctx))
				b.assertCounters(t, 1000, counters{shutdown: 2, gone: true})
			})
		})
	}
}

func TestShutdownLeavesACallThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		b := newBench(t, 1000, &nextLogs{answer: func(context.Context, plog.Logs) error { <-gate; return nil }}).start(t)
		b.put(t, "a", "b")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Equal(t, lastCallTime, b.stopTakes(t, ctx))
		assert.Equal(t, 1, b.log.FilterMessage("Stopped while the next consumer still hangs in a call").Len())
		close(gate)
		synctest.Wait()
		assert.Equal(t, []string{"a"}, b.next.taken(), "nothing is sent after the stop")
		b.assertCounters(t, 1000, counters{shutdown: 2, gone: true}) // a is counted once
	})
}

func TestIdleConnectorStopsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{}).start(t)
		b.put(t, "a")
		synctest.Wait()
		assert.Zero(t, b.stopTakes(t, t.Context()))
		assert.Zero(t, b.stopTakes(t, t.Context()), "twice")
	})
}

func TestAnswerIsNilAfterShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{}).start(t)
		require.NoError(t, b.Shutdown(t.Context()))
		b.put(t, "late")
		synctest.Wait()
		assert.Empty(t, b.next.taken())
		b.assertCounters(t, 1000, counters{shutdown: 1, gone: true})
	})
}

func TestWhatComesBeforeStartIsDeliveredAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{})
		b.put(t, "a")
		b.start(t)
		synctest.Wait()
		assert.Equal(t, []string{"a"}, b.next.taken())
	})
}

func TestWhatIsNeverStartedCountsAsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{})
		b.put(t, "a")
		assert.Zero(t, b.stopTakes(t, t.Context()))
		assert.Equal(t, 1, b.log.FilterMessage("Stopped with undelivered data").Len())
	})
}
