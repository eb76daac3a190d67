package isolateconnector

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

var errDown = errors.New("backend is down")

func TestBatchesArriveInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{}).start(t)
		b.put(t, "a", "b", "c")
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "c"}, b.next.taken())
		b.assertCounters(t, 1000, counters{sent: 3})
	})
}

func TestClientMetadataOfTheCallArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var infos []client.Info
		b := newBench(t, 1000, &nextLogs{answer: func(ctx context.Context, _ plog.Logs) error {
			infos = append(infos, client.FromContext(ctx))
			return nil
		}}).start(t)
		info := client.Info{
			Addr:     &net.IPAddr{IP: net.IPv4(10, 0, 0, 1)},
			Metadata: client.NewMetadata(map[string][]string{"tenant": {"x"}}),
		}
		ctx, cancel := context.WithCancel(client.NewContext(t.Context(), info))
		require.NoError(t, b.ConsumeLogs(ctx, oneLog("a")))
		cancel()
		b.put(t, "b")
		synctest.Wait()
		assert.Equal(t, []client.Info{info, {}}, infos)
	})
}

func TestCallersBatchIsNeitherKeptNorChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		next, release := hanging()
		defer release()
		b := newBench(t, 1000, next).start(t)
		ld := oneLog("a")
		require.NoError(t, b.ConsumeLogs(t.Context(), ld))
		ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().SetStr("changed later")
		shared := oneLog("b")
		shared.MarkReadOnly()
		require.NoError(t, b.ConsumeLogs(t.Context(), shared))
		release()
		synctest.Wait()
		assert.Equal(t, []string{"a", "b"}, next.taken())
		assert.Equal(t, "b", bodyOf(shared))
	})
}

func TestOldestIsDroppedWhenFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := 3 * oneLogBytes()
		next, release := hanging()
		defer release()
		b := newBench(t, limit, next).start(t)
		b.put(t, "a")
		synctest.Wait() // a is in a call that hangs and cannot be dropped
		b.put(t, "b", "c", "d", "e")
		b.assertCounters(t, limit, counters{full: 2, size: limit})
		release()
		synctest.Wait()
		assert.Equal(t, []string{"a", "d", "e"}, next.taken())
		b.assertCounters(t, limit, counters{full: 2, sent: 3})
	})
}

func TestRefusedBatchIsTheFirstToBeDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := 2 * oneLogBytes()
		next, restore := refusing()
		b := newBench(t, limit, next).start(t)
		b.put(t, "a")
		synctest.Wait() // a was refused and waits
		restore()
		b.put(t, "b", "c")
		time.Sleep(componentkit.MaxPause)
		synctest.Wait()
		assert.Equal(t, []string{"b", "c"}, b.next.taken())
		b.assertCounters(t, limit, counters{full: 1, sent: 2})
	})
}

func TestBatchWithoutRoomBesideAHangingOneIsDroppedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := 3 * oneLogBytes()
		next, release := hanging()
		defer release()
		b := newBench(t, limit, next).start(t)
		b.put(t, "a")
		synctest.Wait()
		b.put(t, "b", strings.Repeat("x", 2*oneLogBytes()))
		release()
		synctest.Wait()
		assert.Equal(t, []string{"a", "b"}, next.taken(), "what had room stays")
		b.assertCounters(t, limit, counters{full: 1, sent: 2})
	})
}

func TestBatchLargerThanTheQueueIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := oneLogBytes()
		b := newBench(t, limit, &nextLogs{}).start(t)
		b.put(t, "a")
		synctest.Wait()
		b.put(t, "two")
		synctest.Wait()
		assert.Equal(t, []string{"a"}, b.next.taken())
		b.assertCounters(t, limit, counters{large: 1, sent: 1})
	})
}

