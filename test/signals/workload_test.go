package signals

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// folders are where a collector under test reads and writes.
type folders struct{ collector.Folders }

func newFolders(t *testing.T) folders {
	t.Helper()
	return folders{collector.NewFolders(t)}
}

// env points a shipped configuration at the folders; no run goes idle.
func (f folders) env(t *testing.T) map[string]string {
	t.Helper()
	env := f.Env(t)
	env["IDLE_TIMEOUT"], env["LATE_GRACE"], env["GUARD_POLICY"] = "1m", "300ms", collector.Shipped(t, "policy/training.yaml")
	return env
}

// stream is the records of a run that ended now: two epochs of 0.5 s training with two steps each and 0.25 s validation.
type stream struct {
	run, outcome string
	ts           time.Time
	lines        []byte
}

func (s *stream) add(after time.Duration, event, phase string, body map[string]any) {
	s.ts = s.ts.Add(after)
	line, _ := json.Marshal(map[string]any{
		"schema": "pathologize.ml.training/1", "event": event, "run_id": s.run, "framework": "pytorch", "phase": phase, "ts": s.ts.UTC().Format(time.RFC3339Nano),
		"resource": map[string]any{"service.name": "trainer", "host.name": "gpu-01"}, "body": body,
	})
	s.lines = append(append(s.lines, line...), '\n')
}

// write appends a whole run that ends now, to the folder of a run.
func write(t *testing.T, f folders, run, outcome string) {
	t.Helper()
	s := &stream{run: run, outcome: outcome, ts: time.Now().Add(-1800 * time.Millisecond)}
	s.add(0, "run.start", "run", map[string]any{"planned_epochs": 2, "task_family": "detection"})
	for epoch := range 2 {
		at := map[string]any{"epoch": epoch}
		s.add(100*time.Millisecond, "phase.start", "train", at)
		for step := range 2 {
			s.add(200*time.Millisecond, "step.end", "train", map[string]any{
				"epoch": epoch, "step": epoch*2 + step, "samples": 32, "durations": map[string]any{"batch_s": 0.2, "data_wait_s": 0.05},
			})
		}
		s.add(100*time.Millisecond, "phase.end", "train", at)
		s.add(0, "phase.start", "validation", at)
		s.add(250*time.Millisecond, "phase.end", "validation", at)
		s.add(0, "epoch.end", "train", map[string]any{"epoch": epoch, "samples": 64, "durations": map[string]any{"data_wait_s": 0.1}})
	}
	s.add(50*time.Millisecond, "run.end", "run", map[string]any{"outcome": outcome})
	path := filepath.Join(f.Runs, run, "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, s.lines, 0o644))
}
