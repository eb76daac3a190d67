package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// stepRun is a long stream of native records.
func stepRun(run string, steps int) string {
	var b strings.Builder
	line := func(event, body string) {
		fmt.Fprintf(&b, `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:00Z","event":%q,"run_id":%q,"body":%s}`+"\n", event, run, body)
	}
	line("run.start", `{"planned_epochs":10}`)
	for i := range steps {
		line("step.end", fmt.Sprintf(`{"step":%d,"epoch":%d,"measurements":{"train/loss":%d.25}}`, i, i*10/steps, steps-i))
		if (i+1)%(steps/10) == 0 {
			line("epoch.end", fmt.Sprintf(`{"epoch":%d,"step":%d,"measurements":{"val/loss":%d.5}}`, i*10/steps, i, steps-i))
		}
	}
	line("run.end", `{"outcome":"success"}`)
	return b.String()
}

// TestKillsAtAnyMomentChangeNoResult kills the collector at random moments while three trainers write in pieces of any size, and wants the
// bytes of an undisturbed run.
func TestKillsAtAnyMomentChangeNoResult(t *testing.T) {
	t.Parallel()
	const kills, steps = 10, 2000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a load, no secret
	live, calm := newFolders(t), newFolders(t)
	c := quickstart(t, live)
	c.Start()
	ids := []string{"run-a", "run-b", "run-c"}
	rest := map[string]string{}
	for _, id := range ids {
		rest[id] = stepRun(id, steps)
		newTrainer(t, calm, id).write(rest[id])
	}
	for kill := range kills + 1 {
		for _, id := range ids {
			share := len(rest[id])
			if kill < kills {
				share = 2000 + random.IntN(2*len(rest[id])/(kills-kill)+1) // several lines at least
			}
			tr := newTrainer(t, live, id)
			for share = min(share, len(rest[id])); share > 0; {
				n := min(share, 1+random.IntN(20_000))
				tr.write(rest[id][:n])
				rest[id], share = rest[id][n:], share-n
			}
		}
		if kill < kills {
			if kill%2 == 1 { // what is in the checkpoint is not read again: the exporter must have kept it
				c.WaitMetric("otelcol_train_jsonl_checkpoint_writes", nil, 1, resultWithin)
			}
			pause(t, time.Duration(random.IntN(400))*time.Millisecond)
			c.Kill()
			c.Start()
		}
	}
	quickstart(t, calm).Start()
	for _, id := range ids {
		got := waitResult(t, live, id, "success")
		assert.Equal(t, steps+12, got.Records.Count, id)
		waitResult(t, calm, id, "success")
	}
	assert.Equal(t, tree(t, calm.Results), tree(t, live.Results), "kills changed a result")
}

// TestARotatedStreamIsReadToItsEnd renames the stream of a run twice while it is written: to a name that the configuration still includes, and
// to one that it does not.
func TestARotatedStreamIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := quickstart(t, f)
	c.Start()
	lines := sample(t, "native")
	tr := newTrainer(t, f, "native-7f3a9c")
	tr.lines(lines[:5]...)
	c.WaitMetric("otelcol_dvc_result_records", nil, 5, resultWithin)
	tr.lines(lines[5:7]...)
	require.NoError(t, os.Rename(tr.path, filepath.Join(filepath.Dir(tr.path), "train.1.jsonl")))
	tr.lines(lines[7:10]...)
	c.WaitMetric("otelcol_dvc_result_records", nil, 10, resultWithin)
	tr.lines(lines[10])
	require.NoError(t, os.Rename(tr.path, tr.path+".old"))
	tr.lines(lines[11:]...)
	requireResult(t, f, liveRuns[0])
	got := waitResult(t, f, "native-7f3a9c", "success")
	assert.Equal(t, len(lines), got.Records.Count)
}

// TestARowIsReadAsItsStreamWasRecognised has rows that are Lightning's only because of the ones before a kill, or a rename.
func TestARowIsReadAsItsStreamWasRecognised(t *testing.T) {
	t.Parallel()
	before := []string{`{"lr-Adam":0.1,"step":0}`, `{"train_loss":0.5,"epoch":0,"step":49}`}
	after := []string{`{"train_loss":0.4,"epoch":0,"step":99}`, `{"train_loss":0.3,"epoch":1,"step":149}`, launcherEnd}
	calm := newFolders(t)
	newTrainer(t, calm, "lit").lines(append(before, after...)...)
	quickstart(t, calm).Start()
	waitResult(t, calm, "lit", "success")
	want := tree(t, calm.Results)
	require.Contains(t, want["lit/plots/metrics/train/loss.tsv"], "149\t0.3")
	for name, disturb := range map[string]func(c *collector.Process, tr *trainer){
		"kill": func(c *collector.Process, _ *trainer) { c.Kill(); c.Start() },
		"rename": func(_ *collector.Process, tr *trainer) {
			renamed := filepath.Join(filepath.Dir(tr.path), "renamed.jsonl")
			require.NoError(t, os.Rename(tr.path, renamed))
			tr.path = renamed
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := newFolders(t)
			c := quickstart(t, live)
			c.Start()
			tr := newTrainer(t, live, "lit")
			tr.lines(before...)
			c.WaitMetric("otelcol_train_jsonl_checkpoint_writes", nil, 1, resultWithin)
			disturb(c, &tr)
			tr.lines(after...)
			waitResult(t, live, "lit", "success")
			assert.Equal(t, want, tree(t, live.Results), "the meaning of a row has changed")
		})
	}
}
