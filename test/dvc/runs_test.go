package dvc

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// exact are values whose last digit a reader may lose.
var exact = map[string]float64{
	"val/loss": 0.1 + 0.2, "val/third": 1.0 / 3, "val/small": 1e-05, "val/tiny": 5e-324, "val/large": 1.7976931348623157e308, "val/whole": 3,
	"val/mAP50(B)": 0.30000000000000004, "train/loss": 123456789.12345679, "lr/pg0": 2.5e-07,
}

func record(run string, n int, event, body string) string {
	return fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:%02dZ","event":%q,"run_id":%q,"body":%s}`, n, event, run, body)
}

// aRun is a stream with the exact values, scaled, and more that the caller gives.
func aRun(run string, scale float64, measurements, more string) []string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(exact)) {
		v := exact[name]
		if name == "val/loss" {
			v *= scale
		}
		b, _ := json.Marshal(v)
		values = append(values, fmt.Sprintf("%q:%s", name, b))
	}
	last := strings.Join(values, ",") + measurements
	return []string{
		record(run, 0, "run.start", `{"planned_epochs":2,"params":{"lr":1e-05,"scale":`+fmt.Sprint(scale)+`,"name":"no","day":"2024-01-01","at":"12:30:45","betas":[0.9,0.999],"deep":{"er":{"x":null}}}}`),
		record(run, 1, "epoch.end", `{"epoch":0,"measurements":{"val/loss":4,"train/loss":8}}`),
		record(run, 2, "epoch.end", `{"epoch":1,"measurements":{`+last+`}}`),
		record(run, 3, "run.end", `{"outcome":"success"`+more+`}`),
	}
}

// service is a collector that writes results into a repository.
type service struct {
	*collector.Process
	t       *testing.T
	runs    string
	results string
	env     map[string]string
}

func serve(t *testing.T, repo *repository, yaml string) *service {
	t.Helper()
	s := &service{t: t, runs: t.TempDir(), results: filepath.Join(repo.dir, "results")}
	s.env = collector.Folders{Runs: s.runs, Results: s.results, State: t.TempDir()}.Env(t)
	s.env["IDLE_TIMEOUT"], s.env["LATE_GRACE"], s.env["LIVE_INTERVAL"] = "1h", "100ms", "0s"
	s.Process = collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: s.env, YAML: yaml})
	return s
}

func (s *service) add(run string, lines []string) {
	s.t.Helper()
	stream(s.t, s.runs, run, lines)
	waitOutcome(s.t, s.results, run, "success")
}

// replay reads all streams once more, with nothing known of them.
func (s *service) replay(records float64) {
	s.t.Helper()
	s.Stop()
	s.env["STATE_DIR"] = s.t.TempDir()
	s.Start()
	s.WaitMetric("otelcol_dvc_result_records", nil, records, within)
	s.WaitMetric("otelcol_dvc_result_runs", map[string]string{"state": "settled"}, records/4, within)
}

func TestRealDVCOnSeveralRuns(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	s := serve(t, repo, "")
	s.add("a", aRun("a", 1, "", ""))
	repo.commit("one run")
	s.add("b", aRun("b", 2, "", ""))
	s.add("nan", aRun("nan", 3, `,"val/nan":NaN,"val/inf":-Infinity,"val/dot.ted:x":1,"val/loss/deep":2`, ""))
	status := repo.git("status", "--porcelain")
	assert.Equal(t, "?? results/b/\n?? results/nan/\n", status, "a further run changes no other file")

	shown := repo.run("metrics", "show", "--json")
	for name, want := range exact {
		got := leaf(t, shown, "results/a/metrics.json", strings.Split(name, "/")...)
		assert.Equal(t, math.Float64bits(want), math.Float64bits(got.(float64)), "%s: to the last digit", name)
	}
	assert.Equal(t, "nan", leaf(t, shown, "results/nan/metrics.json", "val", "nan"))
	assert.Equal(t, "-inf", leaf(t, shown, "results/nan/metrics.json", "val", "inf"))
	assert.NotContains(t, shown, "error")
	assert.Contains(t, repo.run("metrics", "show"), "results/b/metrics.json")

	repo.commit("three runs")
	stream(t, s.runs, "a", []string{record("a", 10, "run.start", `{"params":{"lr":2e-05}}`), record("a", 11, "epoch.end", `{"epoch":1,"measurements":{"val/loss":0.25}}`), record("a", 12, "run.end", `{"outcome":"success"}`)})
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(filepath.Join(s.results, "a", "metrics.json"))
		return err == nil && strings.Contains(string(b), `"loss": 0.25`)
	}, within, 50*time.Millisecond)

	var diff map[string]map[string]struct{ Old, New any }
	out := repo.run("metrics", "diff", "--json")
	require.NoError(t, json.Unmarshal([]byte(out), &diff), out)
	assert.Equal(t, []string{"results/a/metrics.json"}, slices.Collect(maps.Keys(diff)), "runs that did not change, one with NaN among them, show no difference")
	assert.InDelta(t, 0.25, diff["results/a/metrics.json"]["val.loss"].New, 0)
	out = repo.run("params", "diff", "--json")
	diff = nil
	require.NoError(t, json.Unmarshal([]byte(out), &diff), out)
	assert.InDelta(t, 2e-05, diff["results/a/params.yaml"]["lr"].New, 0)
	for _, args := range [][]string{{"plots", "show", "--json"}, {"plots", "diff", "--json", "HEAD~1", "HEAD"}} {
		out = repo.run(args...)
		assert.True(t, json.Valid([]byte(out)), "%v: %s", args, out)
		assert.Contains(t, out, "val/loss.tsv")
	}
	for _, args := range [][]string{{"exp", "show", "--json"}, {"exp", "show", "--csv"}, {"exp", "show"}, {"params", "diff"}, {"metrics", "diff", "--md"}} {
		out = repo.run(args...)
		assert.Contains(t, out, "lr", "%v", args)
		if args[len(args)-1] == "--json" {
			assert.True(t, json.Valid([]byte(out)), "%v: %s", args, out)
			assert.Contains(t, out, "0.3333333333333333")
			assert.NotContains(t, out, `"error": {`)
		}
	}
}

