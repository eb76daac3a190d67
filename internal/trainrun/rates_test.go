package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Learning rates are curves: by group, on the axis of their record; a measurement of that name goes before.
func TestLearningRatesAreCurves(t *testing.T) {
	t.Parallel()
	e, ok := Reduce(record("epoch.end", nil, map[string]any{
		"epoch": 1, "learning_rate": map[string]any{"0": 0.25, "head": 0.5, "text": "x", "1": 1}, "measurements": map[string]any{"val/loss": 0.5, "lr/1": 0.125},
	}))
	require.True(t, ok)
	assert.Equal(t, []Value{{"lr/0", 0.25}, {"lr/1", 0.125}, {"lr/head", 0.5}, {"val/loss", 0.5}}, e.Values)
	assert.Equal(t, int64(1), e.Cut, "the text")
	e, _ = Reduce(record("step.end", nil, map[string]any{"step": 7, "learning_rate": map[string]any{"0": 0.25}}))
	assert.Equal(t, []Value{{"lr/0", 0.25}}, e.Values)
	f := New(e.RunID)
	require.True(t, f.Apply(e))
	assert.Equal(t, "lr/0", f.State().Series[0].Name)
	e, _ = Reduce(record("run.end", nil, map[string]any{"learning_rate": map[string]any{"0": 0.25}}))
	assert.Empty(t, e.Values)
	_, ok = Goal("lr/0")
	assert.False(t, ok, "a rate is no objective")
}
