package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

const runIDKey = "pathologize.ml.training.run.id"

// TestARunIDOnASpansResourceArrivesOnTheSpan sends a span whose resource names the run.
func TestARunIDOnASpansResourceArrivesOnTheSpan(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	collector.Start(t, collector.Options{
		Configs: []string{shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n",
	})
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr(runIDKey, "run-7")
	rs.Resource().Attributes().PutStr("service.name", "trainer")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName("train")
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{2})
	conn, err := grpc.NewClient(env["OTLP_ENDPOINT"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	_, err = ptraceotlp.NewGRPCClient(conn).Export(t.Context(), ptraceotlp.NewExportRequestFromTraces(td))
	require.NoError(t, err)

	require.Eventually(t, func() bool { return len(sink.Spans()) == 1 }, resultWithin, 20*time.Millisecond)
	got := sink.Spans()[0]
	assert.Equal(t, map[string]any{runIDKey: "run-7"}, got.Attributes().AsRaw())
	assert.Equal(t, map[string]any{"service.name": "trainer"}, got.Resource.Attributes().AsRaw())
}
