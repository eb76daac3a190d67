package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

// secrets numbers secrets, so that one that comes out tells its kind.
type secrets map[string]string

func (s secrets) of(kind string) string {
	v := fmt.Sprintf("SeCrEt%03dzqW8", len(s))
	s[v] = kind
	return v
}

func (s secrets) text(format string) string { return fmt.Sprintf(format, s.of(format)) }

// texts are kinds of texts with a secret each.
func (s secrets) texts() (out []string) {
	for _, format := range []string{
		"password %s", "password is %s", "train.py --password %s", "token=abc,%s", "key AKIA%sABCDEFGH", "use ghp_%s", "glpat-%s", "hf_%sAbCdEfGhIjKlMnOpQrSt",
		"sk-proj-%s", "xoxb-%s", "npm_%sAbCdEfGhIjKlMnOpQrSt", "pypi-AgE%s", "eyJhbGciOiJIUzI1NiJ9.%s.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
		"-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----", "mysql -uroot -p%s db", "https://u:%s@h/x", `params={"password":"%s"}`,
		"https://hooks.slack.com/services/T0/B0/%s", "https://discord.com/api/webhooks/1/%s", "https://x.webhook.office.com/webhookb2/%s",
		"https://x.blob.core.windows.net/c?sv=1&sig=%s", "https://s3/x?X-Amz-Signature=%s", "pass_word=%s", "p\u0430ssword: %s", "Authorization: Bearer %s",
		`{"hf_token": "%s"}`, "api key %s", "secret is %s", "passwd %s",
	} {
		out = append(out, s.text(format))
	}
	return out
}

func (s secrets) absent(t *testing.T, where, text string) {
	t.Helper()
	for v, kind := range s {
		assert.False(t, strings.Contains(text, v), "%s: %q", where, kind)
	}
}

func line(t *testing.T, run, event string, body map[string]any, more map[string]any) string {
	t.Helper()
	record := map[string]any{"schema": "pathologize.ml.training/1", "ts": "2026-11-20T10:00:00Z", "event": event, "run_id": run, "body": body}
	for k, v := range more {
		record[k] = v
	}
	b, err := json.Marshal(record)
	require.NoError(t, err)
	return string(b)
}

// innocent values stay, in results and at the backend.
var innocent = map[string]any{"key": 3, "tokens": 5000, "num_tokens": 512, "password_policy": "none", "tokenizer": "bert-base"}

// plantedLines put a secret into every place of the records of a run.
func plantedLines(t *testing.T, s secrets) []string {
	t.Helper()
	params := map[string]any{
		"key": s.of("a key called key"), "pass_word": s.of("pass_word"), "p\u0430ssword": s.of("look-alike"), "http://u:" + s.of("key of a map") + "@h": 1,
		"note": "n", "json": s.text(`params={"api_key": "%s"}`), "innocent": innocent, "argv": []any{"mysql", "-p" + s.of("argv -pX")},
	}
	lines := []string{
		line(t, "planted", "run.start", map[string]any{
			"params": params, "command": s.text("train.py --api-key %s"), "versions": map[string]any{"x": s.text("git+https://u:%s@h")},
			"objective": map[string]any{"metric": s.text("val/loss token=%s"), "mode": "min"}, "git": map[string]any{"branch": s.text("https://u:%s@h"), "commit": "c"},
		}, map[string]any{"host": s.text("h token=%s"), "resource": map[string]any{"service.name": s.text("svc password=%s"), "process.command_line": s.text("x %s")}}),
		line(t, "planted", "epoch.end", map[string]any{
			"epoch": 0, "measurements": map[string]any{"val/loss": 0.5, s.text("m token=%s"): 1, s.text("m https://u:%s@h"): 2},
			"learning_rate": map[string]any{s.text("g password=%s"): 0.1},
		}, nil),
		line(t, "planted", "epoch.end", map[string]any{"epoch": 0, "measurements": map[string]any{"val/loss": 0.5}}, map[string]any{"part": s.text("fold token=%s")}),
		line(t, "planted", "checkpoint.save", map[string]any{"path": s.text("s3://AK:%s@b/x"), "kind": "best", "epoch": 0, "metric": s.text("m token=%s"), "value": 1}, nil),
		line(t, "planted", "artifact", map[string]any{"role": s.text("role token=%s"), "path": s.text("https://h/x?token=%s")}, nil),
		line(t, s.text("other token=%s"), "run.end", map[string]any{"outcome": "success"}, nil),
		s.text(`{"schema":"pathologize.ml.training/1","event":"run.start","run_id":"planted","attempt":"bad","body":{"params":{"lr":"%s"}}}`),
		s.text("no JSON: HF_TOKEN=%s"),
	}
	for _, text := range s.texts() {
		lines = append(lines, line(t, "planted", "run.failure", map[string]any{"error_type": "E", "message": text, "stack": "line\n  " + text}, nil),
			line(t, "planted", "log", map[string]any{"message": text, "num_tokens": 512}, nil))
	}
	return append(lines, line(t, "planted", "run.end", map[string]any{"outcome": "failed", "stop_reason": s.text("exit; token=%s")}, nil))
}

