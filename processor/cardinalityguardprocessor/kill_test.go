package cardinalityguardprocessor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// level makes a batch of a gauge of a run.
func level(run string, at, value int64) pmetric.Metrics {
	md := gaugeBatch("load", "run_id", run)
	p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
	p.SetTimestamp(pcommon.Timestamp(at))
	p.SetIntValue(value)
	return md
}

// levelled is a guard with a storage that adds gauges up.
func levelled(t *testing.T, host *componentcheck.StorageHost, now int64) *lab {
	t.Helper()
	p, err := policy.Parse("", []byte("version: 1\ngauges: {default: sum}\n"))
	require.NoError(t, err)
	l := newLab(t, now, p, func(c *Config) {
		id := host.StorageID()
		c.Storage = &id
		c.FlushInterval = time.Hour
	})
	require.NoError(t, l.guard.start(t.Context(), host))
	return l
}

func (l *lab) level(t *testing.T, now int64) int64 {
	t.Helper()
	l.at(now)
	l.guard.flush(t.Context(), false)
	md := l.taken(t)
	require.Equal(t, 1, md.DataPointCount())
	return md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).IntValue()
}

// TestAKillBringsNothingBackThatWasForgotten: not even where the flush that forgot it sent nothing on. A write that fails is tried again.
func TestAKillBringsNothingBackThatWasForgotten(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		host := componentcheck.NewStorageHost(t)
		l := levelled(t, host, second)
		l.at(20 * second)
		l.feed(t, level("a", 19*second, 4))
		l.feed(t, level("b", 19*second, 1))
		require.Equal(t, int64(5), l.level(t, 21*second))
		l.at(330 * second)
		if full {
			host.FailWrites(errors.New("full"))
			l.guard.flush(t.Context(), false)
			host.FailWrites(nil)
			l.at(331 * second)
		}
		l.guard.flush(t.Context(), false)
		require.Empty(t, l.sink.AllMetrics(), "both are stale, and the end is held")
		host.Crash()
		l.guard.flushes.stop(t.Context())

		l = levelled(t, host, 335*second)
		l.feed(t, level("a", 19*second, 4)) // repeats what it said
		l.feed(t, level("b", 334*second, 2))
		require.Equal(t, int64(2), l.level(t, 336*second))
		require.NoError(t, l.guard.shutdown(t.Context()))
	}
}

// TestAKillLosesNoDeltasThatTheNextComponentRefused, but for those that came since the last flush.
func TestAKillLosesNoDeltasThatTheNextComponentRefused(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	l := restartable(t, host, second)
	next := &refusing{Metrics: l.sink, err: errors.New("busy")}
	l.guard.next = next
	for i := range int64(3) {
		l.at((20 + 10*i) * second)
		l.feed(t, counter("a", deltas, (10+10*i)*second, (20+10*i)*second, 5))
		l.guard.flush(t.Context(), false)
	}
	host.Crash()
	l.guard.flushes.stop(t.Context())

	l = restartable(t, host, 45*second)
	l.at(50 * second)
	l.feed(t, counter("a", deltas, 40*second, 50*second, 1))
	value, start, at := l.sum(t, 51*second)
	require.Equal(t, int64(16), value)
	require.Equal(t, []pcommon.Timestamp{pcommon.Timestamp(10 * second), pcommon.Timestamp(50 * second)}, []pcommon.Timestamp{start, at})
	require.NoError(t, l.guard.shutdown(t.Context()))
}

// dying is a next component during whose call the collector is killed.
type dying struct {
	consumer.Metrics
	host *componentcheck.StorageHost
}

func (d *dying) ConsumeMetrics(context.Context, pmetric.Metrics) error {
	d.host.Crash()
	return nil
}

// TestAKillInTheMiddleOfAFlushLosesNoTotal, though no source says anything more.
func TestAKillInTheMiddleOfAFlushLosesNoTotal(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	l := restartable(t, host, second)
	l.at(20 * second)
	l.feed(t, counter("a", cumulative, 10*second, 20*second, 10))
	value, _, _ := l.sum(t, 21*second)
	require.Equal(t, int64(10), value)
	l.feed(t, counter("a", cumulative, 10*second, 30*second, 25))
	l.guard.next = &dying{Metrics: l.sink, host: host}
	l.at(31 * second)
	l.guard.flush(t.Context(), false)
	l.guard.flushes.stop(t.Context())

	l = restartable(t, host, 45*second)
	value, _, _ = l.sum(t, 45*second+2*int64(time.Hour))
	require.Equal(t, int64(25), value)
	require.NoError(t, l.guard.shutdown(t.Context()))
}
