package signals

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

const (
	longRun    = "three-days"
	longLasts  = 72 * time.Hour
	longEpochs = 432
)

// writeLongRun appends a run of three days that ends now, with two parts' worth of what makes spans: phases with records, rows with durations, and a phase that the failure cut.
func writeLongRun(t *testing.T, f folders) (began time.Time) {
	t.Helper()
	began = time.Now().Add(-longLasts).Truncate(time.Millisecond)
	s := &stream{run: longRun, ts: began}
	s.add(0, "run.start", "run", map[string]any{"planned_epochs": longEpochs + 1, "task_family": "detection"})
	for epoch := range longEpochs {
		at := map[string]any{"epoch": epoch}
		s.add(time.Second, "phase.start", "train", at)
		s.add(8*time.Minute, "phase.end", "train", at)
		s.add(90*time.Second, "epoch.end", "validation", map[string]any{"epoch": epoch, "durations": map[string]any{"validation_s": 80.0}})
		s.add(29*time.Second, "heartbeat", "", map[string]any{})
	}
	s.ts = began.Add(longLasts)
	s.add(-5*time.Minute, "phase.start", "train", map[string]any{"epoch": longEpochs})
	s.add(5*time.Minute, "run.failure", "train", map[string]any{"error_type": "RuntimeError", "message": "CUDA out of memory"})
	s.add(0, "run.end", "run", map[string]any{"outcome": "failed", "stop_reason": "error"})
	path := filepath.Join(f.Runs, longRun, "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, s.lines, 0o644))
	return began
}

// sendLongRun has a collector read the run of three days and send its spans, all of them however old.
func sendLongRun(t *testing.T, endpoints ...string) (began time.Time) {
	f := newFolders(t)
	began = writeLongRun(t, f)
	yaml, names := "connectors: {training_signals: {flush_interval: 250ms, late_grace: 300ms, spans: {max_age: 96h}}}\nexporters:\n", ""
	for i, endpoint := range endpoints {
		yaml += fmt.Sprintf("  otlp_grpc/%d: {endpoint: '%s', tls: {insecure: true}}\n", i, endpoint)
		names += fmt.Sprintf("otlp_grpc/%d,", i)
	}
	yaml += "service: {pipelines: {logs: {exporters: [training_signals]}, traces: {receivers: [training_signals], exporters: [" + names + "]}}}\n"
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t), YAML: yaml})
	require.Eventually(t, func() bool {
		return c.Metrics().Sum("otelcol_exporter_sent_spans", nil) >= float64(len(endpoints)*spansOfLongRun())
	}, time.Minute, 100*time.Millisecond)
	c.Stop()
	return began
}

// spansOfLongRun is the announcement, the run and the phase that failed, and two phases of each epoch that is kept: the first 128, every second one up to 256, every fourth from then on.
func spansOfLongRun() int { return 3 + 2*(128+64+(longEpochs-256)/4) }

// TestTheTraceOfAThreeDayRunHangsTogether holds the rules of OTLP that a reader relies on.
func TestTheTraceOfAThreeDayRunHangsTogether(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	began := sendLongRun(t, sink.Endpoint())
	spans := map[pcommon.SpanID]otlpsink.Span{}
	var run *otlpsink.Span
	for _, s := range sink.Spans() {
		assert.NotContains(t, spans, s.SpanID(), "two spans have one id")
		assert.False(t, s.SpanID().IsEmpty() || s.TraceID().IsEmpty())
		spans[s.SpanID()] = s
		if s.Name() == "training.run" {
			run = &s
		}
	}
	require.NotNil(t, run)
	assert.Len(t, spans, spansOfLongRun())
	assert.Equal(t, ptrace.StatusCodeError, run.Status().Code())
	assert.True(t, run.ParentSpanID().IsEmpty())
	assert.Equal(t, began.UnixNano(), int64(run.StartTimestamp()))
	assert.Equal(t, longLasts, time.Duration(run.EndTimestamp()-run.StartTimestamp()))
	for id, s := range spans {
		assert.Equal(t, run.TraceID(), s.TraceID())
		assert.LessOrEqual(t, s.StartTimestamp(), s.EndTimestamp(), s.Name())
		assert.True(t, s.StartTimestamp() >= run.StartTimestamp() && s.EndTimestamp() <= run.EndTimestamp(), s.Name())
		if id != run.SpanID() {
			assert.Contains(t, spans, s.ParentSpanID(), s.Name())
		}
	}
}

