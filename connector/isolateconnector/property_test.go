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

// TestQueueKeepsItsBoundAndLosesNoCount runs any sequence of what producers and the worker do against a plain model.
func TestQueueKeepsItsBoundAndLosesNoCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		q := newQueue[int](limit)
		var model []*batch[int]
		var in, dropped, sent, serial int
		var flying *batch[int]
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) {
				serial++
				b := &batch[int]{data: serial, bytes: rapid.IntRange(1, 50).Draw(rt, "bytes"), items: rapid.IntRange(0, 9).Draw(rt, "items")}
				in += b.items
				before := q.refuses(b.bytes)
				evicted, why := q.push(b)
				assert.Equal(rt, before, why)
				dropped += evicted
				if why != "" {
					dropped += b.items
					assert.True(rt, b.bytes > limit || q.closed || flying != nil && b.bytes+flying.bytes > limit, "refused for a cause")
					return
				}
				model = append(model, b)
				for total(model) > limit { // the oldest goes first, never the one in flight
					at := 0
					if flying != nil {
						at = 1
					}
					model = append(model[:at:at], model[at+1:]...)
				}
			},
			"take": func(rt *rapid.T) {
				if flying != nil {
					return
				}
				b, _ := q.take()
				if len(model) == 0 {
					assert.Nil(rt, b)
					return
				}
				require.Same(rt, model[0], b)
				flying = b
			},
			"done": func(rt *rapid.T) {
				if flying == nil {
					return
				}
				require.True(rt, q.done())
				sent += flying.items
				flying, model = nil, model[1:]
			},
			"putBack": func(*rapid.T) {
				if flying != nil {
					q.putBack()
					flying = nil
				}
			},
			"": func(rt *rapid.T) {
				assert.LessOrEqual(rt, q.size(), limit)
				assert.Equal(rt, total(model), q.size())
				queued := 0
				for _, b := range model {
					queued += b.items
				}
				assert.Equal(rt, in, sent+dropped+queued)
			},
		})
		dropped += q.seal()
		assert.Equal(rt, in, sent+dropped)
		assert.False(rt, q.done(), "nothing is counted twice")
		_, why := q.push(&batch[int]{bytes: 1})
		assert.Equal(rt, reasonShutdown, why)
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
