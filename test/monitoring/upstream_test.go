package monitoring

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// failing sends each signal to a backend that hangs behind a queue for one request, to one that refuses for good, and, from a receiver of its
// own, to one that is not there, without a queue: upstream's counters of failures appear with the first.
const failing = `
receivers:
  otlp: {protocols: {grpc: {endpoint: "${env:QUEUED}"}}}
  otlp/direct: {protocols: {grpc: {endpoint: "${env:DIRECT}"}}}
exporters:
  otlp_grpc/hang: {endpoint: "${env:HANGS}", tls: {insecure: true}, timeout: 2s, retry_on_failure: {enabled: false}, sending_queue: {queue_size: 1, num_consumers: 1}}
  otlp_grpc/refuse: {endpoint: "${env:REFUSES}", tls: {insecure: true}, retry_on_failure: {enabled: false}}
  otlp_grpc/absent: {endpoint: "${env:ABSENT}", tls: {insecure: true}, timeout: 1s, retry_on_failure: {enabled: false}, sending_queue: {enabled: false}}
service:
  pipelines:
    logs: &queued {receivers: [otlp], exporters: [otlp_grpc/hang, otlp_grpc/refuse]}
    metrics: *queued
    traces: *queued
    logs/direct: &direct {receivers: [otlp/direct], exporters: [otlp_grpc/absent]}
    metrics/direct: *direct
    traces/direct: *direct
`

// provoked are the names of the metrics of a collector whose backends fail.
func provoked(t *testing.T, wanted map[string]bool) []string {
	t.Helper()
	queued, direct := ports.Free(t), ports.Free(t)
	c := collector.Start(t, collector.Options{YAML: failing, Env: map[string]string{
		"QUEUED": queued, "DIRECT": direct, "ABSENT": ports.Free(t),
		"HANGS": otlpsink.Start(t, otlpsink.Hang).Endpoint(), "REFUSES": otlpsink.Start(t, otlpsink.Invalid).Endpoint(),
	}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { export(t, queued) })
	}
	export(t, direct)
	wg.Wait()
	have := func() []string { return slices.Collect(maps.Keys(c.Metrics())) }
	assert.Eventually(t, func() bool {
		names := have()
		for name := range wanted {
			if !slices.Contains(names, name) {
				return false
			}
		}
		return true
	}, time.Minute, 200*time.Millisecond)
	return have()
}

// export sends one item of each signal; whether it is taken is the collector's business.
func export(t *testing.T, endpoint string) {
	t.Helper()
	client := otlpclient.Connect(t, endpoint)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ld, md, td := plog.NewLogs(), pmetric.NewMetrics(), ptrace.NewTraces()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("x")
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("x")
	m.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("x")
	_ = client.Logs(ctx, ld)
	_ = client.Metrics(ctx, md)
	_ = client.Traces(ctx, td)
}

// TestMetricsOfUpstreamAreThere: an upgrade of the core may rename what the alerts watch.
func TestMetricsOfUpstreamAreThere(t *testing.T) {
	t.Parallel()
	components := ours(t)
	wanted := map[string]bool{}
	for _, text := range watched(t) {
		for _, name := range metricName.FindAllString(text, -1) {
			if _, own := components[name]; !own {
				wanted[name] = true
			}
		}
	}
	require.GreaterOrEqual(t, len(wanted), 12, "the alerts watch the collector itself")
	have := provoked(t, wanted)
	for name := range wanted {
		assert.Contains(t, have, name)
	}
}
