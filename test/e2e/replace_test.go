package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

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
	before := scrapedTwice(t, exporter, collector.Options{Binary: collector.Stock(t), YAML: withoutPin})
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

// trainingOfThePage is what the page adds to a host's configuration, with the test's folders.
func trainingOfThePage(t *testing.T, f folders) string {
	t.Helper()
	blocks := markdown.Blocks(markdown.Section(t, markdown.Page(t, "docs/replace-host-collector.md"), "4. Add training"), "yaml")
	require.NotEmpty(t, blocks)
	return strings.NewReplacer("/var/lib/otelcol-train/storage", f.State, "/srv/runs", f.Runs, "/srv/results", f.Results).Replace(blocks[0])
}

// TestTrainingIsAddedBesideAStorageThatTheHostHas: to Netdata's own recipes, which have no limiter and no health check, and keep the offsets of their
// logs where they were: elsewhere all logs would be sent again.
func TestTrainingIsAddedBesideAStorageThatTheHostHas(t *testing.T) {
	t.Parallel()
	f, old := newFolders(t), t.TempDir()
	here := strings.Replace(trainingOfThePage(t, f), "extensions: [", "extensions: [file_storage, ", 1) // the page: with your own
	recipes := filepath.Join("..", "compat", "testdata", "14-netdata-recipes.yaml")
	c := collector.Start(t, collector.Options{Configs: []string{recipes}, YAML: here, Env: map[string]string{"STORAGE_DIR": old}})
	c.Stop()
	assert.FileExists(t, filepath.Join(old, "receiver_filelog_app"))
	found, err := os.ReadDir(f.State)
	require.NoError(t, err)
	assert.NotEmpty(t, found)
}

// TestTrainingIsAddedToTheHostOfTodayAsThePageSays: its block over the configuration of the swap makes results, takes readings of GPUs for
// them, and sends masked copies; the series of the exporter stay.
func TestTrainingIsAddedToTheHostOfTodayAsThePageSays(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	here := trainingOfThePage(t, f)
	exporter, sink := dcgm.Serve(t, filepath.Join("..", "testdata", "dcgm", "metrics.prom")), otlpsink.Start(t, otlpsink.Accept)
	env := hostEnv(t, exporter, sink)
	want := series.Keys(ofExporter(exporter, scrapedTwice(t, exporter, collector.Options{})), nil)
	c := collector.Start(t, collector.Options{Configs: []string{hostConfig(t)}, YAML: here, Env: env})
	c.WaitMetric("otelcol_dvc_result_gpu_readings", nil, 2, resultWithin)
	tr := newTrainer(t, f, "added")
	tr.lines(
		`{"schema":"pathologize.ml.training/1","ts":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","event":"run.start","host":"gpu-node-17","body":{"params":{"lr":0.1}}}`,
		`{"schema":"pathologize.ml.training/1","ts":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","event":"run.end","host":"gpu-node-17","body":{"outcome":"success"}}`,
	)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(f.Results, "added", "result.json"))
		return err == nil && strings.Contains(string(text), `"outcome": "success"`) && len(sink.LogRecords()) == 2
	}, resultWithin, 50*time.Millisecond)
	assert.NotContains(t, sink.LogRecords()[0].Body().AsString(), `"lr"`)
	require.Eventually(t, func() bool {
		return len(series.Keys(ofExporter(exporter, series.Points(sink.Metrics()...)), nil)) >= len(want)
	}, resultWithin, 50*time.Millisecond)
	assert.Equal(t, want, series.Keys(ofExporter(exporter, series.Points(sink.Metrics()...)), nil))
}
