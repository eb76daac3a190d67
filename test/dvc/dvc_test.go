package dvc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/testdata"
)

const within = 60 * time.Second

// stream appends lines to a run's stream.
func stream(t *testing.T, runs, run string, lines []string) {
	t.Helper()
	path := filepath.Join(runs, run, "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func waitOutcome(t *testing.T, results, run, outcome string) {
	t.Helper()
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(filepath.Join(results, run, "result.json"))
		var r struct{ Outcome string }
		return err == nil && json.Unmarshal(b, &r) == nil && r.Outcome == outcome
	}, within, 50*time.Millisecond, "run %s never had the outcome %s", run, outcome)
}

// leaf gives the value of a metrics file in the output of dvc metrics show --json.
func leaf(t *testing.T, shown, file string, path ...string) any {
	t.Helper()
	var doc map[string]struct {
		Data map[string]struct {
			Data map[string]any `json:"data"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(shown), &doc), shown)
	var v any = doc[""].Data[file].Data
	for _, key := range path {
		m, ok := v.(map[string]any)
		require.True(t, ok, "%s: no %v in %s", file, path, shown)
		v = m[key]
	}
	return v
}

func TestDVCShowsAndComparesWrittenResults(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	runs, results := t.TempDir(), filepath.Join(repo.dir, "results")
	native, err := testdata.Stream("native")
	require.NoError(t, err)
	hf, err := testdata.Stream("hf-transformers")
	require.NoError(t, err)
	half := slices.IndexFunc(native, func(l string) bool { return strings.Contains(l, `"epoch.end"`) && strings.Contains(l, `"epoch": 1`) }) + 1
	stream(t, runs, "native-7f3a9c", native[:half])
	stream(t, runs, "hf", hf)

	env := collector.Folders{Runs: runs, Results: results, State: t.TempDir()}.Env(t)
	env["IDLE_TIMEOUT"], env["LATE_GRACE"] = "2s", "200ms"
	collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env})
	waitOutcome(t, results, "native-7f3a9c", "stalled")
	waitOutcome(t, results, "hf", "success")

	shown := repo.run("metrics", "show", "--json")
	assert.InDelta(t, 1.05, leaf(t, shown, "results/native-7f3a9c/metrics.json", "val", "loss"), 0)
	assert.InDelta(t, 1.2, leaf(t, shown, "results/native-7f3a9c/metrics.json", "train", "loss"), 0)
	assert.InDelta(t, 1, leaf(t, shown, "results/native-7f3a9c/metrics.json", "step"), 0)
	assert.InDelta(t, 1.8466215133666992, leaf(t, shown, "results/hf/metrics.json", "val", "loss"), 0)
	assert.InDelta(t, 0.5575, leaf(t, shown, "results/hf/metrics.json", "val", "accuracy"), 0)
	repo.commit("results so far")

	stream(t, runs, "native-7f3a9c", native[half:])
	waitOutcome(t, results, "native-7f3a9c", "success")
	var diff map[string]map[string]struct{ Old, New, Diff any }
	out := repo.run("metrics", "diff", "--json", "HEAD")
	require.NoError(t, json.Unmarshal([]byte(out), &diff), out)
	changed := diff["results/native-7f3a9c/metrics.json"]
	assert.InDelta(t, 1.05, changed["val.loss"].Old, 0, out)
	assert.InDelta(t, 0.9, changed["val.loss"].New, 0)
	assert.InDelta(t, -0.15, changed["val.loss"].Diff, 1e-9)
	assert.InDelta(t, 3, changed["step"].New, 0)
	assert.NotContains(t, diff, "results/hf/metrics.json", "a result that did not change shows no difference")

	params := repo.run("params", "diff", "--json", "--all", "HEAD~1")
	assert.Contains(t, params, `"lr"`)
	assert.NotContains(t, params, "hf_secret", "a secret is masked before it reaches a file")
	plots := repo.run("plots", "show", "--json")
	assert.Contains(t, plots, "results/native-7f3a9c/plots/metrics/val/loss.tsv")
	assert.Empty(t, repo.git("status", "--porcelain", "--", "results/.dvc_result"), "the working folder is invisible to git")
}
