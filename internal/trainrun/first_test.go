package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWholeRun(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("run.start", 0, `"seq": 1, "framework": "lightning", "host": "gpu-1", "trace_id": "0123456789abcdef0123456789abcdef"`,
			`"planned_epochs": 3, "params": {"lr": 0.1, "hf_token": "abc"}, "objective": {"metric": "val/loss", "mode": "min"},
			 "git": {"commit": "c0ffee", "branch": "main", "dirty": false}, "command": "train.py --api-key abc",
			 "versions": {"torch": "2.9", "python": "3.12"}, "task_family": "detection"`),
		line("epoch.end", 10, `"seq": 2`, `"epoch": 0, "durations": {"train_s": 8, "validation_s": 1.5}, "measurements": {"train/loss": 2.5, "val/loss": 0.5}`),
		line("epoch.end", 20, `"seq": 3`, `"epoch": 1, "durations": {"train_s": 8, "validation_s": 1.5}, "measurements": {"train/loss": 1.5, "val/loss": 0.25}`),
		line("checkpoint.save", 21, `"seq": 4`, `"path": "best.pt", "epoch": 1, "kind": "best"`),
		line("epoch.end", 30, `"seq": 6`, `"epoch": 2, "durations": {"train_s": 8, "validation_s": 1.5}, "measurements": {"train/loss": NaN, "val/loss": 0.75}`),
		line("run.end", 31, `"seq": 7`, `"outcome": "success", "stop_reason": "early_stopping", "epochs_completed": 3, "measurements": {"test/acc": 0.875},
			"artifacts": [{"role": "report", "path": "r.html", "sha256": "aa", "size": 12}]`),
	)
	assert.Equal(t, "success", st.Outcome)
	assert.Equal(t, FromEnd, st.OutcomeFrom)
	assert.Equal(t, "early_stopping", st.StopReason)
	assert.Equal(t, second(0), st.StartedAt)
	assert.Equal(t, second(31), st.EndedAt)
	assert.Equal(t, second(31), st.LastRecordAt)
	assert.Equal(t, Epochs{Planned: ptr(3), Completed: ptr(3), Last: ptr(2), Reported: ptr(3)}, st.Epochs)
	assert.Equal(t, &Objective{Metric: "val/loss", Mode: "min", From: ObjectiveRecord}, st.Objective)
	require.NotNil(t, st.Best)
	assert.Equal(t, 0.25, st.Best.Value)
	assert.Equal(t, int64(1), st.Best.X)
	require.NotNil(t, st.Best.Checkpoint)
	assert.Equal(t, "best.pt", st.Best.Checkpoint.Path)
	train := seriesOf(st, "", "train/loss", AxisEpoch)
	assert.Equal(t, "0:2.5 1:1.5 2:NaN", curve(train))
	assert.Equal(t, int64(1), train.NonFinite)
	assert.Equal(t, ptr(2), train.FirstNonFinite)
	assert.Equal(t, int64(2), train.Count)
	assert.Equal(t, 1.5, train.Min.V)
	assert.Equal(t, []Final{{"", "test/acc", 0.875}}, st.Finals)
	assert.Equal(t, []PhaseTotal{{"train", 24e9}, {"validation", 4.5e9}}, st.Durations.Phases)
	assert.Equal(t, int64(31e9), st.Durations.Run)
	assert.Equal(t, map[string]any{"lr": 0.1, "hf_token": Mask}, st.Params)
	assert.Equal(t, "train.py --api-key ***", st.Command)
	assert.Equal(t, int64(2), st.Masked)
	assert.Equal(t, []Pair{{"python", "3.12"}, {"torch", "2.9"}}, st.Versions)
	assert.Equal(t, "detection", st.TaskFamily)
	assert.Equal(t, "lightning", st.Framework)
	assert.Equal(t, "gpu-1", st.Where.Host)
	assert.Equal(t, byte(0x23), st.TraceID[1])
	assert.Equal(t, []Artifact{{"report", "r.html", "aa", ptr(12)}}, st.Artifacts)
	assert.Equal(t, "best.pt", st.Checkpoints.Best.Path)
	assert.Equal(t, int64(6), st.Records.Count)
	assert.Equal(t, int64(1), st.Records.FirstSeq)
	assert.Equal(t, int64(7), st.Records.LastSeq)
	assert.Equal(t, int64(1), st.Records.Gaps)
	assert.Equal(t, []Attempt{{
		Number: 1, Host: "gpu-1", StartedAt: second(0), EndedAt: second(31), Outcome: "success",
		FirstEpoch: ptr(0), LastEpoch: ptr(2),
	}}, st.Attempts)
	assert.Empty(t, st.Truncated)
}
