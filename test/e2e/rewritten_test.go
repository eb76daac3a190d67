package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// rewrite is a stream that its trainer opens for writing, not for appending, and what the file says in the end. The first line stays.
type rewrite struct {
	before, after []any
	outcome       string
	best          float64
	curve         map[int]float64 // val/loss by epoch
}

type fields map[string]any

// dumpedHistory is the history of Hugging Face's Trainer, dumped whole after each evaluation: killed after eight epochs, resumed from the
// checkpoint of the third. Its rows have no time.
func dumpedHistory() rewrite {
	r := rewrite{outcome: "success", best: 0.375, curve: map[int]float64{}}
	row := func(e int, loss float64) []any {
		return []any{
			fields{"loss": 2.5, "grad_norm": 1.25, "learning_rate": 5e-05, "epoch": float64(e + 1), "step": 10 * (e + 1)},
			fields{"eval_loss": loss, "eval_runtime": 1.5, "eval_samples_per_second": 10.5, "eval_steps_per_second": 1.25, "epoch": float64(e + 1), "step": 10 * (e + 1)},
		}
	}
	for e := range 8 {
		loss := 1 - float64(e)/8
		r.before = append(r.before, row(e, loss)...)
		if e < 3 {
			r.after, r.curve[e] = append(r.after, row(e, loss)...), loss
		}
	}
	for e := 3; e < 6; e++ {
		loss := 0.75 - float64(e)/16
		if e == 5 {
			loss = 0.375
		}
		r.after, r.curve[e] = append(r.after, row(e, loss)...), loss
	}
	r.after = append(r.after, fields{"train_runtime": 9.5, "train_samples_per_second": 2.5, "train_steps_per_second": 0.5, "total_flos": 1e9, "train_loss": 1.5, "epoch": 6.0, "step": 60})
	return r
}

// secondTraining is a loop with a header, that runs to its end, and then again over the same file, and fails.
func secondTraining() rewrite {
	r := rewrite{outcome: "failed", best: 0.875, curve: map[int]float64{}}
	train := func(n int, loss func(e int) float64, at int, status string) []any {
		out := []any{fields{"event": "config", "lr": 0.1}}
		for e := range n {
			out = append(out, fields{"epoch": e, "train_loss": 0.5, "val_loss": loss(e), "timestamp": at + e})
		}
		return append(out, fields{"event": "train_end", "status": status, "timestamp": at + n})
	}
	r.before = train(8, func(e int) float64 { return 0.5 - float64(e)/64 }, 1796000000, "completed")
	r.after = train(4, func(e int) float64 { return 0.875 + float64(e)/64 }, 1796005000, "failed")
	for e := range 4 {
		r.curve[e] = 0.875 + float64(e)/64
	}
	return r
}

// TestAStreamThatIsWrittenAnewIsWhatItSaysNow writes streams over, each in one go, with the first line unchanged: what stood there before
// counts no more, in curve, best and outcome, also after a kill.
func TestAStreamThatIsWrittenAnewIsWhatItSaysNow(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	env["LIVE_INTERVAL"], env["IDLE_TIMEOUT"] = "1s", "30s"
	opts := collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env}
	c := collector.Start(t, opts)
	runs := map[string]rewrite{"dumped": dumpedHistory(), "again": secondTraining()}
	for run, r := range runs {
		writeOver(t, newTrainer(t, f, run), r.before)
	}
	for run := range runs {
		waitFor(t, f, run, "of eight epochs", func(r result) bool { return r.Epochs.Completed != nil && *r.Epochs.Completed == 8 })
	}
	for run, r := range runs {
		writeOver(t, newTrainer(t, f, run), r.after[:len(r.after)-1])
	}
	for run, r := range runs {
		waitFor(t, f, run, "of the second text", func(got result) bool { return got.Epochs.Completed != nil && *got.Epochs.Completed == len(r.curve) })
	}
	c.Kill()
	for run, r := range runs {
		writeOver(t, newTrainer(t, f, run), r.after)
	}
	c.Start()
	for run, r := range runs {
		got := waitFor(t, f, run, "that has ended", func(got result) bool { return got.Outcome == r.outcome && got.Final })
		require.NotNil(t, got.Best, run)
		assert.InDelta(t, r.best, got.Best.Value, 0, run)
		assert.Equal(t, r.curve, curveOf(t, f, run), run)
	}
}

