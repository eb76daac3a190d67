package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/testdata"
)

const (
	resultWithin = 60 * time.Second
	launcherEnd  = `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:01:00Z","event":"run.end","body":{"outcome":"success","stop_reason":"exit status 0"}}`
)

// folders are where a collector under test reads and writes.
type folders struct{ collector.Folders }

func newFolders(t *testing.T) folders {
	t.Helper()
	return folders{collector.NewFolders(t)}
}

// env points a shipped configuration at the folders; runs go idle after seconds so that tests end.
func (f folders) env(t *testing.T) map[string]string {
	t.Helper()
	env := f.Env(t)
	env["IDLE_TIMEOUT"], env["LATE_GRACE"] = "5s", "300ms"
	return env
}

// quickstart prepares a collector with config/quickstart.yaml.
func quickstart(t *testing.T, f folders) *collector.Process {
	t.Helper()
	return quickstartWith(t, f.env(t))
}

func quickstartWith(t *testing.T, env map[string]string) *collector.Process {
	t.Helper()
	return collector.New(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env})
}

// sample gives the lines of a sample stream.
func sample(t *testing.T, name string) []string {
	t.Helper()
	lines, err := testdata.Stream(name)
	require.NoError(t, err)
	return lines
}

// trainer writes a run's stream as a trainer does.
type trainer struct {
	t    *testing.T
	path string
}

func newTrainer(t *testing.T, f folders, run string) trainer {
	t.Helper()
	path := filepath.Join(f.Runs, run, "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	return trainer{t: t, path: path}
}

// write appends text as it is.
func (tr trainer) write(text string) {
	tr.t.Helper()
	file, err := os.OpenFile(tr.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(tr.t, err)
	_, err = file.WriteString(text)
	require.NoError(tr.t, err)
	require.NoError(tr.t, file.Close())
}

// lines appends whole lines.
func (tr trainer) lines(lines ...string) {
	tr.t.Helper()
	for _, l := range lines {
		tr.write(l + "\n")
	}
}

// result is what tests read of a result.json.
type result struct {
	RunID       string   `json:"run_id"`
	Outcome     string   `json:"outcome"`
	StopReason  string   `json:"stop_reason"`
	Final       bool     `json:"final"`
	Provisional bool     `json:"provisional"`
	Best        *bestOne `json:"best"`
	Epochs      struct {
		Planned, Completed, Last *int
	} `json:"epochs"`
	Records struct {
		Count   int            `json:"count"`
		ByEvent map[string]int `json:"by_event"`
	} `json:"records"`
	Source struct {
		Framework struct{ Name string }
	} `json:"source"`
	Failures  []struct{ Type, Message string } `json:"failures"`
	Artifacts []struct{ Role, Path string }    `json:"artifacts"`
}

type bestOne struct {
	Metric, Mode string
	Value        float64
	Step         int
	Checkpoint   string
	Path         string `json:"checkpoint_path"`
}

// waitResult waits for a result with an outcome.
func waitResult(t *testing.T, f folders, dir, outcome string) result {
	t.Helper()
	return waitFor(t, f, dir, "with the outcome "+outcome, func(r result) bool { return r.Outcome == outcome })
}

// waitFor waits for a result that is as wanted.
func waitFor(t *testing.T, f folders, dir, what string, wanted func(result) bool) result {
	t.Helper()
	var r result
	path := filepath.Join(f.Results, dir, "result.json")
	require.Eventuallyf(t, func() bool {
		b, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		if r = (result{}); json.Valid(b) {
			keepsSchema(t, b)
		}
		return json.Unmarshal(b, &r) == nil && wanted(r)
	}, resultWithin, 30*time.Millisecond, "no result %s %s", path, what)
	return r
}

// tree reads every file below dir, but the working folder of the exporter.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".dvc_result":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		b, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		files[rel] = string(b)
		if d.Name() == "result.json" {
			keepsSchema(t, b)
		}
		return errors.Join(err, relErr)
	})
	require.NoError(t, err)
	return files
}

var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	return jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "exporter", "dvcresultexporter", "result.schema.json"))
})

// keepsSchema holds a result to the schema that is shipped.
func keepsSchema(t *testing.T, result []byte) {
	t.Helper()
	s, err := schema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(result))
	require.NoError(t, err, string(result))
	require.NoError(t, s.Validate(doc), string(result))
}

// pause waits as a trainer does between two lines; it is part of the load, not a wait for a condition.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// TestALivingRunSaysHowFarItIs reads a result while its run goes on, and again after the collector was killed.
func TestALivingRunSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	env["LIVE_INTERVAL"], env["IDLE_TIMEOUT"] = "1s", "1h"
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env})
	tr := newTrainer(t, f, "living")
	epoch := func(n int) {
		tr.lines(fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":%d,"event":"epoch.end","body":{"epoch":%d,"measurements":{"val/loss":%d}}}`, 1_800_000_000+n, n, 9-n))
		waitFor(t, f, "living", fmt.Sprintf("that goes on after epoch %d", n), func(r result) bool {
			return !r.Final && r.Epochs.Completed != nil && *r.Epochs.Completed == n+1 && r.Best != nil && r.Best.Step == n
		})
	}
	epoch(0)
	epoch(1)
	c.Kill()
	c.Start()
	epoch(2)
}
