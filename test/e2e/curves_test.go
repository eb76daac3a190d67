package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
)

// TestExportedGaugesBecomeAResult runs the configuration of training_records' README and the host's: a trainer that only exports
// gauges gets a result, which says that its curves are samples. What it exports twice counts once.
func TestExportedGaugesBecomeAResult(t *testing.T) {
	t.Parallel()
	page := block(t, "connector/trainingrecordsconnector/README.md", "yaml", 0)
	for config, more := range map[string]string{"quickstart.yaml": page, "host-training.yaml": ""} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			exportedGaugesBecomeAResult(t, config, more)
		})
	}
}

func exportedGaugesBecomeAResult(t *testing.T, config, more string) {
	t.Helper()
	f := newFolders(t)
	env := f.env(t)
	env["IDLE_TIMEOUT"] = "3s"
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, config)}, Env: env, YAML: strings.Replace(more, "127.0.0.1:4319", env["OTLP_ENDPOINT"], 1),
	})
	client := otlpclient.Connect(t, env["OTLP_ENDPOINT"])
	for i := 1; i <= 9; i++ {
		input, err := os.ReadFile(filepath.Join(collector.Root(t), "connector/trainingrecordsconnector/testdata/tunix-gauges", fmt.Sprintf("input-%d.json", i)))
		require.NoError(t, err)
		md, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(input)
		require.NoError(t, err)
		require.NoError(t, client.Metrics(t.Context(), md))
	}
	r := waitResult(t, f, "sft-7f3a9c", "stalled")
	assert.Equal(t, map[string]int{"step.end": 5}, r.Records.ByEvent)
	assert.Equal(t, "tunix", r.Source.Framework.Name)
	var said struct {
		Sampled bool
		Metrics map[string]struct {
			Sampled  bool
			Points   int
			Last     float64
			LastStep int `json:"last_step"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(tree(t, f.Results)["sft-7f3a9c/result.json"]), &said))
	assert.True(t, said.Sampled)
	loss := said.Metrics["train/loss"]
	assert.True(t, loss.Sampled)
	assert.Equal(t, 12, loss.LastStep)
	assert.Equal(t, 3, loss.Points, "of the steps 3, 7 and 12")
	assert.InDelta(t, 1.5, loss.Last, 0)
	assert.InDelta(t, 6, c.Metrics().Sum("otelcol_training_records_points", map[string]string{"result": "duplicate"}), 0)
	assert.InDelta(t, 1, c.Metrics().Sum("otelcol_training_records_values", map[string]string{"result": "superseded"}), 0)
}
