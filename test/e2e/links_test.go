package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestLinksThatPointUpwardsStopNothing has folders that seem endless, and wants results on time and a prompt stop.
func TestLinksThatPointUpwardsStopNothing(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	lines := sample(t, "native")
	tr := newTrainer(t, f, "native-7f3a9c")
	c := quickstart(t, f)
	c.Start()
	tr.lines(lines[:5]...)
	c.WaitMetric("otelcol_dvc_result_records", nil, 5, resultWithin)
	for _, run := range []string{"native-7f3a9c", "other"} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.Runs, run), 0o755))
		require.NoError(t, os.Symlink("..", filepath.Join(f.Runs, run, "project")))
	}
	require.NoError(t, os.Symlink("/", filepath.Join(f.Runs, "everything")))
	tr.lines(lines[5:]...)
	newTrainer(t, f, "lit").lines(append(sample(t, "lightning"), launcherEnd)...)
	requireResult(t, f, liveRuns[0])
	waitResult(t, f, "lit", "success")
	started := time.Now()
	c.Stop()
	assert.Less(t, time.Since(started), 30*time.Second)
}

// TestALinkToTheLatestRunMixesNothing moves a link from run to run, inside the glob of the host configuration.
func TestALinkToTheLatestRunMixesNothing(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: f.env(t)})
	latest := filepath.Join(f.Runs, "latest")
	for _, run := range []string{"run1", "run2", "run3"} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.Runs, run), 0o755))
		_ = os.Remove(latest)
		require.NoError(t, os.Symlink(run, latest))
		newTrainer(t, f, run).lines(append(sample(t, "hf-transformers"), launcherEnd)...)
		got := waitResult(t, f, run, "success")
		assert.Equal(t, 11, got.Records.Count, run)
	}
	assert.NoDirExists(t, filepath.Join(f.Results, "latest"))
}