// TestRealDVCOnParamsOfOneName spells one name in several ways, which DVC refuses, and names with what its tables take for markup.
func TestRealDVCOnParamsOfOneName(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	s := serve(t, repo, "")
	params := func(n int) string {
		return fmt.Sprintf(`{"optim.lr":%[1]d1,"optim":{"lr":%[1]d2},"a.b":%[1]d3,"a":{"b":{"c":%[1]d4},"b.c":%[1]d5},"a.b.c":%[1]d6,"[/x]":%[1]d7,"[x]":{"[/":%[1]d8}}`, n)
	}
	write := func(run string, n int) {
		s.add(run, []string{record(run, 0, "run.start", `{"params":`+params(n)+`}`), record(run, 1, "epoch.end", `{"epoch":0,"measurements":{"val.loss":1,"val_loss":2,"val/loss":3,"val":4,"[/x]":5,"recall[@5]":6,"a|b":7,":smile:":8,"${a}":9,"Experiment":10,"é\\t\"":11}}`), record(run, 2, "run.end", `{"outcome":"success"}`)})
	}
	write("x", 1)
	repo.commit("a run")
	stream(t, s.runs, "x", []string{record("x", 3, "run.start", `{"params":`+params(2)+`}`), record("x", 4, "run.end", `{"outcome":"success"}`)})
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(filepath.Join(s.results, "x", "params.yaml"))
		return err == nil && strings.Contains(string(b), ": 21")
	}, within, 50*time.Millisecond)
	var diff map[string]map[string]struct{ Old, New float64 }
	out := repo.run("params", "diff", "--json")
	require.NoError(t, json.Unmarshal([]byte(out), &diff), out)
	var values []float64
	for name, d := range diff["results/x/params.yaml"] {
		assert.InDelta(t, 10, d.New-d.Old, 0, name)
		values = append(values, d.Old-10)
	}
	assert.ElementsMatch(t, []float64{1, 2, 3, 4, 5, 6, 7, 8}, values, out)
	assert.InDelta(t, 12, diff["results/x/params.yaml"]["optim.lr"].Old, 0, "the nested one keeps the name")
	for _, args := range [][]string{{"params", "diff"}, {"exp", "show"}, {"exp", "show", "--csv"}, {"exp", "show", "--json"}, {"metrics", "show", "--md"}, {"plots", "show", "--json"}} {
		assert.NotContains(t, repo.run(args...), `"error": {`, "%v", args)
	}
}

func TestRealDVCSeesNoChangeAfterAReplay(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	s := serve(t, repo, "exporters: {dvc_result: {report: true, plots: {full_fidelity: true}}}")
	for _, run := range []string{"a", "b", "tracked"} {
		s.add(run, aRun(run, 1, "", ""))
	}
	repo.run("add", "results/tracked")
	repo.commit("results, one of them under DVC")
	assert.Contains(t, repo.run("status"), "up to date")
	s.replay(12)
	s.Stop()
	assert.Empty(t, repo.git("status", "--porcelain"), "a replay of all streams changes nothing")
	assert.Contains(t, repo.run("status"), "up to date")
	repo.run("add", "results/tracked")
	assert.Empty(t, repo.git("status", "--porcelain"), "the digest of the folder is the same")
}

// TestDigestsAreThoseOfDVC compares what is written of files and folders with what DVC names them by.
func TestDigestsAreThoseOfDVC(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	ckpt := filepath.Join(repo.dir, "ckpt")
	for name, text := range map[string]string{"best.pt": "weights\r\n", "model/b.bin": "b", "model/sub/ä \"x\".json": "{}", "model/a.txt": "a\n", "model/empty": ""} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(ckpt, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(ckpt, name), []byte(text), 0o600))
	}
	s := serve(t, repo, fmt.Sprintf("exporters: {dvc_result: {artifacts: {allowed_roots: [%q], path_map: [{from: /workspace, to: %q}]}}}", ckpt, ckpt))
	s.add("x", aRun("x", 1, "", `,"artifacts":[{"role":"model","path":"/workspace/best.pt"},{"role":"export","path":"model"}]`))
	b, err := os.ReadFile(filepath.Join(s.results, "x", "result.json"))
	require.NoError(t, err)
	var doc struct {
		Artifacts []struct{ Path, Status, MD5 string }
	}
	require.NoError(t, json.Unmarshal(b, &doc))
	got := map[string]string{}
	for _, a := range doc.Artifacts {
		assert.Equal(t, "ok", a.Status, a.Path)
		got[a.Path] = a.MD5
	}
	repo.run("add", "ckpt/best.pt", "ckpt/model")
	for path, file := range map[string]string{"/workspace/best.pt": "best.pt.dvc", "model": "model.dvc"} {
		text, err := os.ReadFile(filepath.Join(ckpt, file))
		require.NoError(t, err)
		found := regexp.MustCompile(`md5: (\S+)`).FindSubmatch(text)
		require.Len(t, found, 2, string(text))
		assert.Equal(t, string(found[1]), got[path], path)
	}
}
