package trainingsignalsconnector

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap/zaptest"

	"github.com/pathologize/otelcol-train/connector/trainingsignalsconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const t0 = int64(1795168800000000000) // 2026-11-20T10:00:00Z

func at(seconds float64) int64 { return t0 + int64(seconds*1e9) }

var errRefused = errors.New("refused")

// backend takes points and spans, or refuses them.
type backend struct {
	points consumertest.MetricsSink
	spans  consumertest.TracesSink

	refusesMetrics, refusesTraces atomic.Bool
}

type metricsEnd struct{ *backend }

func (metricsEnd) Capabilities() (c capabilities) { return c }

func (m metricsEnd) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	if m.refusesMetrics.Load() {
		return errRefused
	}
	return m.points.ConsumeMetrics(ctx, md)
}

type tracesEnd struct{ *backend }

func (tracesEnd) Capabilities() (c capabilities) { return c }

func (m tracesEnd) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	if m.refusesTraces.Load() {
		return errRefused
	}
	return m.spans.ConsumeTraces(ctx, td)
}

// bench is a connector under a clock that the test moves.
type bench struct {
	*backend

	t     testing.TB
	core  *core
	ports []*port
	tel   *componenttest.Telemetry
	clock int64
	host  component.Host
}

type benchOption func(*Config)

func newBench(t testing.TB, change ...benchOption) *bench {
	t.Helper()
	return newBenchAt(t, t0, componenttest.NewNopHost(), &backend{}, change...)
}

func newBenchAt(t testing.TB, start int64, host component.Host, back *backend, change ...benchOption) *bench {
	t.Helper()
	b := &bench{t: t, backend: back, tel: componenttest.NewTelemetry(), clock: start, host: host}
	t.Cleanup(func() { assert.NoError(t, b.tel.Shutdown(context.Background())) })
	cfg := createDefaultConfig().(*Config)
	for _, c := range change {
		c(cfg)
	}
	require.NoError(t, cfg.Validate())
	set := connector.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: b.tel.NewTelemetrySettings(), BuildInfo: component.NewDefaultBuildInfo()}
	set.Logger = zaptest.NewLogger(t)
	f := NewFactory()
	m, err := f.CreateLogsToMetrics(context.Background(), set, cfg, metricsEnd{b.backend})
	require.NoError(t, err)
	tr, err := f.CreateLogsToTraces(context.Background(), set, cfg, tracesEnd{b.backend})
	require.NoError(t, err)
	b.ports = []*port{m.(*port), tr.(*port)}
	b.core = b.ports[0].shared.core
	require.Same(t, b.core, b.ports[1].shared.core)
	b.core.now = func() time.Time { return time.Unix(0, b.clock) }
	require.NoError(t, b.core.open(context.Background(), host)) // not launched: the test ticks
	t.Cleanup(func() { b.core.release(true) })
	return b
}

// line feeds a record to both ports at a time.
func (b *bench) line(when int64, line []byte, uid string) {
	b.t.Helper()
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	d := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	require.NotEqual(b.t, trainrecord.LineError, d.Decode(line, lr).Kind, string(line))
	d.PutResource(rl.Resource().Attributes())
	lr.SetObservedTimestamp(pcommon.Timestamp(when))
	if uid != "" {
		lr.Attributes().PutStr(trainrecord.AttrLogRecordUID, uid)
	}
	b.clock = max(b.clock, when)
	for _, p := range b.ports {
		require.NoError(b.t, p.ConsumeLogs(context.Background(), ld))
	}
}

// logsOf makes log data of a record.
func logsOf(t testing.TB, record map[string]any) plog.Logs {
	line, err := json.Marshal(record)
	assert.NoError(t, err)
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	d := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	assert.NotEqual(t, trainrecord.LineError, d.Decode(line, rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()).Kind)
	return ld
}

// rec feeds a record whose event time is lag seconds before.
func (b *bench) rec(seconds, lag float64, event, run string, more map[string]any, body map[string]any) {
	b.t.Helper()
	r := map[string]any{"event": event, "run_id": run, "framework": "pytorch", "ts": at(seconds - lag), "body": body}
	if body == nil {
		r["body"] = map[string]any{}
	}
	for k, v := range more {
		r[k] = v
	}
	line, err := json.Marshal(r)
	require.NoError(b.t, err)
	b.line(at(seconds), line, "")
}

// tick flushes at a time.
func (b *bench) tick(seconds float64) { b.flushAt(at(seconds)) }

func (b *bench) flushAt(when int64) {
	b.clock = max(b.clock, when)
	b.core.flush(context.Background(), when)
	b.core.sendSpans(context.Background())
}

// took gives what was sent since the last call.
func (b *bench) took() (points, spans []map[string]any) {
	for _, md := range b.points.AllMetrics() {
		points = append(points, flatPoints(b.t, md)...)
	}
	for _, td := range b.spans.AllTraces() {
		spans = append(spans, flatSpans(td)...)
	}
	b.points.Reset()
	b.spans.Reset()
	return points, spans
}

