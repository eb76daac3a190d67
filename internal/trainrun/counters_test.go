package trainrun

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rowOf is a row of several curves, by the number of a batch or the step of the run.
func rowOf(epoch, step int, measurements string) string {
	return line("step.end", -1, "", fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {%s}`, epoch, step, measurements))
}

// besides are epochs of a training that tells the steps of the run, with a validation after each that counts its batches anew.
func besides(from, to int) (lines []string) {
	for e := from; e < to; e++ {
		for b := range 3 {
			lines = append(lines, rowOf(e, 3*e+b+1, fmt.Sprintf(`"train/loss": %d`, 100-3*e-b)))
		}
		for b := range 2 {
			lines = append(lines, rowOf(e, b, fmt.Sprintf(`"val/loss": %d.%d`, 9-e, b)))
		}
	}
	return lines
}

// TestBatchesOfAValidationBesideStepsOfTheRun: each curve has the places that its own rows tell.
func TestBatchesOfAValidationBesideStepsOfTheRun(t *testing.T) {
	t.Parallel()
	begin := line("run.start", -1, "", `"planned_steps": 10`)
	st := stateOf(t, append([]string{begin}, besides(0, 3)...)...)
	assert.Equal(t, "1:100 2:99 3:98 4:97 5:96 6:95 7:94 8:93 9:92", curve(seriesOf(st, "", "train/loss", AxisStep)))
	val := seriesOf(st, "", "val/loss", AxisOrder)
	require.NotNil(t, val)
	assert.Equal(t, "0:9 1:9.1 2:8 3:8.1 4:7 5:7.1", curve(val))
	assert.Len(t, st.Series, 2)
	assert.InDelta(t, 7.0, st.Best.Value, 0)
	assert.Equal(t, []Note{{NoteSteps, ""}}, st.Notes)
	assert.Equal(t, Steps{Planned: ptr(10), Last: ptr(9)}, st.Steps, "the training counts from 1: a step is to be done")

	t.Run("resumed", func(t *testing.T) {
		t.Parallel()
		again := line("run.start", -1, "", `"resumed_from": {"epoch": 2}`)
		lines := append(append([]string{begin}, besides(0, 3)...), again)
		st := stateOf(t, append(lines, besides(2, 4)...)...)
		require.Len(t, st.Attempts, 2)
		assert.Equal(t, []*int64{ptr(7), ptr(12)}, []*int64{st.Attempts[1].FirstStep, st.Attempts[1].LastStep})
		assert.Len(t, seriesOf(st, "", "train/loss", AxisStep).Points, 12, "a batch 0 took nothing over")
		assert.Equal(t, "0:9 1:9.1 2:8 3:8.1 4:7 5:7.1 6:6 7:6.1", curve(seriesOf(st, "", "val/loss", AxisOrder)))
	})
	t.Run("thinned", func(t *testing.T) {
		t.Parallel()
		lines := []string{begin}
		for e := range 9 {
			lines = append(append(lines, besides(e, e+1)...), rowOf(e, 3*e+3, fmt.Sprintf(`"train/norm": %d`, e%4)))
		}
		f := foldOf(readStream(t, lines...))
		want := f.State()
		require.True(t, f.Thin(0))
		assertOnlyPointsGone(t, want, f.State())
	})
}

// TestACurveThatTellsALittleIsAsTheOthers: a step an epoch may be one of the run or the number of a batch.
func TestACurveThatTellsALittleIsAsTheOthers(t *testing.T) {
	t.Parallel()
	lines := func(step func(e, b int) int) (lines []string) {
		for e := range 3 {
			for b := range 10 {
				lines = append(lines, rowOf(e, step(e, b), `"train/loss": 1`))
			}
			lines = append(lines, rowOf(e, step(e, 5+e), fmt.Sprintf(`"train/norm": %d`, e)))
		}
		return lines
	}
	st := stateOf(t, lines(func(_, b int) int { return b })...)
	assert.Equal(t, "0:0 1:1 2:2", curve(seriesOf(st, "", "train/norm", AxisOrder)))
	st = stateOf(t, lines(func(e, b int) int { return 10*e + b })...)
	assert.Equal(t, "5:0 16:1 27:2", curve(seriesOf(st, "", "train/norm", AxisStep)))
	assert.Empty(t, st.Notes)

	var mixed []string // rows without values may be of both
	for i, l := range lines(func(e, b int) int { return 10*e + b }) {
		if i%11 == 0 {
			mixed = append(mixed, rowOf(i/11, 0, ""))
		}
		mixed = append(mixed, l, rowOf(i/11, i, ""))
	}
	assert.Equal(t, "5:0 16:1 27:2", curve(seriesOf(stateOf(t, mixed...), "", "train/norm", AxisStep)))
}

// TestFewerStepsAnEpochInALaterAttempt: a greater batch makes an epoch shorter, and its steps go on further back.
func TestFewerStepsAnEpochInALaterAttempt(t *testing.T) {
	t.Parallel()
	var lines []string
	for e := range 5 {
		if e == 3 {
			lines = append(lines, line("run.start", -1, "", `"resumed_from": {"epoch": 3}`))
		}
		for b := range 4 {
			if step := 4*e + b; e < 3 {
				lines = append(lines, batchRow(e, step, fmt.Sprint(step)))
			} else if b < 2 {
				lines = append(lines, batchRow(e, 2*e+b, fmt.Sprint(-2*e-b)))
			}
		}
	}
	st := stateOf(t, append([]string{line("run.start", -1, "", "")}, lines...)...)
	require.Len(t, st.Attempts, 2)
	assert.Empty(t, st.Notes)
	require.Len(t, st.Series, 1)
	assert.Equal(t, "0:0 1:1 2:2 3:3 4:4 5:5 6:-6 7:-7 8:-8 9:-9", curve(&st.Series[0]))
}