func TestRefusedBatchIsOfferedAgainWithGrowingPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const refusals = 24
		var calls []time.Time
		b := newBench(t, 1000, &nextLogs{answer: func(context.Context, plog.Logs) error {
			calls = append(calls, time.Now())
			if n := len(calls); n <= refusals || n == refusals+2 { // a is taken in the end, b at its second try
				return errDown
			}
			return nil
		}}).start(t)
		b.put(t, "a", "b")
		time.Sleep((refusals + 2) * componentkit.MaxPause)
		synctest.Wait()
		assert.Equal(t, []string{"a", "b"}, b.next.taken())
		b.assertCounters(t, 1000, counters{sent: 2, retries: refusals + 1})
		ceiling, longest := 2*componentkit.MinPause, time.Duration(0)
		for i := range refusals {
			pause := calls[i+1].Sub(calls[i])
			assert.GreaterOrEqual(t, pause, componentkit.MinPause)
			assert.LessOrEqual(t, pause, ceiling)
			ceiling, longest = min(2*ceiling, componentkit.MaxPause), max(longest, pause)
		}
		assert.Greater(t, longest, 10*componentkit.MinPause)
		assert.LessOrEqual(t, calls[refusals+2].Sub(calls[refusals+1]), 2*componentkit.MinPause, "a success begins anew")
	})
}

func TestPermanentRefusalDropsTheBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{answer: func(_ context.Context, ld plog.Logs) error {
			if bodyOf(ld) == "bad" {
				return consumererror.NewPermanent(errDown)
			}
			return nil
		}}).start(t)
		b.put(t, "bad", "good")
		synctest.Wait()
		assert.Equal(t, []string{"good"}, b.next.taken())
		b.assertCounters(t, 1000, counters{refused: 1, sent: 1})
	})
}

func TestOneBranchThatMayPassMakesAnotherAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		b := newBench(t, 1000, &nextLogs{answer: func(context.Context, plog.Logs) error {
			calls++
			switch bad := consumererror.NewPermanent(errDown); calls {
			case 1:
				return errors.Join(bad, errDown)
			case 2:
				return errors.Join(bad, bad)
			default:
				return nil
			}
		}}).start(t)
		b.put(t, "a")
		time.Sleep(componentkit.MaxPause)
		synctest.Wait()
		b.assertCounters(t, 1000, counters{refused: 1, retries: 1})
	})
}

func TestMutatingNextGetsTheBatchAsItCameOnEveryAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		b := newBench(t, 1000, &nextLogs{mutates: true, answer: func(_ context.Context, ld plog.Logs) error {
			seen = append(seen, bodyOf(ld))
			ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().SetStr("mutated")
			if len(seen) < 3 {
				return errDown
			}
			return nil
		}}).start(t)
		b.put(t, "a")
		time.Sleep(2 * componentkit.MaxPause)
		synctest.Wait()
		assert.Equal(t, []string{"a", "a", "a"}, seen)
	})
}

func TestStatusFollowsTheNextConsumer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		next, restore := refusing()
		b := newBench(t, 1000, next).start(t)
		b.put(t, "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, b.host.Statuses(), "once, not per attempt")
		restore()
		time.Sleep(componentkit.MaxPause)
		synctest.Wait()
		b.put(t, "b")
		synctest.Wait()
		assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, b.host.Statuses())
	})
}

func TestAtMostOneLogLineAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := oneLogBytes()
		b := newBench(t, limit, &nextLogs{answer: func(context.Context, plog.Logs) error { return errDown }}).start(t)
		for range 130 { // 130 s, a refusal or a drop in each
			b.put(t, "a")
			time.Sleep(time.Second)
		}
		synctest.Wait()
		lines := b.log.All()
		require.Len(t, lines, 3)
		for i := 1; i < len(lines); i++ {
			assert.GreaterOrEqual(t, lines[i].Time.Sub(lines[i-1].Time), time.Minute)
		}
		assert.Contains(t, lines[1].ContextMap(), "dropped_items_since_last_line")
	})
}

func TestBatchThatCameWhileTheQueueClosedIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{}).start(t)
		c, ok := b.Logs.(*logsConnector)
		require.True(t, ok)
		clone := c.signal.clone
		c.signal.clone = func(ld plog.Logs) plog.Logs {
			require.NoError(t, b.Shutdown(t.Context())) // between the look at the queue and the push
			return clone(ld)
		}
		b.put(t, "a")
		b.assertCounters(t, 1000, counters{shutdown: 1, gone: true})
	})
}

func TestEmptyBatchIsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1000, &nextLogs{}).start(t)
		require.NoError(t, b.ConsumeLogs(t.Context(), plog.NewLogs()))
		synctest.Wait()
		b.assertCounters(t, 1000, counters{})
	})
}
