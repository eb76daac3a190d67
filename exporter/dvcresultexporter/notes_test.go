package dvcresultexporter

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestWhatIsToBeMendedIsSaid in the result and in one log line.
func TestWhatIsToBeMendedIsSaid(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		for _, id := range []string{"a", "b"} {
			r.feed(stream(record(id, 0, "run.start", `"objective":{"metric":"val/none","mode":"min"}`), epoch(id, 0),
				epoch(id, 1), epoch(id, 2), epoch(id, 1000),
				record(id, 200, "epoch_end", ""), record(id, 300, "run.end", `"outcome":"completed"`))...)
		}
		pass(time.Minute)
		text := r.files("a")["result.json"]
		assert.Contains(t, text, `"what": "objective_never_measured"`)
		assert.Contains(t, text, `"what": "outcome_off_list"`)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`body.outcome: "completed", want success, failed or aborted`).Len())
		assert.Contains(t, text, `"what": "event_off_list"`)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`event: "epoch_end", want one of run.start, epoch.end, step.end`).Len())
		assert.Contains(t, text, `"what": "epochs_jump"`)
		keepsSchema(t, []byte(text))
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`body.epoch: 1000 is much farther`).Len())
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`no record measures "val/none"`).Len())
	})
}

// TestSeveralValidationsOfAnEpoch are a curve over steps in all files.
func TestSeveralValidationsOfAnEpoch(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		lines := []string{record("a", 0, "run.start", `"objective":{"metric":"val/loss","mode":"min"}`)}
		for i, loss := range []string{"0.9", "0.4", "0.6"} {
			n := 100 * (i + 1)
			lines = append(lines, record("a", n, "phase.end", fmt.Sprintf(`"epoch":0,"step":%d,"measurements":{"val/loss":%s}`, n, loss)),
				record("a", n+1, "checkpoint.save", fmt.Sprintf(`"step":%d,"path":"out/checkpoint-%d"`, n, n)))
		}
		lines = append(lines, record("a", 400, "epoch.end", `"epoch":0,"measurements":{"val/loss":0.5}`), record("a", 500, "run.end", `"outcome":"success"`))
		r.feed(stream(lines...)...)
		pass(time.Minute)
		files := r.files("a")
		keepsSchema(t, []byte(files["result.json"]))
		assert.Contains(t, files["result.json"], `"what": "values_without_step"`)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`some tell no step and are left out`).Len())
		assert.Equal(t, "step\tloss\n100\t0.9\n200\t0.4\n300\t0.6\n", files["plots/metrics/val/loss.tsv"])
		var doc struct {
			Best struct {
				Axis       string
				Step       int
				Value      float64
				Checkpoint string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(files["result.json"]), &doc))
		assert.Equal(t, "step", doc.Best.Axis)
		assert.Equal(t, 200, doc.Best.Step)
		assert.InDelta(t, 0.4, doc.Best.Value, 0)
		assert.Contains(t, files["result.json"], "out/checkpoint-200")
	})
}

// TestARunWithoutItsBeginningIsPartial: the storage was lost, the receiver's offsets were not.
func TestARunWithoutItsBeginningIsPartial(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")[3:]...)
		pass(time.Minute)
		assert.Contains(t, r.files("a")["result.json"], `"coverage": "partial"`)
		assert.Equal(t, "1", r.metric("otelcol_dvc_result_partial_results"))
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("beginning of a run's stream is missing").Len())
		r.feed(wholeRun("a")[:3]...)
		pass(time.Minute)
		assert.NotContains(t, r.files("a")["result.json"], "coverage")
	})
}

// TestTwoFoldersOfOneName are named: whether they are one run, no record says.
func TestTwoFoldersOfOneName(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		for i, file := range []string{"/a/x/train.jsonl", "/a/x/more.jsonl", "/b/x/train.jsonl"} {
			ld := logsOf(t, inFile(int64(i), stream(epoch("x", i), epoch("x", i+1)))...)
			for _, rl := range ld.ResourceLogs().All() {
				rl.ScopeLogs().At(0).LogRecords().At(0).Attributes().PutStr(trainrecord.AttrLogFilePath, file)
			}
			require.NoError(t, r.exp.consumeLogs(t.Context(), ld))
		}
		pass(time.Hour)
		assert.Contains(t, r.files("x")["result.json"], `"streams": 3`)
		found := r.logs.FilterMessageSnippet("Files of two folders").All()
		require.Len(t, found, 1)
		assert.Equal(t, []any{"/a/x/train.jsonl", "/b/x/train.jsonl"}, found[0].ContextMap()["files"])
	})
}

func TestAStorageThatAnotherHolds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		first, tel := r.exp, r.tel
		require.ErrorContains(t, r.tryStart(), "open the client of dvc_result")
		require.NoError(t, r.tel.Shutdown(t.Context()))
		r.exp, r.tel = first, tel
		r.stop()
	})
}
