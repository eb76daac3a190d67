package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestADamagedStateKeepsNobodyFromStarting cuts or overwrites each stored file while the collector is down. It starts anew all the same,
// the file is put aside, results stay, and runs go on.
func TestADamagedStateKeepsNobodyFromStarting(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := quickstart(t, f)
	c.Start()
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:00Z","event":"epoch.end","run_id":"long","body":{"epoch":%d,"measurements":{"val/loss":%g}}}`, i, 1/float64(i+1)))
	}
	newTrainer(t, f, "long").lines(lines...)
	newTrainer(t, f, "done").lines(sample(t, "hf-transformers")...)
	c.WaitMetric("otelcol_dvc_result_records", nil, float64(len(lines)), resultWithin)
	waitResult(t, f, "done", "success")
	waitResult(t, f, "long", "stalled")
	before := tree(t, f.Results)
	c.Kill()
	whole := filepath.Join(t.TempDir(), "whole")
	require.NoError(t, os.CopyFS(whole, os.DirFS(f.State)))

	for _, cut := range []int64{0, 1, 4096, 8192, 12288, 30000, 102400, -1} {
		require.NoError(t, os.RemoveAll(f.State))
		require.NoError(t, os.CopyFS(f.State, os.DirFS(whole)))
		files, err := filepath.Glob(filepath.Join(f.State, "*"))
		require.NoError(t, err)
		damaged := 0
		for _, file := range files {
			if damage(t, file, cut) {
				damaged++
			}
		}
		require.NotZero(t, damaged)
		c.Start()
		require.Eventually(t, func() bool { return c.Running() }, time.Minute, 50*time.Millisecond)
		if aside, _ := filepath.Glob(filepath.Join(f.State, "*.backup")); cut != 0 {
			assert.NotEmpty(t, aside, cut)
		}
		c.Kill()
		for _, run := range []string{"done", "long"} {
			assert.Contains(t, tree(t, f.Results), run+"/result.json", cut)
		}
	}
	c.Start()
	newTrainer(t, f, "next").lines(sample(t, "ultralytics")...)
	waitResult(t, f, "next", "stalled")
	require.Eventually(t, func() bool {
		now := tree(t, f.Results)
		return now["done/result.json"] == before["done/result.json"] && now["long/result.json"] == before["long/result.json"]
	}, resultWithin, 50*time.Millisecond, "streams are read anew, results are what they were")
}

// damage cuts a file, or with -1 overwrites what follows its head; it answers false for one that is shorter already.
func damage(t *testing.T, file string, cut int64) bool {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	if cut >= info.Size() {
		return false
	}
	if cut >= 0 {
		require.NoError(t, os.Truncate(file, cut))
		return true
	}
	h, err := os.OpenFile(file, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = h.WriteAt([]byte(strings.Repeat("garbage!", int(info.Size()-8192)/8)), 8192)
	require.NoError(t, err)
	require.NoError(t, h.Close())
	return true
}

// TestADamagedStateWithoutRecreateSaysWhatToDo: an operator who does not want it put aside is told which file it is.
func TestADamagedStateWithoutRecreateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	require.NoError(t, os.MkdirAll(f.State, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(f.State, "exporter_dvc_result_"), []byte(strings.Repeat("x", 40000)), 0o600))
	out, err := collector.Run(t, collector.Options{Env: f.env(t)}, "--config", collector.Shipped(t, "quickstart.yaml"), "--config", "yaml:extensions::file_storage::recreate: false")
	require.Error(t, err)
	assert.Contains(t, out, "move the file exporter_dvc_result_ of the storage's folder away and start again")
}
