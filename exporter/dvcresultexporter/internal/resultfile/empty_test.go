package resultfile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// A run of which nothing is known that DVC shows has no files for DVC: they would be a row without anything in it.
func TestARunWithoutMetricsHasNoRow(t *testing.T) {
	t.Parallel()
	names := func(st *trainrun.State) (out []string) {
		for _, f := range Render(st, Verdict{Final: true}, Options{MaxPoints: 10}) {
			out = append(out, f.Name)
		}
		return out
	}
	assert.Equal(t, []string{ResultName}, names(&trainrun.State{RunID: "a"}))
	assert.Equal(t, []string{ParamsName, DVCName, ResultName}, names(&trainrun.State{RunID: "a", Params: map[string]any{"lr": 0.1}}))
	assert.Equal(t, []string{MetricsName, DVCName, ResultName}, names(&trainrun.State{RunID: "a", Finals: []trainrun.Final{{Name: "test/acc", Value: 1}}}))
	assert.Equal(t, "params:\n- params.yaml\n", string(dvcFile(false, true, false)))
}
