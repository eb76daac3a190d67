package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestEachValidationOfAnEpochCounts trains one epoch that is evaluated every hundred steps, as Hugging Face's Trainer does with
// eval_strategy="steps". A launcher tells of checkpoints and of the end.
func TestEachValidationOfAnEpochCounts(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t)})
	tr := newTrainer(t, f, "validated")
	losses := []string{"0.9", "0.7", "0.4", "0.5", "0.8"}
	for i, loss := range losses {
		step, epoch := 100*(i+1), float64(i+1)/float64(len(losses))
		tr.lines(
			fmt.Sprintf(`{"loss": %d.5, "grad_norm": 1.0, "learning_rate": 5e-05, "epoch": %g, "step": %d}`, 9-i, epoch, step),
			fmt.Sprintf(`{"eval_loss": %s, "eval_runtime": 1.5, "epoch": %g, "step": %d}`, loss, epoch, step),
			fmt.Sprintf(`{"schema": "pathologize.ml.training/1", "event": "checkpoint.save", "run_id": "validated", "body": {"path": "out/checkpoint-%d", "step": %d, "kind": "periodic"}}`, step, step),
		)
	}
	tr.lines(`{"schema": "pathologize.ml.training/1", "event": "run.end", "run_id": "validated", "body": {"outcome": "success"}}`)
	r := waitResult(t, f, "validated", "success")
	require.NotNil(t, r.Best)
	assert.InDelta(t, 0.4, r.Best.Value, 0)
	assert.Equal(t, 300, r.Best.Step)
	assert.Equal(t, "out/checkpoint-300", r.Best.Path)
	table, err := os.ReadFile(filepath.Join(f.Results, "validated", "plots", "metrics", "val", "loss.tsv"))
	require.NoError(t, err)
	assert.Equal(t, len(losses)+1, strings.Count(string(table), "\n"))
}
