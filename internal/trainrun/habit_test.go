package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheObjectiveThatAFrameworkHasByHabit stands on the rows of epochs, phases or steps: it chooses the best epoch unless the
// run or its trainer says otherwise.
func TestTheObjectiveThatAFrameworkHasByHabit(t *testing.T) {
	t.Parallel()
	rows := []string{
		line("phase.end", 1, `"phase": "validation"`, `"epoch": 0, "objective": {"metric": "val/map", "mode": "max"}, "measurements": {"val/map": 0.5, "val/loss": 1}`),
		line("phase.end", 2, `"phase": "validation"`, `"epoch": 1, "objective": {"metric": "val/map", "mode": "max"}, "measurements": {"val/map": 0.25, "val/loss": 0.5}`),
	}
	for name, c := range map[string]struct {
		more       string
		want, from string
		epoch      int64
	}{
		"by habit":              {line("log", 3, "", ""), "val/map", ObjectiveReported, 0},
		"the run's own":         {line("run.start", 0, "", `"objective": {"metric": "val/loss", "mode": "min"}`), "val/loss", ObjectiveRecord, 1},
		"the trainer's best":    {line("epoch.end", 3, "", `"epoch": 1, "best": {"metric": "val/loss", "mode": "min"}, "objective": {"metric": "val/map", "mode": "max"}`), "val/loss", ObjectiveReported, 1},
		"a metric without name": {line("epoch.end", 3, "", `"epoch": 1, "objective": {"mode": "max"}`), "val/map", ObjectiveReported, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, append([]string{c.more}, rows...)...)
			require.NotNil(t, st.Objective)
			assert.Equal(t, c.want, st.Objective.Metric)
			assert.Equal(t, c.from, st.Objective.From)
			require.NotNil(t, st.Best)
			assert.Equal(t, c.epoch, st.Best.X)
		})
	}
}
