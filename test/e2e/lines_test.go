package e2e

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestWhatWritersDoToLinesLeavesTheResultsAsTheyAre glues records together, leaves NUL bytes and torn lines before others,
// and puts launchers' prefixes in front.
func TestWhatWritersDoToLinesLeavesTheResultsAsTheyAre(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := quickstart(t, f)
	native := sample(t, "native")
	tr := newTrainer(t, f, liveRuns[0].id)
	tr.write("\xef\xbb\xbf" + native[0] + native[1] + "\r\n")
	tr.write(native[2] + strings.Repeat("\x00", 300_000) + native[3] + "\n")
	tr.write(`{"schema":"pathologize.ml.training/1","event":"step.end","bo` + native[4] + "\n")
	tr.write(strings.Join(native[5:], "") + "\n")
	rows := newTrainer(t, f, liveRuns[1].id)
	for _, row := range sample(t, liveRuns[1].sample) {
		rows.lines("slurm_procid 0 : \x1b[36m2026-11-29 10:00:11 | INFO | train | " + row + "\x1b[0m")
	}
	c.Start()
	requireResult(t, f, liveRuns[0])
	requireResult(t, f, liveRuns[1])
	for reason, want := range map[string]float64{"not_json": 1, "nul_bytes": 1} {
		c.WaitMetric(metricBadLines, map[string]string{"reason": reason}, want, 10*time.Second)
	}
	assert.InDelta(t, 2, c.Metrics().Sum(metricBadLines, nil), 0)
}

// TestPackedStreamsAreRead reads a finished stream that is packed, and one that is packed while it is followed.
func TestPackedStreamsAreRead(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := collector.New(t, collector.Options{
		Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t),
		YAML: `receivers: {train_jsonl: {include: ["${env:RUNS_DIR}/**/*.jsonl", "${env:RUNS_DIR}/**/*.jsonl.gz"]}}`,
	})
	finished := newTrainer(t, f, liveRuns[1].id)
	pack(t, finished.path+".gz", sample(t, liveRuns[1].sample))
	native := sample(t, "native")
	tr := newTrainer(t, f, liveRuns[0].id)
	tr.lines(native[:5]...)
	c.Start()
	rows := float64(len(sample(t, liveRuns[1].sample)))
	const accepted = "otelcol_receiver_accepted_log_records"
	c.WaitMetric(accepted, map[string]string{"receiver": "train_jsonl"}, rows+5, 20*time.Second)
	pack(t, tr.path+".gz", native)
	require.NoError(t, os.Remove(tr.path))
	requireResult(t, f, liveRuns[0])
	requireResult(t, f, liveRuns[1])
	assert.InDelta(t, rows+float64(len(native)), c.Metrics().Sum(accepted, map[string]string{"receiver": "train_jsonl"}), 0, "no line twice")
}

// pack writes lines as gzip does: under another name first, with the time of the file that it packs.
func pack(t *testing.T, path string, lines []string) {
	t.Helper()
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	_, err := w.Write([]byte(strings.Join(lines, "\n") + "\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	hidden := filepath.Join(filepath.Dir(path), ".packing")
	require.NoError(t, os.WriteFile(hidden, text.Bytes(), 0o644))
	before := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(hidden, before, before))
	require.NoError(t, os.Rename(hidden, path))
}