// jaeger is a real one that keeps traces in memory.
type jaeger struct{ otlp, query string }

func startJaeger(t *testing.T) jaeger {
	t.Helper()
	path := os.Getenv("JAEGER")
	if path == "" {
		path = filepath.Join(collector.Root(t), "build", "jaeger")
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("NOT TESTED: the trace of a long run in a real Jaeger: run make jaeger, or name one with JAEGER")
	}
	j := jaeger{ports.Free(t), ports.Free(t)}
	config := filepath.Join(t.TempDir(), "jaeger.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines: {traces: {receivers: [otlp], exporters: [jaeger_storage_exporter]}}
  telemetry: {metrics: {level: none}}
extensions:
  jaeger_storage: {backends: {memory: {memory: {max_traces: 100}}}}
  jaeger_query: {enable_tracing: false, storage: {traces: memory}, http: {endpoint: '%s'}, grpc: {endpoint: '%s'}}
receivers: {otlp: {protocols: {grpc: {endpoint: '%s'}}}}
exporters: {jaeger_storage_exporter: {trace_storage: memory}}
`, j.query, ports.Free(t), j.otlp), 0o600))
	//nolint:gosec // the developer names it
	cmd := exec.Command(path, "--config", config)
	cmd.Env = append(os.Environ(), "OTEL_SDK_DISABLED=true", "OTEL_TRACES_SAMPLER=always_off") // it would tell of itself to whoever listens
	run(t, cmd, "http://"+j.query+"/api/services")
	return j
}

// jaegerTrace is what Jaeger answers about a trace.
type jaegerTrace struct {
	Data []struct {
		Spans []struct {
			SpanID, OperationName string
			StartTime, Duration   int64 // microseconds
			References            []struct{ RefType, SpanID string }
			Warnings              []string
			Tags                  []struct {
				Key   string
				Value any
			}
		}
		Warnings []string
	}
	Errors []any
}

// TestJaegerReadsTheTraceOfAThreeDayRun looks at it as Jaeger's page does: whatever Jaeger finds wrong about a trace it says in warnings.
// The announcement of the run is the one span that it remarks on.
func TestJaegerReadsTheTraceOfAThreeDayRun(t *testing.T) {
	t.Parallel()
	j := startJaeger(t)
	began := sendLongRun(t, j.otlp)
	out, err := exec.Command("sh", "-c", `printf 'train-trace-v1\0%s\0%s' `+longRun+` 1 | sha256sum | cut -c1-32`).Output()
	require.NoError(t, err)
	resp, err := http.Get("http://" + j.query + "/api/traces/" + strings.TrimSpace(string(out)))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var trace jaegerTrace
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&trace))
	require.Len(t, trace.Data, 1, trace.Errors)
	assert.Empty(t, trace.Data[0].Warnings)
	spans := trace.Data[0].Spans
	assert.Len(t, spans, spansOfLongRun())
	ids := map[string]bool{}
	for _, s := range spans {
		ids[s.SpanID] = true
	}
	assert.Len(t, ids, len(spans))
	roots := 0
	for _, s := range spans {
		if s.OperationName == "training.start" { // it has no length, which Jaeger calls negative and makes a nanosecond
			assert.Len(t, s.Warnings, 1)
			assert.Zero(t, s.Duration)
		} else {
			assert.Empty(t, s.Warnings, s.OperationName)
		}
		for _, r := range s.References {
			assert.Equal(t, "CHILD_OF", r.RefType)
			assert.True(t, ids[r.SpanID], s.OperationName)
		}
		if len(s.References) == 0 {
			roots++
			assert.Equal(t, []any{"training.run", began.UnixMicro(), longLasts.Microseconds()}, []any{s.OperationName, s.StartTime, s.Duration})
		}
	}
	assert.Equal(t, 1, roots)
}
