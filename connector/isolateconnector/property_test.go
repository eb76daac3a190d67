package isolateconnector

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/connector/isolateconnector/internal/metadata"
)

// queueModel does with plain slices and sums what a queue does, and holds the two together.
type queueModel struct {
	q             *queue[int]
	limit, serial int
	batches       []*batch[int]
	flying        *batch[int]

	in, dropped, sent int // items
}

func (m *queueModel) push(t *rapid.T) {
	m.serial++
	b := &batch[int]{data: m.serial, bytes: rapid.IntRange(1, 50).Draw(t, "bytes"), items: rapid.IntRange(0, 9).Draw(t, "items")}
	m.in += b.items
	before := m.q.refuses(b.bytes)
	evicted, why := m.q.push(b)
	assert.Equal(t, before, why)
	m.dropped += evicted
	if why != "" {
		m.dropped += b.items
		assert.True(t, b.bytes > m.limit || m.flying != nil && b.bytes+m.flying.bytes > m.limit, "refused for a cause")
		return
	}
	m.batches = append(m.batches, b)
	for total(m.batches) > m.limit { // the oldest goes first, never the one in flight
		at := 0
		if m.flying != nil {
			at = 1
		}
		m.batches = append(m.batches[:at:at], m.batches[at+1:]...)
	}
}

func (m *queueModel) take(t *rapid.T) {
	if m.flying != nil {
		return
	}
	b, _ := m.q.take()
	if len(m.batches) == 0 {
		assert.Nil(t, b)
		return
	}
	require.Same(t, m.batches[0], b)
	m.flying = b
}

func (m *queueModel) done(t *rapid.T) {
	if m.flying == nil {
		return
	}
	require.True(t, m.q.done())
	m.sent += m.flying.items
	m.flying, m.batches = nil, m.batches[1:]
}

func (m *queueModel) putBack(*rapid.T) {
	if m.flying != nil {
		m.q.putBack()
		m.flying = nil
	}
}

func (m *queueModel) check(t *rapid.T) {
	assert.LessOrEqual(t, m.q.size(), m.limit)
	assert.Equal(t, total(m.batches), m.q.size())
	queued := 0
	for _, b := range m.batches {
		queued += b.items
	}
	assert.Equal(t, m.in, m.sent+m.dropped+queued)
}

// TestQueueKeepsItsBoundAndLosesNoCount runs any sequence of what producers and the worker do against a plain model.
func TestQueueKeepsItsBoundAndLosesNoCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		m := &queueModel{q: newQueue[int](limit), limit: limit}
		t.Repeat(map[string]func(*rapid.T){"push": m.push, "take": m.take, "done": m.done, "putBack": m.putBack, "": m.check})
		m.dropped += m.q.seal()
		assert.Equal(t, m.in, m.sent+m.dropped)
		assert.False(t, m.q.done(), "nothing is counted twice")
		_, why := m.q.push(&batch[int]{bytes: 1})
		assert.Equal(t, reasonShutdown, why)
	})
}

func total(batches []*batch[int]) (bytes int) {
	for _, b := range batches {
		bytes += b.bytes
	}
	return bytes
}

// TestManyProducersAndAMoodyBackendLoseNoCount is for the race detector, and checks the sum at the end.
func TestManyProducersAndAMoodyBackendLoseNoCount(t *testing.T) {
	t.Parallel()
	const producers, each = 8, 200
	var taken atomic.Int64
	next := &nextLogs{answer: func(ctx context.Context, ld plog.Logs) error {
		switch rand.N(20) {
		case 0:
			return consumererror.NewPermanent(errDown)
		case 1:
			return errDown
		}
		taken.Add(int64(ld.LogRecordCount()))
		return nil
	}}
	limit := 20 * oneLogBytes()
	b := newBench(t, limit, next)
	require.NoError(t, b.Start(t.Context(), b.host))
	var wg sync.WaitGroup
	for range producers {
		wg.Go(func() {
			for i := range each {
				assert.NoError(t, b.ConsumeLogs(t.Context(), oneLog(strings.Repeat("x", i%40))))
				if size := gauge(t, b.tel, "otelcol_isolate_queue_size"); size > int64(limit) {
					assert.Fail(t, "bound exceeded", "%d > %d", size, limit)
				}
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.NoError(t, b.Shutdown(ctx))
	sent, dropped := sum(t, b.tel, "otelcol_isolate_sent_items"), sum(t, b.tel, "otelcol_isolate_dropped_items")
	assert.Equal(t, taken.Load(), sent)
	assert.EqualValues(t, producers*each, sent+dropped)
}

func sum(t *testing.T, tel *componenttest.Telemetry, name string) (total int64) {
	t.Helper()
	m, err := tel.GetMetric(name)
	require.NoError(t, err)
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		total += p.Value
	}
	return total
}

func gauge(t *testing.T, tel *componenttest.Telemetry, name string) int64 {
	t.Helper()
	m, err := tel.GetMetric(name)
	require.NoError(t, err)
	return m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value
}

// sink takes metrics and traces.
type sink struct {
	nextLogs

	metrics chan pmetric.Metrics
	traces  chan ptrace.Traces
}

func (s *sink) ConsumeMetrics(_ context.Context, md pmetric.Metrics) error {
	s.metrics <- md
	return nil
}
func (s *sink) ConsumeTraces(_ context.Context, td ptrace.Traces) error { s.traces <- td; return nil }

func TestMetricsAndTracesArriveUnchanged(t *testing.T) {
	t.Parallel()
	next := &sink{metrics: make(chan pmetric.Metrics, 1), traces: make(chan ptrace.Traces, 1)}
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(context.Background())) })
	set := connectortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()

	md := pmetric.NewMetrics()
	points := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptyGauge().DataPoints()
	points.AppendEmpty().SetIntValue(1)
	points.AppendEmpty().SetIntValue(2)
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("run")

	metrics, err := NewFactory().CreateMetricsToMetrics(t.Context(), set, createDefaultConfig(), next)
	require.NoError(t, err)
	traces, err := NewFactory().CreateTracesToTraces(t.Context(), set, createDefaultConfig(), next)
	require.NoError(t, err)
	require.NoError(t, metrics.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, metrics.ConsumeMetrics(t.Context(), md))
	require.NoError(t, traces.ConsumeTraces(t.Context(), td))
	assert.Equal(t, md, <-next.metrics)
	assert.Equal(t, td, <-next.traces)
	require.NoError(t, metrics.Shutdown(t.Context()))
	require.NoError(t, traces.Shutdown(t.Context()))
	assert.EqualValues(t, 3, sum(t, tel, "otelcol_isolate_sent_items"), "two data points and a span")
}
