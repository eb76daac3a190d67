package trainingsignalsconnector

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/connector/trainingsignalsconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// hanging holds spans until the context ends.
type hanging struct {
	tracesEnd

	held atomic.Int64
}

func (h *hanging) ConsumeTraces(ctx context.Context, _ ptrace.Traces) error {
	h.held.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

// TestTwoPortsShareOneStateUnderLoad ticks by the real clock while many callers bring records to both ports, and stops.
func TestTwoPortsShareOneStateUnderLoad(t *testing.T) {
	t.Parallel()
	back := &backend{}
	ports := startPorts(t, back, tracesEnd{back}, componentcheck.NewStorageHost(t))
	feed(t, ports)
	require.NoError(t, ports[1].Shutdown(t.Context()))
	require.NoError(t, ports[0].Shutdown(t.Context()))
	b := &bench{backend: back, t: t}
	points, spans := b.took()
	assert.InDelta(t, 4*50, value1(points, "batch.duration", ""), 0, "the second port's copy counted, or something was lost")
	assert.InDelta(t, 4, value1(points, "run.outcomes", "success"), 0)
	assert.InDelta(t, 0, value1(points, "run.active", "running"), 0)
	assert.Len(t, named(spans, "start"), 4)
}

// TestATracesBackendThatHangsHoldsNothingBack wants metrics and answers all the same, and a stop within its time.
func TestATracesBackendThatHangsHoldsNothingBack(t *testing.T) {
	t.Parallel()
	back := &backend{}
	hang := &hanging{tracesEnd: tracesEnd{back}}
	ports := startPorts(t, back, hang, componentcheck.NewStorageHost(t))
	feed(t, ports)
	require.Eventually(t, func() bool {
		b := &bench{backend: back, t: t}
		var points []map[string]any
		for _, md := range b.points.AllMetrics() {
			points = append(points, flatPoints(t, md)...)
		}
		return value1(points, "run.outcomes", "success") == 4.0 && hang.held.Load() > 0
	}, time.Minute, 10*time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	require.NoError(t, ports[0].Shutdown(ctx))
	require.NoError(t, ports[1].Shutdown(ctx))
}

type tracesConsumer interface {
	Capabilities() capabilities
	ConsumeTraces(ctx context.Context, td ptrace.Traces) error
}

func startPorts(t *testing.T, back *backend, traces tracesConsumer, host *componentcheck.StorageHost) []connector.Logs {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	id := host.StorageID()
	cfg.FlushInterval, cfg.Storage = 20*time.Millisecond, &id
	set := connector.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	f := NewFactory()
	m, err := f.CreateLogsToMetrics(t.Context(), set, cfg, metricsEnd{back})
	require.NoError(t, err)
	tr, err := f.CreateLogsToTraces(t.Context(), set, cfg, traces)
	require.NoError(t, err)
	for _, p := range []connector.Logs{m, tr} {
		require.NoError(t, p.Start(t.Context(), host))
	}
	return []connector.Logs{m, tr}
}

// feed brings four runs at the same time.
func feed(t *testing.T, ports []connector.Logs) {
	t.Helper()
	var wg sync.WaitGroup
	for run := range 4 {
		wg.Go(func() {
			for i := range 52 {
				event, body := trainrecord.EventStepEnd, m{"step": i, "durations": m{"batch_s": 0.1}}
				switch i {
				case 0:
					event, body = trainrecord.EventRunStart, m{}
				case 51:
					event, body = trainrecord.EventRunEnd, m{"outcome": "success"}
				default:
				}
				ld := logsOf(t, m{"event": event, "run_id": fmt.Sprint("r", run), "ts": time.Now().UnixNano(), "framework": "pytorch", "body": body})
				for _, p := range ports {
					assert.NoError(t, p.ConsumeLogs(context.Background(), ld))
				}
			}
		})
	}
	wg.Wait()
}

// TestAClockThatGoesBackHoldsOnlyTheSeriesThatWereTold has it corrected by an hour: runs go on and end, their spans are sent, and no series is told a time twice.
func TestAClockThatGoesBackHoldsOnlyTheSeriesThatWereTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var ahead atomic.Int64
		ahead.Store(int64(time.Hour))
		b.core.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		b.core.begin()
		b.core.launch()
		tell := func(event string, body m) {
			assert.NoError(t, b.ports[0].ConsumeLogs(t.Context(), logsOf(t, m{"event": event, "run_id": "r", "framework": "pytorch", "ts": b.core.now().UnixNano(), "body": body})))
		}
		tell("run.start", m{})
		time.Sleep(25 * time.Second)
		points, _ := b.took()
		require.NotEmpty(t, points)
		ahead.Store(0)
		time.Sleep(time.Second)
		tell("run.end", m{"outcome": "success"})
		time.Sleep(40 * time.Second)
		points, spans := b.took()
		assert.Empty(t, only(points, "run.active"), "its next time has not come")
		assert.Len(t, named(spans, "run"), 1)
		assert.NotContains(t, b.self(), `ticks_skipped{connector="training_signals"} 0`)
		time.Sleep(time.Hour)
		points, _ = b.took()
		assert.InDelta(t, 1, value1(points, "run.outcomes", "success"), 0)
		b.core.halt(t.Context())
	})
}
