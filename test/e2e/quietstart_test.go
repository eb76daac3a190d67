package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

// TestWhatAHealthyCollectorWarnsOfIsOnThePage: a line of the log that means nothing is looked up all the same.
func TestWhatAHealthyCollectorWarnsOfIsOnThePage(t *testing.T) {
	t.Parallel()
	section := markdown.Section(t, markdown.Page(t, "docs/troubleshooting.md"), "Lines of the log that mean nothing")
	var harmless []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^|]+)` \\|").FindAllStringSubmatch(section, -1) {
		harmless = append(harmless, row[1])
	}

	f := newFolders(t)
	exporter := dcgm.Serve(t, filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["DCGM_EXPORTER_ENDPOINT"] = otlpsink.Start(t, otlpsink.Accept).Endpoint(), exporter.Address()
	env["DCGM_SCRAPE_INTERVAL"] = "1s"
	old := "receivers: {hostmetrics: {collection_interval: 10s, scrapers: {load: {}}}}\n" + // as configurations from before have it
		"service: {pipelines: {metrics/old: {receivers: [hostmetrics], processors: [batch], exporters: [otlp_grpc/netdata]}}}\n"
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: old})
	newTrainer(t, f, "run-7").lines(`{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"run-7","body":{"outcome":"success"}}`)
	waitResult(t, f, "run-7", "success")
	c.Stop()
	seen := map[string]bool{}
	for line := range strings.Lines(c.Logs()) {
		if !strings.Contains(line, "\twarn\t") && !strings.Contains(line, "\terror\t") {
			continue
		}
		if strings.Contains(line, "@v0.0.0/") {
			continue // ours: docs/log-messages.md has them
		}
		known := false
		for _, text := range harmless {
			if strings.Contains(line, text) {
				known, seen[text] = true, true
			}
		}
		assert.True(t, known, line)
	}
	for _, text := range harmless {
		if text != "config set when running in docker environment" { // said in a container only
			assert.True(t, seen[text], "no log has %q", text)
		}
	}
}
