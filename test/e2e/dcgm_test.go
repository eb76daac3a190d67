package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// scrapeSeries are the series that the prometheus receiver adds to every target.
var scrapeSeries = []string{
	"up", "scrape_duration_seconds", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling", "scrape_series_added",
}

// hostEnv points a host configuration at the test's servers.
func hostEnv(t *testing.T, exporter *dcgm.Server, sink *otlpsink.Sink) map[string]string {
	t.Helper()
	return map[string]string{
		"DCGM_EXPORTER_ENDPOINT": exporter.Address(),
		"DCGM_SCRAPE_INTERVAL":   "1s",
		"NETDATA_OTLP_ENDPOINT":  sink.Endpoint(),
		"HEALTH_ENDPOINT":        ports.Free(t),
	}
}

func hostConfig(t *testing.T) string {
	t.Helper()
	return collector.Shipped(t, "host-dcgm-netdata.yaml")
}

// scrapedTwice runs a collector with the host configuration until two scrapes and the host's own metrics have arrived, and returns all points.
func scrapedTwice(t *testing.T, exporter *dcgm.Server, opts collector.Options) []series.Point {
	t.Helper()
	sink := otlpsink.Start(t, otlpsink.Accept)
	opts.Env = hostEnv(t, exporter, sink)
	opts.Configs = []string{hostConfig(t)}
	opts.YAML = rootOnly + opts.YAML
	c := collector.Start(t, opts)
	require.Eventually(t, func() bool {
		seen := map[string]int{}
		for _, p := range series.Points(sink.Metrics()...) {
			seen[p.Name]++
		}
		return seen["up"] >= 2 && seen["system.memory.usage"] > 0
	}, 60*time.Second, 50*time.Millisecond, "no two scrapes arrived")
	c.Stop() // what waited in a batch arrives too
	return series.Points(sink.Metrics()...)
}

// ofExporter keeps the points with the resource of the exporter.
func ofExporter(exporter *dcgm.Server, points []series.Point) []series.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p series.Point) bool { return p.Resource["service.instance.id"] != exporter.Address() })
}

func TestEveryDCGMSeriesReachesTheBackend(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"metrics.prom", "metrics-60s-later.prom", "metrics-Hostname-label-pre-2026-05.prom"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exposition := filepath.Join("..", "testdata", "dcgm", name)
			exporter := dcgm.Serve(t, exposition)
			points := ofExporter(exporter, scrapedTwice(t, exporter, collector.Options{}))
			requireSameSamples(t, dcgm.Samples(t, exposition), points)
		})
	}
}

// requireSameSamples compares the exposition with what arrived: each series with its type, description, labels and value, nothing more
// than the series of the scrape itself, and these healthy.
func requireSameSamples(t *testing.T, want []dcgm.Sample, points []series.Point) {
	t.Helper()
	arrived := map[string]series.Point{}
	scrape := map[string]string{}
	for _, p := range points {
		if len(p.Attributes) == 0 {
			scrape[p.Name] = p.Value
			continue
		}
		arrived[sampleKey(p.Name, p.Attributes)] = p
	}
	for _, w := range want {
		labels := map[string]any{}
		for k, v := range w.Labels {
			labels[k] = v
		}
		key := sampleKey(w.Name, labels)
		got, ok := arrived[key]
		if !assert.True(t, ok, "%s%v did not arrive", w.Name, w.Labels) {
			continue
		}
		delete(arrived, key)
		assert.Equal(t, w.Help, got.Description, w.Name)
		assert.Equal(t, "0.157.0", got.ScopeVersion, "pinned, whatever the binary's own version is")
		assert.Equal(t, strconv.FormatFloat(w.Value, 'g', -1, 64), got.Value, "%s%v", w.Name, w.Labels)
		if w.Counter {
			assert.Equal(t, "Sum Cumulative true", got.Type+" "+got.Temporality+" "+strconv.FormatBool(got.Monotonic), w.Name)
		} else {
			assert.Equal(t, "Gauge", got.Type, w.Name)
		}
	}
	assert.Empty(t, maps.Collect(maps.All(arrived)), "series that the exposition does not have")
	for _, name := range scrapeSeries {
		assert.Contains(t, scrape, name)
	}
	assert.Equal(t, "1", scrape["up"])
	assert.Equal(t, strconv.Itoa(len(want)), scrape["scrape_samples_scraped"])
}

func sampleKey(name string, labels map[string]any) string {
	return series.Identity{Name: name, Attributes: labels}.Key()
}
