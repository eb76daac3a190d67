package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"google.golang.org/grpc/metadata"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// TestSeriesOfTwoTenantsDoNotMerge sends the same series of two tenants, told apart by a header, which isolate hands on with each batch.
func TestSeriesOfTwoTenantsDoNotMerge(t *testing.T) {
	t.Parallel()
	for name, pipelines := range map[string]string{
		"at once":        "",
		"behind isolate": "connectors: {isolate: {}}\nservice: {pipelines: {metrics: {receivers: [isolate]}, metrics/in: {receivers: [otlp], exporters: [isolate]}}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := otlpsink.Start(t, otlpsink.Accept)
			endpoint := ports.Free(t)
			collector.Start(t, collector.Options{
				Env: map[string]string{"NETDATA_OTLP_ENDPOINT": sink.Endpoint(), "OTLP_ENDPOINT": endpoint},
				Configs: []string{"yaml:" + guardAlone, `yaml:receivers::otlp::protocols::grpc::include_metadata: true`,
					`yaml:processors::cardinality_guard/train::metadata_keys: [X-Tenant]`},
				YAML: pipelines,
			})
			sendOfTenants(t, endpoint, map[string]int64{"red": 3, "blue": 50})
			require.Eventually(t, func() bool {
				var values []string
				for _, p := range series.Points(sink.Metrics()...) {
					values = append(values, p.Value)
				}
				return slices.Contains(values, "6") && slices.Contains(values, "100")
			}, resultWithin, 20*time.Millisecond, "each tenant has its own series")
		})
	}
}

// sendOfTenants sends a counter of two runs of each tenant.
func sendOfTenants(t *testing.T, endpoint string, tenants map[string]int64) {
	t.Helper()
	client := otlpclient.Connect(t, endpoint)
	base := pcommon.NewTimestampFromTime(time.Now())
	for tenant, value := range tenants {
		for _, run := range []string{"a", "b"} {
			md := pmetric.NewMetrics()
			addSum(md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty(), base, "steps", pmetric.AggregationTemporalityCumulative, run, value)
			ctx := metadata.AppendToOutgoingContext(t.Context(), "x-tenant", tenant)
			require.NoError(t, client.Metrics(ctx, md))
		}
	}
}
