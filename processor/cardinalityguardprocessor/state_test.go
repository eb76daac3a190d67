package cardinalityguardprocessor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

const second = int64(time.Second)

// counter makes a batch of one cumulative or delta sum of a run.
func counter(run string, temporality pmetric.AggregationTemporality, start, at, value int64) pmetric.Metrics {
	md := gaugeBatch("total", "run_id", run)
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	m.SetEmptySum().SetAggregationTemporality(temporality)
	m.Sum().SetIsMonotonic(true)
	p := m.Sum().DataPoints().AppendEmpty()
	p.Attributes().PutStr("run_id", run)
	p.SetStartTimestamp(pcommon.Timestamp(start))
	p.SetTimestamp(pcommon.Timestamp(at))
	p.SetIntValue(value)
	return md
}

const (
	cumulative = pmetric.AggregationTemporalityCumulative
	deltas     = pmetric.AggregationTemporalityDelta
)

// restartable makes a lab whose guard has a storage. The goroutine never flushes; the test does.
func restartable(t *testing.T, host *componentcheck.StorageHost, now int64) *lab {
	t.Helper()
	l := newLab(t, now, policy.Default(), func(c *Config) {
		id := host.StorageID()
		c.Storage = &id
		c.FlushInterval = time.Hour
	})
	require.NoError(t, l.guard.start(t.Context(), host))
	return l
}

func (l *lab) sum(t *testing.T, now int64) (value int64, start, at pcommon.Timestamp) {
	t.Helper()
	l.at(now)
	l.guard.flush(t.Context(), false)
	md := l.taken(t)
	require.Equal(t, 1, md.DataPointCount())
	p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0)
	return p.IntValue(), p.StartTimestamp(), p.Timestamp()
}

func TestAKilledGuardGoesOnFromItsStorage(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	l := restartable(t, host, second)
	l.at(20 * second)
	l.feed(t, counter("a", cumulative, 10*second, 20*second, 100))
	value, _, _ := l.sum(t, 21*second)
	require.Equal(t, int64(100), value)
	l.feed(t, counter("a", cumulative, 10*second, 22*second, 110)) // taken in, not sent on
	host.Crash()
	l.guard.flushes.stop(t.Context())

	l = restartable(t, host, 30*second)
	l.at(32 * second)
	l.feed(t, counter("a", cumulative, 10*second, 32*second, 130))
	value, start, _ := l.sum(t, 33*second)
	require.Equal(t, int64(130), value)
	require.Equal(t, pcommon.Timestamp(10*second), start)
	require.NoError(t, l.guard.shutdown(t.Context()))
	require.Empty(t, host.OpenClients())
}

func TestAStateThatMayBeOldIsNotUsed(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	l := restartable(t, host, second)
	l.at(20 * second)
	l.feed(t, counter("a", cumulative, 10*second, 20*second, 100))
	l.sum(t, 21*second)

	host.Fail(func(c componentcheck.StorageCall) error { return errors.New("full") })
	l.feed(t, counter("a", cumulative, 10*second, 25*second, 120))
	l.at(26 * second)
	l.guard.flush(t.Context(), false)
	require.Empty(t, l.sink.AllMetrics(), "neither written nor taken away: the flush waits")
	host.Fail(func(c componentcheck.StorageCall) error {
		if c.Op == "delete" {
			return nil
		}
		return errors.New("full")
	})
	value, _, _ := l.sum(t, 27*second)
	require.Equal(t, int64(120), value)
	host.Crash()
	l.guard.flushes.stop(t.Context())

	host.Fail(nil)
	l = restartable(t, host, 30*second)
	l.at(32 * second)
	l.feed(t, counter("a", cumulative, 10*second, 32*second, 130))
	value, start, _ := l.sum(t, 33*second)
	require.Equal(t, int64(0), value, "a baseline: what was sent is not known")
	require.Equal(t, pcommon.Timestamp(32*second), start)
	require.NoError(t, l.guard.shutdown(t.Context()))
}

func TestTwoPipelinesDoNotShareAState(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	l := restartable(t, host, second)
	other := newLab(t, second, policy.Default(), func(c *Config) { c.Storage = l.guard.cfg.Storage })
	other.guard.state.claims = l.guard.state.claims
	require.ErrorContains(t, other.guard.start(t.Context(), host), "storage: cardinality_guard stands in two pipelines")
	require.NoError(t, other.guard.shutdown(t.Context()))
	require.NoError(t, l.guard.shutdown(t.Context()))
	missing := newLab(t, second, policy.Default(), func(c *Config) { c.Storage = l.guard.cfg.Storage })
	require.ErrorContains(t, missing.guard.start(t.Context(), componenttest.NewNopHost()), "is not configured; add it")
}

// refusing is a consumer that answers with an error until told otherwise.
type refusing struct {
	consumer.Metrics
	err error
}

func (r *refusing) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	if r.err != nil {
		return r.err
	}
	return r.Metrics.ConsumeMetrics(ctx, md)
}

func TestWhatTheNextComponentRefusesGoesOutWithTheNextFlush(t *testing.T) {
	t.Parallel()
	for _, temporality := range []pmetric.AggregationTemporality{cumulative, deltas} {
		l := newLab(t, second, policy.Default())
		next := &refusing{Metrics: l.sink, err: errors.New("busy")}
		l.guard.next = next
		l.at(20 * second)
		l.feed(t, counter("a", temporality, 10*second, 20*second, 5))
		l.guard.flush(t.Context(), false)
		next.err = nil
		if temporality == deltas {
			l.feed(t, counter("a", temporality, 20*second, 30*second, 2))
		} else {
			l.feed(t, counter("a", temporality, 10*second, 30*second, 7))
		}
		value, start, at := l.sum(t, 31*second)
		require.Equal(t, int64(7), value)
		require.Equal(t, []pcommon.Timestamp{pcommon.Timestamp(10 * second), pcommon.Timestamp(30 * second)}, []pcommon.Timestamp{start, at})

		next.err = consumererror.NewPermanent(errors.New("never"))
		l.feed(t, counter("a", temporality, 30*second, 40*second, 9))
		l.at(41 * second)
		l.guard.flush(t.Context(), false)
		next.err = nil
		l.guard.flush(t.Context(), false)
		require.Empty(t, l.sink.AllMetrics())
	}
}

// TestConcurrentBatchesFlushesAndReloads is for the race detector; the total must be right all the same.
func TestConcurrentBatchesFlushesAndReloads(t *testing.T) {
	t.Parallel()
	l := newLab(t, second, policy.Default(), func(c *Config) { c.FlushInterval = time.Millisecond })
	l.at(1000 * second)
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	l.guard.engine.Begin(second)
	const senders, batches = 8, 50
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			run := string(rune('a' + i))
			for n := range batches {
				l.feed(t, counter(run, cumulative, 10*second, 20*second+int64(n), int64(n+1)))
				if n%10 == 0 {
					l.guard.govern(policy.Default())
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.guard.shutdown(t.Context()))
	require.NoError(t, l.guard.shutdown(t.Context()))
	var last int64
	for _, md := range l.sink.AllMetrics() {
		for _, rm := range md.ResourceMetrics().All() {
			p := rm.ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0)
			assert.GreaterOrEqual(t, p.IntValue(), last)
			last = p.IntValue()
		}
	}
	require.Equal(t, int64(senders*batches), last)
}

var _ component.Host = (*componentcheck.StorageHost)(nil)