// TestNoSecretLeavesTheHostOrIsInAResult plants secrets of all kinds into records, spans and metrics.
func TestNoSecretLeavesTheHostOrIsInAResult(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env,
		YAML: "processors: {batch: {timeout: 100ms}}\nreceivers: {host_metrics: {collection_interval: 1h}}\n",
	})
	s := secrets{}
	lines := plantedLines(t, s)
	newTrainer(t, f, "planted").lines(lines...)
	sendPlanted(t, env["OTLP_ENDPOINT"], s)

	require.Eventually(t, func() bool {
		return len(sink.LogRecords()) >= len(lines) && len(sink.Spans()) == 1 && strings.Contains(metricsText(t, sink), "planted.gauge")
	}, resultWithin, 20*time.Millisecond)
	s.absent(t, "log records", logsText(t, sink))
	s.absent(t, "spans", tracesText(t, sink))
	s.absent(t, "metrics", metricsText(t, sink))
	for _, kept := range []string{"num_tokens", "512", "val/loss"} {
		assert.Contains(t, logsText(t, sink), kept)
	}
	for _, kept := range []string{"planted span", "exception.type", "OSError", "tokenizer", "deployment.environment"} {
		assert.Contains(t, tracesText(t, sink), kept)
	}

	waitResult(t, f, "planted", "failed")
	results := ""
	for name, text := range tree(t, f.Results) {
		results += name + "\n" + text + "\n"
	}
	s.absent(t, "results", results)
	params, err := os.ReadFile(filepath.Join(f.Results, "planted", "params.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(params), "innocent:\n  key: 3\n  num_tokens: 512\n  password_policy: \"none\"\n  tokenizer: \"bert-base\"\n  tokens: 5000\n")
	s.absent(t, "the log", c.Logs())
	c.WaitMetric("otelcol_secret_mask_masked_values", map[string]string{"processor": "secret_mask/traces"}, 1, resultWithin)
	c.WaitMetric("otelcol_secret_mask_omitted_values", map[string]string{"processor": "secret_mask/traces"}, 1, resultWithin)
}

// sendPlanted sends a span and a metric with secrets in every place.
func sendPlanted(t *testing.T, endpoint string, s secrets) {
	t.Helper()
	client := otlpclient.Connect(t, endpoint)
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("process.command_line", s.text("train.py %s"))
	rs.Resource().Attributes().PutStr("deployment.environment", "lab")
	rs.Resource().Attributes().PutEmptySlice("process.command_args").AppendEmpty().SetStr(s.text("%s"))
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{2})
	span.SetName(s.text("planted span token=%s"))
	span.Status().SetMessage(s.text("401 for https://u:%s@h"))
	span.Attributes().PutStr("params.password", s.of("params.password"))
	span.Attributes().PutStr("params.lr", s.of("params.lr"))
	span.Attributes().PutStr("tokenizer", "bert")
	span.Attributes().PutEmptyMap("nested").PutEmptyMap("deep").PutStr("api_key", s.of("nested attribute"))
	for _, text := range s.texts() {
		span.Attributes().PutStr(fmt.Sprintf("text.%d", span.Attributes().Len()), text)
	}
	e := span.Events().AppendEmpty()
	e.SetName(s.text("event token=%s"))
	e.Attributes().PutStr("exception.stacktrace", s.text("at x %s"))
	e.Attributes().PutStr("exception.message", s.text("password=%s"))
	e.Attributes().PutStr("exception.type", "OSError")
	span.Links().AppendEmpty().Attributes().PutStr("hf_token", s.of("link"))
	require.NoError(t, client.Traces(t.Context(), td))

	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("process.command_line", s.text("train.py %s"))
	m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("planted.gauge")
	m.SetDescription(s.text("see https://u:%s@h"))
	p := m.SetEmptyGauge().DataPoints().AppendEmpty()
	p.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	p.SetDoubleValue(1)
	p.Attributes().PutStr("url", s.text("https://h/x?sig=%s"))
	p.Attributes().PutStr("password", s.of("metric attribute"))
	require.NoError(t, client.Metrics(t.Context(), md))
}

// textOf is all that a sink took of a signal, as JSON.
func textOf[T any](t *testing.T, taken []T, marshal func(T) ([]byte, error)) string {
	t.Helper()
	var text strings.Builder
	for _, data := range taken {
		b, err := marshal(data)
		require.NoError(t, err)
		text.Write(b)
	}
	return text.String()
}

func logsText(t *testing.T, sink *otlpsink.Sink) string {
	t.Helper()
	return textOf(t, sink.Logs(), (&plog.JSONMarshaler{}).MarshalLogs)
}

func tracesText(t *testing.T, sink *otlpsink.Sink) string {
	t.Helper()
	return textOf(t, sink.Traces(), (&ptrace.JSONMarshaler{}).MarshalTraces)
}

func metricsText(t *testing.T, sink *otlpsink.Sink) string {
	t.Helper()
	return textOf(t, sink.Metrics(), (&pmetric.JSONMarshaler{}).MarshalMetrics)
}
