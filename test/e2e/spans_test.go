package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

const runIDKey = trainrecord.AttrRunID

// TestARunIDOnASpansResourceArrivesOnTheSpan sends a span whose resource names the run.
func TestARunIDOnASpansResourceArrivesOnTheSpan(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n",
	})
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr(runIDKey, "run-7")
	rs.Resource().Attributes().PutStr("service.name", "trainer")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName("train")
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{2})
	require.NoError(t, otlpclient.Connect(t, env["OTLP_ENDPOINT"]).Traces(t.Context(), td))

	require.Eventually(t, func() bool { return len(sink.Spans()) == 1 }, resultWithin, 20*time.Millisecond)
	got := sink.Spans()[0]
	assert.Equal(t, map[string]any{runIDKey: "run-7"}, got.Attributes().AsRaw())
	assert.Equal(t, map[string]any{"service.name": "trainer"}, got.Resource.Attributes().AsRaw())
}
