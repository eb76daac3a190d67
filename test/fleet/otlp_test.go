package fleet

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// TestAGatewayPassesOnWhatAHostSends over OTLP: rows, spans and metrics, and these under the identity that they have without it.
func TestAGatewayPassesOnWhatAHostSends(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	path := filepath.Join("..", "testdata", "dcgm", "metrics.prom")
	exporter := dcgm.Serve(t, path)
	backend, direct := otlpsink.Start(t, otlpsink.Accept), otlpsink.Start(t, otlpsink.Accept)
	gateway := ports.Free(t)
	f.start("fleet-gateway-backend.yaml", "gateway-1", map[string]string{"OTLP_ENDPOINT": gateway, "BACKEND_ENDPOINT": backend.Endpoint(), "BACKEND_INSECURE": "true"})
	for name, endpoint := range map[string]string{"host-a": gateway, "host-b": direct.Endpoint()} {
		f.start("host-training.yaml", name, map[string]string{
			"NETDATA_OTLP_ENDPOINT": endpoint, "DCGM_EXPORTER_ENDPOINT": exporter.Address(), "DCGM_SCRAPE_INTERVAL": "1s", "SIGNALS_INTERVAL": "1s",
			"RESULTS_DIR": filepath.Join(f.dir, name, "results"),
		})
		f.write(name, "run-1", 0, epochs)
	}
	charts := func(sink *otlpsink.Sink) []string {
		var scraped []series.Point
		for _, p := range series.Points(sink.Metrics()...) {
			if strings.HasPrefix(p.Name, "DCGM_") {
				scraped = append(scraped, p)
			}
		}
		return series.Keys(scraped, nil)
	}
	wanted := 0
	for _, sample := range dcgm.Samples(t, path) {
		if strings.HasPrefix(sample.Name, "DCGM_") {
			wanted++
		}
	}
	for _, sink := range []*otlpsink.Sink{backend, direct} {
		require.Eventually(t, func() bool {
			return len(charts(sink)) >= wanted && f.distinct(sink) == epochs+2 && len(sink.Spans()) > 0
		}, within, 100*time.Millisecond)
	}
	assert.Equal(t, charts(direct), charts(backend))
}

// TestAGatewayWithoutKafkaLooksForNone when it is told so as the page says.
func TestAGatewayWithoutKafkaLooksForNone(t *testing.T) {
	t.Parallel()
	option := regexp.MustCompile("`--config \"(yaml:[^\"`]+)\"`").FindStringSubmatch(markdown.Page(t, "docs/fleet.md"))
	require.NotNil(t, option)
	env := map[string]string{"KAFKA_BROKERS": ports.Free(t), "HEALTH_ENDPOINT": ports.Free(t), "OTLP_ENDPOINT": ports.Free(t), "BACKEND_INSECURE": "true"}
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "fleet-gateway-backend.yaml"), option[1]}, Env: env})
	c.Stop()
	assert.NotContains(t, c.Logs(), env["KAFKA_BROKERS"])
	assert.NotContains(t, c.Logs(), "broker")
}
