package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// guardWithStorage keeps what runs counted over a restart.
const guardWithStorage = `
extensions:
  file_storage: {directory: "${env:STATE_DIR}", create_directory: true}
receivers:
  otlp: {protocols: {grpc: {endpoint: "${env:OTLP_ENDPOINT}"}}}
processors:
  cardinality_guard: {flush_interval: 1s, storage: file_storage}
exporters:
  otlp_grpc: {endpoint: "${env:NETDATA_OTLP_ENDPOINT}", tls: {insecure: true}}
service:
  extensions: [file_storage]
  pipelines:
    metrics: {receivers: [otlp], processors: [cardinality_guard], exporters: [otlp_grpc]}
`

// TestAMergedCounterGoesOnAfterAKill kills the collector between two points of a run; what came after the last flush before counts too.
func TestAMergedCounterGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	env := newFolders(t).env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	c := collector.Start(t, collector.Options{YAML: guardWithStorage, Env: env})
	began := pcommon.NewTimestampFromTime(time.Now())
	send := func(run string, value int64) {
		md := pmetric.NewMetrics()
		sm := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
		p := addSum(sm, began, "training.steps", pmetric.AggregationTemporalityCumulative, run, value).Sum().DataPoints().At(0)
		p.SetStartTimestamp(began)
		p.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		exportMetrics(t, env["OTLP_ENDPOINT"], md)
	}
	arrived := func(value string) func() bool {
		return func() bool {
			points := series.Points(sink.Metrics()...)
			return len(points) > 0 && points[len(points)-1].Value == value
		}
	}
	send("a", 100)
	send("b", 20)
	require.Eventually(t, arrived("120"), resultWithin, 20*time.Millisecond)
	c.Kill()
	c.Start()
	send("a", 130)
	send("b", 25)
	require.Eventually(t, arrived("155"), resultWithin, 20*time.Millisecond)
	var last series.Point
	for _, p := range series.Points(sink.Metrics()...) {
		require.Equal(t, began, p.Start, "one sequence")
		require.Greater(t, p.Time, last.Time)
		require.Equal(t, map[string]any{"phase": "train"}, map[string]any{"phase": p.Attributes["phase"]})
		last = p
	}
}
