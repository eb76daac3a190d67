package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestParametersToldByLines join those of the run; they begin no attempt.
func TestParametersToldByLines(t *testing.T) {
	t.Parallel()
	told := func(at float64, params string) string { return line("log", at, "", `"params": {`+params+`}`) }
	st := stateOf(t,
		told(0, `"batch": 8, "opt": {"name": "adam"}, "hf_token": "hf_abcdefghijklmnopqr"`),
		line("log", 1, "", `"planned_epochs": 3, "planned_steps": 30`),
		epoch(2, "", 0, "1"),
		told(3, `"opt": {"lr": 0.5}, "batch": 16`),
		told(4, `"opt": {"beta": [1, 2]}`))
	assert.Equal(t, map[string]any{
		"batch": int64(16), "hf_token": Mask, "opt": map[string]any{"name": "adam", "lr": 0.5, "beta": []any{int64(1), int64(2)}},
	}, st.Params)
	assert.Equal(t, int64(1), st.Masked)
	assert.Len(t, st.Attempts, 1)
	assert.Equal(t, ptr(3), st.Epochs.Planned)
	assert.Equal(t, ptr(30), st.Steps.Planned)
	assert.Empty(t, st.Truncated)
}

func TestARunStartGoesBeforeWhatLinesTell(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("run.start", 0, "", `"params": {"lr": 1, "opt": {"name": "sgd"}}`),
		line("log", 1, "", `"params": {"lr": 2, "opt": {"name": "adam", "beta": 3}, "more": 4}`))
	assert.Equal(t, map[string]any{"lr": int64(1), "opt": map[string]any{"name": "sgd", "beta": int64(3)}, "more": int64(4)}, st.Params)
	assert.Len(t, st.Attempts, 1)
	assert.Empty(t, st.ParamsChanges)
}

// TestTheBestThatAnEvaluationTells is the trainer's own word as well.
func TestTheBestThatAnEvaluationTells(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("phase.end", 1, `"phase": "validation"`, `"epoch": 0, "best": {"metric": "val/bleu", "mode": "max"}, "measurements": {"val/bleu": 3, "val/loss": 2}`))
	require.NotNil(t, st.Objective)
	assert.Equal(t, Objective{Metric: "val/bleu", Mode: ModeMax, From: ObjectiveReported}, *st.Objective)
}
