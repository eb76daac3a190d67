package isolateconnector

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/connector/isolateconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// bench is a connector for logs with everything around it.
type bench struct {
	connector.Logs

	next *nextLogs
	tel  *componenttest.Telemetry
	host *componentcheck.StorageHost
	log  *observer.ObservedLogs
}

// newBench makes a connector that has not started.
func newBench(t *testing.T, maxBytes int, next *nextLogs) *bench {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(context.Background())) })
	core, logs := observer.New(zap.DebugLevel)
	set := connector.Settings{
		ID:                component.NewIDWithName(metadata.Type, "backend"),
		TelemetrySettings: tel.NewTelemetrySettings(),
		BuildInfo:         component.NewDefaultBuildInfo(),
	}
	set.Logger = zap.New(core)
	c, err := NewFactory().CreateLogsToLogs(t.Context(), set, &Config{MaxBytes: componentkit.ByteSize(maxBytes)}, next)
	require.NoError(t, err)
	return &bench{Logs: c, next: next, tel: tel, host: componentcheck.NewStorageHost(t), log: logs}
}

func (b *bench) start(t *testing.T) *bench {
	t.Helper()
	require.NoError(t, b.Start(t.Context(), b.host))
	t.Cleanup(func() { assert.NoError(t, b.Shutdown(context.Background())) })
	return b
}

// put consumes one batch of one record each whose body is the text.
func (b *bench) put(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.NoError(t, b.ConsumeLogs(t.Context(), oneLog(text)))
	}
}

// counters is the expected self-telemetry; what is zero need not be written.
type counters struct {
	sent, retries, size, full, large, refused, shutdown int
	// gone is set after a shutdown: gauges are not observed any more.
	gone bool
}

func (b *bench) assertCounters(t *testing.T, maxBytes int, want counters) {
	t.Helper()
	line := func(name, why string, value int) string {
		if why != "" {
			why = fmt.Sprintf(`reason=%q,`, why)
		}
		return fmt.Sprintf(`otelcol_isolate_%s{connector="isolate/backend",%ssignal="logs"} %d`, name, why, value)
	}
	lines := []string{
		line("sent_items", "", want.sent),
		line("retries", "", want.retries),
		line("dropped_items", "queue_full", want.full),
		line("dropped_items", "too_large", want.large),
		line("dropped_items", "refused", want.refused),
		line("dropped_items", "shutdown", want.shutdown),
	}
	if !want.gone {
		lines = append(lines, line("queue_size", "", want.size), line("queue_capacity", "", maxBytes))
	}
	componentcheck.AssertTelemetry(t, b.tel, "otelcol_isolate_", lines...)
}

// nextLogs is the consumer behind the connector; answer decides what it says.
type nextLogs struct {
	answer  func(ctx context.Context, ld plog.Logs) error
	mutates bool

	mu  sync.Mutex
	got []string
}

func (n *nextLogs) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: n.mutates}
}

// ConsumeLogs notes what it takes.
func (n *nextLogs) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	text := bodyOf(ld)
	if n.answer != nil {
		if err := n.answer(ctx, ld); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got = append(n.got, text)
	return nil
}

func (n *nextLogs) taken() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.got...)
}

// hanging returns a next that hangs until its context ends or release is called.
func hanging() (next *nextLogs, release func()) {
	gate := make(chan struct{})
	return &nextLogs{answer: func(ctx context.Context, _ plog.Logs) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, sync.OnceFunc(func() { close(gate) })
}

// refusing returns a next that refuses until restore is called.
func refusing() (next *nextLogs, restore func()) {
	var up atomic.Bool
	return &nextLogs{answer: func(context.Context, plog.Logs) error {
		if up.Load() {
			return nil
		}
		return errDown
	}}, func() { up.Store(true) }
}

func oneLog(text string) plog.Logs {
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(text)
	return ld
}

func bodyOf(ld plog.Logs) string {
	return ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str()
}

// oneLogBytes is the size of oneLog with a text of one letter.
func oneLogBytes() int { return (&plog.ProtoMarshaler{}).LogsSize(oneLog("a")) }
