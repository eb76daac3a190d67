package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// stock is a Collector of upstream components only that calls itself 0.157.0.
func stock(t *testing.T) string {
	t.Helper()
	path := filepath.Join(collector.Root(t), "build", "stock", "stock")
	_, err := os.Stat(path)
	require.NoError(t, err, "no Collector to compare with: run make stock")
	return path
}

// rootOnly leaves out the other file systems of the machine: what is mounted or unmounted meanwhile is no difference of the binaries.
const rootOnly = "receivers: {host_metrics: {scrapers: {filesystem: {include_mount_points: {match_type: strict, mount_points: [/]}}}}}\n"

// withoutPin is what the host ran before: nobody pins the version of the binary that is there.
const withoutPin = `
service:
  pipelines:
    metrics/gpu: {processors: [memory_limiter, batch]}
    metrics/host: {processors: [memory_limiter, batch]}
`

// withGuard puts the guard where the training configuration has it.
const withGuard = `
processors: {cardinality_guard/gpu: {}}
service:
  pipelines:
    metrics/gpu: {processors: [memory_limiter, cardinality_guard/gpu, transform/pin_scope, batch]}
    metrics/host: {processors: [memory_limiter, cardinality_guard/gpu, transform/pin_scope, batch]}
`

// TestReplacingTheBinaryKeepsEverySeries runs the old and the new binary on the same exporter and compares all that Netdata tells series
// apart by, and the values of what the exporter says.
func TestReplacingTheBinaryKeepsEverySeries(t *testing.T) {
	t.Parallel()
	exporter := dcgm.Serve(t, filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	before := scrapedTwice(t, exporter, collector.Options{Binary: stock(t), YAML: withoutPin})
	wantSet, wantValues := series.Keys(before, nil), valuesOf(exporter, before)
	require.GreaterOrEqual(t, len(wantValues), 60)

	for name, overlay := range map[string]string{
		"as shipped":     "",
		"with the guard": withGuard,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := scrapedTwice(t, exporter, collector.Options{YAML: overlay})
			assert.Equal(t, wantSet, series.Keys(after, nil))
			assert.Equal(t, wantValues, valuesOf(exporter, after))
		})
	}

	t.Run("not without the pin", func(t *testing.T) {
		t.Parallel()
		after := scrapedTwice(t, exporter, collector.Options{YAML: withoutPin})
		assert.NotEqual(t, wantSet, series.Keys(after, nil), "the pin is there for nothing")
	})
}

// valuesOf is the last value of every series of the exporter; how long a scrape took differs from run to run.
func valuesOf(exporter *dcgm.Server, points []series.Point) map[string]string {
	values := map[string]string{}
	for _, p := range ofExporter(exporter, points) {
		if p.Name != "scrape_duration_seconds" {
			values[p.Key()] = p.Value
		}
	}
	return values
}
