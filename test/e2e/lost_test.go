package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALostStateGoesOnFromTheResult deletes what dvc_result has stored, and not the offsets of the streams, between two halves of a run.
func TestALostStateGoesOnFromTheResult(t *testing.T) {
	t.Parallel()
	live, calm := newFolders(t), newFolders(t)
	lines := sample(t, "native")
	const run = "native-7f3a9c"
	newTrainer(t, calm, run).lines(lines...)
	quickstart(t, calm).Start()
	waitResult(t, calm, run, "success")
	want := tree(t, calm.Results)

	c := quickstart(t, live)
	c.Start()
	tr := newTrainer(t, live, run)
	half := len(lines) / 2
	tr.lines(lines[:half]...)
	waitResult(t, live, run, "stalled")
	c.WaitMetric("otelcol_train_jsonl_checkpoint_writes", nil, 1, resultWithin)
	c.Stop()
	removed := 0
	entries, err := os.ReadDir(live.State)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "exporter_dvc_result") {
			require.NoError(t, os.Remove(filepath.Join(live.State, e.Name())))
			removed++
		}
	}
	require.Equal(t, 1, removed)
	c.Start()
	tr.lines(lines[half:]...)
	got := waitResult(t, live, run, "success")
	assert.Equal(t, half, got.Records.Count, "counts stay as they were")
	for name, text := range tree(t, live.Results) {
		if filepath.Base(name) != "result.json" {
			assert.Equal(t, want[name], text, name)
			continue
		}
		assert.Contains(t, text, `"coverage": "partial"`)
	}
}