func flatPoints(t testing.TB, md pmetric.Metrics) (list []map[string]any) {
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			assert.Equal(t, trainrecord.ScopeName, sm.Scope().Name())
			assert.Equal(t, trainrecord.SchemaVersion, sm.Scope().Version())
			for _, m := range sm.Metrics().All() {
				list = append(list, pointsOf(m, rm.Resource().Attributes().AsRaw())...)
			}
		}
	}
	return list
}

func pointsOf(m pmetric.Metric, resource map[string]any) (list []map[string]any) {
	number := func(dp pmetric.NumberDataPoint) map[string]any {
		p := map[string]any{"attributes": dp.Attributes().AsRaw(), "time": int64(dp.Timestamp()), "value": dp.DoubleValue()}
		if dp.ValueType() == pmetric.NumberDataPointValueTypeInt {
			p["value"] = float64(dp.IntValue())
		}
		if dp.Flags().NoRecordedValue() {
			p["value"] = "none"
		}
		return p
	}
	temporality := map[pmetric.AggregationTemporality]string{pmetric.AggregationTemporalityCumulative: cumulative, pmetric.AggregationTemporalityDelta: delta}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		for _, dp := range m.Sum().DataPoints().All() {
			p := number(dp)
			p["type"], p["temporality"], p["monotonic"], p["start"] = "sum", temporality[m.Sum().AggregationTemporality()], m.Sum().IsMonotonic(), int64(dp.StartTimestamp())
			list = append(list, p)
		}
	case pmetric.MetricTypeGauge:
		for _, dp := range m.Gauge().DataPoints().All() {
			p := number(dp)
			p["type"] = "gauge"
			list = append(list, p)
		}
	case pmetric.MetricTypeHistogram:
		for _, dp := range m.Histogram().DataPoints().All() {
			p := map[string]any{
				"type": "histogram", "temporality": temporality[m.Histogram().AggregationTemporality()], "attributes": dp.Attributes().AsRaw(),
				"time": int64(dp.Timestamp()), "start": int64(dp.StartTimestamp()), "count": float64(dp.Count()), "sum": dp.Sum(),
				"bounds": floats(dp.ExplicitBounds().AsRaw()), "buckets": floats(dp.BucketCounts().AsRaw()),
			}
			if dp.HasMin() || dp.HasMax() || dp.Exemplars().Len() > 0 {
				p["extra"] = true
			}
			list = append(list, p)
		}
	default:
		list = append(list, map[string]any{"type": m.Type().String()})
	}
	for _, p := range list {
		p["name"], p["unit"], p["resource"] = m.Name(), m.Unit(), resource
	}
	return list
}

func floats[N float64 | uint64](list []N) []any {
	out := make([]any, len(list))
	for i, n := range list {
		out[i] = float64(n)
	}
	return out
}

func flatSpans(td ptrace.Traces) (list []map[string]any) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				list = append(list, flatSpan(s))
			}
		}
	}
	return list
}

func flatSpan(s ptrace.Span) map[string]any {
	trace, id, parent := s.TraceID(), s.SpanID(), s.ParentSpanID()
	m := map[string]any{
		"name": s.Name(), "kind": map[ptrace.SpanKind]string{ptrace.SpanKindInternal: "internal"}[s.Kind()], "trace_id": hex.EncodeToString(trace[:]),
		"span_id": hex.EncodeToString(id[:]), "parent_span_id": "", "start": int64(s.StartTimestamp()), "end": int64(s.EndTimestamp()),
		"status": map[ptrace.StatusCode]string{ptrace.StatusCodeUnset: "unset", ptrace.StatusCodeOk: "ok", ptrace.StatusCodeError: "error"}[s.Status().Code()],
		"links":  []any{}, "attributes": numbersAsFloats(s.Attributes().AsRaw()),
	}
	if !parent.IsEmpty() {
		m["parent_span_id"] = hex.EncodeToString(parent[:])
	}
	if msg := s.Status().Message(); msg != "" {
		m["status_message"] = msg
	}
	if s.Events().Len() > 0 {
		m["events"] = s.Events().Len()
	}
	links := []any{}
	for _, l := range s.Links().All() {
		trace, id := l.TraceID(), l.SpanID()
		links = append(links, map[string]any{"trace_id": hex.EncodeToString(trace[:]), "span_id": hex.EncodeToString(id[:])})
	}
	m["links"] = links
	return m
}

func numbersAsFloats(m map[string]any) map[string]any {
	for k, v := range m {
		if n, ok := v.(int64); ok {
			m[k] = float64(n)
		}
	}
	return m
}

// event is one line of a case's timeline.
type event struct {
	At     string
	Record json.RawMessage
	UID    string
	Do     string
}

func readTimeline(t testing.TB, dir string) (events []event) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "timeline.jsonl"))
	require.NoError(t, err)
	for line := range splitLines(data) {
		var e event
		require.NoError(t, json.Unmarshal(line, &e))
		events = append(events, e)
	}
	return events
}

func (e event) when(t testing.TB) int64 {
	n, err := strconv.ParseInt(e.At, 10, 64)
	require.NoError(t, err)
	return n
}