// TestOtherFilesOfARunKeepTheirRows: a file of validations beside the one that is written anew has the same first line, and so has the file after a
// rotation.
func TestOtherFilesOfARunKeepTheirRows(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	env["LIVE_INTERVAL"], env["IDLE_TIMEOUT"] = "1s", "30s"
	collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env})
	record := func(run, event string, body fields) any {
		return fields{"schema": "pathologize.ml.training/1", "event": event, "run_id": run, "body": body}
	}
	epochs := func(run string, from, to int) []any {
		rows := []any{record(run, "heartbeat", fields{})}
		for e := from; e < to; e++ {
			rows = append(rows, record(run, "epoch.end", fields{"epoch": e, "measurements": fields{"val/loss": 1 - float64(e)/16}}))
		}
		return rows
	}
	told := func(run string, completed int) {
		waitFor(t, f, run, "of so many epochs", func(r result) bool { return r.Epochs.Completed != nil && *r.Epochs.Completed == completed })
	}
	train, rotated := newTrainer(t, f, "beside"), newTrainer(t, f, "rotated")
	validations := trainer{t, filepath.Join(filepath.Dir(train.path), "val.jsonl")}
	writeOver(t, validations, epochs("beside", 0, 5))
	writeOver(t, rotated, epochs("rotated", 0, 3))
	told("beside", 5)
	told("rotated", 3)
	steps := func(loss float64) []any {
		return []any{
			record("beside", "heartbeat", fields{}), record("beside", "step.end", fields{"step": 1, "measurements": fields{"train/loss": loss}}),
			record("beside", "step.end", fields{"step": 2, "measurements": fields{"train/loss": loss}}),
		}
	}
	writeOver(t, train, steps(0.5))
	waitFor(t, f, "beside", "of the first text", func(r result) bool { return r.Records.ByEvent["step.end"] == 2 })
	writeOver(t, train, append(steps(0.75), record("beside", "run.end", fields{"outcome": "success"})))
	require.NoError(t, os.Rename(rotated.path, rotated.path+".1"))
	writeOver(t, rotated, append(epochs("rotated", 3, 5), record("rotated", "run.end", fields{"outcome": "success"})))
	for _, run := range []string{"beside", "rotated"} {
		waitFor(t, f, run, "that has ended", func(r result) bool { return r.Outcome == "success" && r.Final })
		assert.Equal(t, map[int]float64{0: 1, 1: 0.9375, 2: 0.875, 3: 0.8125, 4: 0.75}, curveOf(t, f, run), run)
	}
}

// writeOver writes a file from its start.
func writeOver(t *testing.T, tr trainer, rows []any) {
	t.Helper()
	var b strings.Builder
	for _, row := range rows {
		line, err := json.Marshal(row)
		require.NoError(t, err)
		b.Write(line)
		b.WriteByte('\n')
	}
	require.NoError(t, os.WriteFile(tr.path, []byte(b.String()), 0o644))
}

// curveOf reads the plot of val/loss.
func curveOf(t *testing.T, f folders, run string) map[int]float64 {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(f.Results, run, "plots", "metrics", "val", "loss.tsv"))
	require.NoError(t, err)
	out := map[int]float64{}
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		x, v, _ := strings.Cut(line, "\t")
		e, err := strconv.Atoi(x)
		require.NoError(t, err, line)
		value, err := strconv.ParseFloat(v, 64)
		require.NoError(t, err, fmt.Sprint(line))
		out[e] = value
	}
	return out
}

// TestFilesOfOneRunThatTellTheSame: two nodes tell the same epochs one after the other, so that the second seems to begin anew for a while; and
// ranks, which the path names, write equal lines.
func TestFilesOfOneRunThatTellTheSame(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	env["LIVE_INTERVAL"], env["IDLE_TIMEOUT"] = "1s", "30s"
	collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env,
		YAML: `receivers: {train_jsonl: {run_id: {path_regex: '/(?P<run_id>[^/]+)/(?:rank(?P<rank>\d+)|node\d)\.jsonl$'}}}`,
	})
	epoch := func(run string, e, node int) string {
		return fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":%d,"event":"epoch.end","run_id":%q,"body":{"epoch":%d,"measurements":{"val/loss":%g}}}`,
			1796000000+10*e+node, run, e, 1-float64(e)/16)
	}
	const end = `{"schema":"pathologize.ml.training/1","event":"run.end","body":{"outcome":"success"}}`
	file := func(run, name string) trainer {
		return trainer{t, filepath.Join(filepath.Dir(newTrainer(t, f, run).path), name)}
	}
	count := func(run string, n int) {
		waitFor(t, f, run, "of so many records", func(r result) bool { return r.Records.Count == n })
	}
	for e := range 4 {
		for node := range 2 {
			file("nodes", fmt.Sprintf("node%d.jsonl", node)).lines(epoch("nodes", e, node))
			count("nodes", 2*e+node+1)
		}
	}
	for n, rank := range []string{"rank1.jsonl", "rank0.jsonl"} {
		for e := range 4 {
			file("ranks", rank).lines(epoch("ranks", e, 0))
		}
		count("ranks", 4*(n+1))
	}
	file("nodes", "node0.jsonl").lines(end)
	file("ranks", "rank0.jsonl").lines(end)
	for _, run := range []string{"nodes", "ranks"} {
		waitFor(t, f, run, "that has ended", func(r result) bool { return r.Outcome == "success" && r.Final })
		assert.Equal(t, map[int]float64{0: 1, 1: 0.9375, 2: 0.875, 3: 0.8125}, curveOf(t, f, run), run)
	}
}
