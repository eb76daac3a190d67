package trainrun

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// validated is the end of a validation.
func validated(at float64, head string, epoch, step int, loss string) string {
	return line("phase.end", at, head, fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {"val/loss": %s}`, epoch, step, loss))
}

func trained(at float64, head string, epoch, n int) string {
	return line("step.end", at, head, fmt.Sprintf(`"epoch_progress": %d.5, "step": %d, "measurements": {"train/loss": 1}`, epoch, n))
}

func stepless(at float64, event string, epoch int, loss string) string {
	return line(event, at, "", fmt.Sprintf(`"epoch": %d, "measurements": {"val/loss": %s}`, epoch, loss))
}

const secondAttempt = `"attempt": 2`

var axisCases = map[string]struct {
	lines         []string
	epochs, steps string
}{
	"one an epoch": {
		lines:  []string{validated(1, "", 0, 100, "3"), validated(2, "", 1, 200, "2"), validated(3, "", 2, 300, "4")},
		epochs: "0:3 1:2 2:4", steps: "none",
	},
	"two in one of them": {
		lines:  []string{validated(1, "", 0, 100, "3"), validated(2, "", 1, 150, "2"), validated(3, "", 1, 200, "4")},
		epochs: "none", steps: "100:3 150:2 200:4",
	},
	"told again at its step": {
		lines:  []string{validated(1, "", 0, 100, "3"), validated(2, "", 0, 100, "2"), validated(3, "", 1, 200, "4")},
		epochs: "0:2 1:4", steps: "none",
	},
	"again after a restart": {
		lines:  []string{validated(1, "", 0, 100, "3"), validated(2, "", 1, 200, "2"), validated(3, secondAttempt, 1, 150, "4")},
		epochs: "0:3 1:4", steps: "none",
	},
	"again after a restart whose steps go on": {
		lines:  []string{validated(1, "", 0, 100, "3"), validated(2, "", 1, 200, "2"), validated(3, secondAttempt, 1, 400, "4")},
		epochs: "0:3 1:4", steps: "none",
	},
	"a resume in the epoch takes over from its step": {
		lines: []string{
			validated(1, "", 0, 100, "5"), validated(2, "", 0, 200, "3"), validated(3, "", 0, 300, "9"),
			trained(4, secondAttempt, 0, 201), validated(5, secondAttempt, 0, 300, "4"),
		},
		epochs: "none", steps: "100:5 200:3 300:4",
	},
	"what a restart took over does not decide": {
		lines: []string{
			validated(1, "", 0, 100, "5"), validated(2, "", 0, 200, "3"),
			trained(3, secondAttempt, 0, 1), validated(4, secondAttempt, 0, 200, "4"), validated(5, secondAttempt, 1, 400, "2"),
		},
		epochs: "0:4 1:2", steps: "none",
	},
	"with values of steps": {
		lines: []string{
			validated(1, "", 0, 100, "3"), validated(2, "", 0, 200, "2"),
			line("phase.end", 3, "", `"step": 300, "measurements": {"val/loss": 1}`),
		},
		epochs: "none", steps: "100:3 200:2 300:1",
	},
	"with ends of epochs": {
		lines: []string{
			validated(1, "", 0, 100, "3"), validated(2, "", 0, 200, "2"),
			line("epoch.end", 3, "", `"epoch": 0, "step": 300, "measurements": {"val/loss": 1}`),
		},
		epochs: "none", steps: "100:3 200:2 300:1",
	},
	"one an epoch, with ends of epochs": {
		lines:  []string{validated(1, "", 0, 100, "3"), stepless(2, "epoch.end", 0, "2"), validated(3, "", 1, 200, "1")},
		epochs: "0:2 1:1", steps: "none",
	},
	"without steps": {
		lines:  []string{stepless(1, "phase.end", 0, "3"), stepless(2, "phase.end", 0, "2")},
		epochs: "0:2", steps: "none",
	},
	"a lower rank tells the ends of epochs": {
		lines: []string{
			validated(1, `"rank": 1`, 0, 100, "3"), validated(2, `"rank": 1`, 0, 200, "2"), validated(3, `"rank": 1`, 1, 300, "2"),
			stepless(4, "epoch.end", 0, "1"),
		},
		epochs: "0:1", steps: "none",
	},
	"the lowest rank alone decides": {
		lines:  []string{validated(1, "", 0, 100, "3"), validated(2, `"rank": 1`, 0, 200, "2")},
		epochs: "0:3", steps: "none",
	},
}

func TestTheAxisOfValidations(t *testing.T) {
	t.Parallel()
	for name, tc := range axisCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := readStream(t, tc.lines...)
			for range 2 {
				st := foldOf(entries).State()
				assert.Equal(t, tc.epochs, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
				assert.Equal(t, tc.steps, curve(seriesOf(st, "", "val/loss", AxisStep)))
				assert.Empty(t, st.Notes)
				for i, j := 0, len(entries)-1; i < j; i, j = i+1, j-1 {
					entries[i], entries[j] = entries[j], entries[i]
				}
			}
		})
	}
}

// An evaluation and a checkpoint every 100 steps of one epoch: the fourth is best.
func TestTheBestOfSeveralValidationsOfAnEpoch(t *testing.T) {
	t.Parallel()
	losses := []string{"0.9", "0.7", "0.5", "0.4", "0.45", "0.5", "0.6", "0.7", "0.8", "0.9"}
	save := func(at float64, body string) string {
		return line("checkpoint.save", at, "", body)
	}
	var lines, named []string
	for i, loss := range losses {
		n, at := 100*(i+1), float64(10*i)
		lines = append(lines, validated(at+1, "", 0, n, loss), save(at+2, fmt.Sprintf(`"path": "out/checkpoint-%d", "step": %d, "kind": "periodic"`, n, n)))
		if named = append(named, validated(at+1, "", 0, n, loss)); i < 4 {
			named = append(named, save(at+2, fmt.Sprintf(`"path": "ckpt/best-%d.pt", "epoch": 0, "kind": "best"`, n)))
		}
		named = append(named, save(at+3, `"path": "ckpt/last.pt", "epoch": 0, "kind": "last"`))
	}
	for path, list := range map[string][]string{"out/checkpoint-400": lines, "ckpt/best-400.pt": named} {
		st := stateOf(t, list...)
		require.NotNil(t, st.Best)
		assert.Equal(t, Best{
			Metric: "val/loss", Mode: ModeMin, Value: 0.4, Axis: AxisStep, X: 400, Time: second(31), Checkpoint: st.Best.Checkpoint,
		}, *st.Best)
		require.NotNil(t, st.Best.Checkpoint)
		assert.Equal(t, path, st.Best.Checkpoint.Path)
		assert.Equal(t, ptr(0), st.Epochs.Last)
	}
}

// A checkpoint that names only its epoch is of the curve that its stream told before it.
func TestACheckpointOfStepsThatWereGivenUpIsNotTheBest(t *testing.T) {
	t.Parallel()
	save := func(at float64, path string) string {
		return line("checkpoint.save", at, "", fmt.Sprintf(`"path": %q, "epoch": 0, "kind": "best"`, path))
	}
	st := stateOf(t,
		validated(1, "", 0, 100, "0.5"), save(2, "best-100.pt"), validated(3, "", 0, 200, "0.9"), validated(4, "", 0, 300, "0.1"), save(5, "best-300.pt"),
		validated(6, secondAttempt, 0, 300, "0.6"), validated(7, secondAttempt, 0, 400, "0.7"))
	require.NotNil(t, st.Best)
	assert.EqualValues(t, 100, st.Best.X)
	require.NotNil(t, st.Best.Checkpoint)
	assert.Equal(t, "best-100.pt", st.Best.Checkpoint.Path)
}

// The state costs a pass over the rows, not one for each checkpoint that names only its epoch.
func TestCheckpointsOfAnEpochCostNoPassEach(t *testing.T) {
	t.Parallel()
	run := func(saves bool) *Fold {
		f := newFold(testRun, defaultLimits())
		for i := range int64(100_000) {
			f.Apply(stepEntry(3*i, 1, 0, Value{"train/loss", 1}))
			if i%350 != 0 {
				continue
			}
			f.Apply(valued(3*i+1, EventPhaseEnd, 0, 1-float64(i)))
			if saves {
				e := stepEntry(3*i+2, 1, 0)
				e.Event, e.Epoch, e.Step = EventCheckpointSave, Int{0, true}, Int{}
				e.Detail = &Detail{Checkpoint: &Checkpoint{Path: fmt.Sprint(i), Kind: "best"}}
				f.Apply(e)
			}
		}
		return f
	}
	assertStateCost(t, 6, run(true), run(false)) // a pass for each costs fifteen times as much
}

func TestValuesWithoutStepAreNoted(t *testing.T) {
	t.Parallel()
	st := stateOf(t, validated(1, "", 0, 100, "3"), validated(2, "", 0, 200, "2"), epoch(3, "", 0, "1"))
	assert.Equal(t, "100:3 200:2", curve(seriesOf(st, "", "val/loss", AxisStep)))
	assert.Nil(t, seriesOf(st, "", "val/loss", AxisEpoch))
	assert.Equal(t, []Note{{NoteUnplaced, "val/loss"}}, st.Notes)
}

// A loop's own counter of batches begins anew in each epoch: by step the epochs would replace each other.
func TestStepsThatBeginAnewInEachEpochAreNoAxis(t *testing.T) {
	t.Parallel()
	lines := []string{
		validated(1, "", 0, 50, "9"), validated(2, "", 0, 100, "7"), validated(3, "", 1, 50, "3"), validated(4, "", 1, 100, "2"),
		validated(5, "", 2, 50, "5"), validated(6, "", 2, 100, "6"),
	}
	for range 2 {
		st := stateOf(t, lines...)
		assert.Equal(t, "0:7 1:2 2:6", curve(seriesOf(st, "", "val/loss", AxisEpoch)))
		assert.Nil(t, seriesOf(st, "", "val/loss", AxisStep))
		require.NotNil(t, st.Best)
		assert.InDelta(t, 2, st.Best.Value, 0)
		assert.Equal(t, []Note{{NoteUnplaced, "val/loss"}}, st.Notes)
		lines = append(lines, lines[:2]...) // told again
	}
}

// An attempt that failed before its first row takes over nothing of an epoch in the middle of which the one after it goes on.
func TestAnAttemptWithoutRowsTakesOverNoValidations(t *testing.T) {
	t.Parallel()
	lines := []string{
		validated(1, "", 0, 100, "5"), validated(2, "", 0, 200, "3"), validated(3, "", 0, 300, "4"),
		line("run.start", 4, secondAttempt, `"resumed_from": {"epoch": 0}`),
	}
	assert.Nil(t, seriesOf(stateOf(t, lines...), "", "val/loss", AxisStep), "until more is known")
	lines = append(lines, line("run.start", 6, `"attempt": 3`, `"resumed_from": {"epoch": 0}`), validated(7, `"attempt": 3`, 0, 300, "9"))
	assert.Equal(t, "100:5 200:3 300:9", curve(seriesOf(stateOf(t, lines...), "", "val/loss", AxisStep)))
}

// TestWhatAnAttemptWithoutRowsNamedStaysGivenUp over steps as over epochs, also when a newer attempt has rows.
func TestWhatAnAttemptWithoutRowsNamedStaysGivenUp(t *testing.T) {
	t.Parallel()
	twice := []string{
		validated(1, "", 0, 10, "0.5"), validated(2, "", 0, 20, "0.4"), validated(3, "", 1, 30, "0.3"), validated(4, "", 1, 40, "0.1"),
		validated(5, "", 2, 50, "0.2"), validated(6, "", 2, 60, "0.3"),
	}
	third := `"attempt": 3`
	died := func(attempt int, epoch string) string {
		return line("run.start", float64(6+attempt), fmt.Sprintf(`"attempt": %d`, attempt), `"resumed_from": {"epoch": `+epoch+`}`)
	}
	for name, tc := range map[string]struct {
		lines []string
		want  string
		gone  int64 // epochs of the first attempt
	}{
		"behind all steps":         {[]string{died(2, "1"), died(3, "2"), validated(12, third, 2, 70, "0.6")}, "10:0.5 20:0.4 70:0.6", 2},
		"behind, and says nothing": {[]string{died(2, "1"), validated(12, third, 3, 70, "0.6")}, "10:0.5 20:0.4 70:0.6", 2},
		"two of them": {
			[]string{died(2, "0"), died(3, "1"), died(4, "2"), validated(13, `"attempt": 4`, 2, 70, "0.6"), validated(14, `"attempt": 4`, 2, 80, "0.7")},
			"70:0.6 80:0.7", 3,
		},
		"a later epoch that repeats a step":    {[]string{died(2, "1"), died(3, "2"), validated(12, third, 2, 50, "0.6")}, "10:0.5 20:0.4 50:0.6", 2},
		"an earlier epoch that repeats a step": {[]string{died(2, "2"), died(3, "1"), validated(12, third, 1, 30, "0.6")}, "10:0.5 20:0.4 30:0.6", 2},
		"goes on in the middle of its epoch":   {[]string{died(2, "1"), died(3, "1"), validated(12, third, 1, 40, "0.6")}, "10:0.5 20:0.4 30:0.3 40:0.6", 2},
		"goes on in the middle of its own":     {[]string{died(3, "1"), validated(12, third, 1, 40, "0.6")}, "10:0.5 20:0.4 30:0.3 40:0.6", 2},
		"the newer one has no row either":      {[]string{died(2, "1"), died(3, "2")}, "10:0.5 20:0.4", 2},
		"a further one goes on":                {[]string{died(2, "1"), validated(12, third, 2, 70, "0.6"), validated(13, `"attempt": 4`, 2, 80, "0.7")}, "10:0.5 20:0.4 70:0.6 80:0.7", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, append(slices.Clone(twice), tc.lines...)...)
			s := seriesOf(st, "", "val/loss", AxisStep)
			require.NotNil(t, s)
			assert.Equal(t, tc.want, curve(s))
			assert.Equal(t, tc.gone, st.Attempts[0].SupersededEpochs)
		})
	}
}

func TestWhatARestartTookOverOfSeveralValidations(t *testing.T) {
	t.Parallel()
	f := foldOf(readStream(t,
		validated(1, "", 0, 100, "5"), validated(2, "", 0, 200, "3"), validated(3, "", 0, 300, "9"), validated(4, `"attempt": 2`, 0, 300, "4"),
	))
	s := seriesOf(f.State(), "", "val/loss", AxisStep)
	require.NotNil(t, s)
	assert.Equal(t, []Superseded{{Attempt: 1, Points: []Point{{300, 9, second(3)}}}}, f.Superseded(s))
}

// Steps thin neither the validations of an epoch, nor does giving up steps.
func TestStepsDoNotThinValidations(t *testing.T) {
	t.Parallel()
	lim := defaultLimits()
	lim.points = 1000
	f := stepsAnd(lim, 10_000, func(i int64) Entry { return valued(i, EventPhaseEnd, i/1000, 1) })
	f.Thin(0)
	s := seriesOf(f.State(), "", "val/loss", AxisStep)
	require.NotNil(t, s)
	assert.Len(t, s.Points, 100)
	assert.False(t, s.Thinned)
}

// Many validations of one epoch are thinned by their step, whatever the order.
func TestValidationsOfOneEpochAreThinnedByStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lim := defaultLimits()
		lim.points = rapid.IntRange(8, 40).Draw(t, "points")
		n := rapid.Int64Range(50, 200).Draw(t, "n")
		best := rapid.Int64Range(0, n-1).Draw(t, "best")
		var list []Entry
		for i := range n {
			v := 2.0
			if i == best {
				v = 1
			}
			list = append(list, valued(i, EventPhaseEnd, 0, v))
		}
		s := seriesOf(disturb(t, list, lim).State(), "", "val/loss", AxisStep)
		require.NotNil(t, s)
		require.True(t, s.Thinned)
		require.Equal(t, n, s.Count)
		require.Equal(t, best, s.Min.X)
		require.Greater(t, len(s.Points), lim.points/4)
		require.LessOrEqual(t, len(s.Points), lim.points+4)
	})
}

// A snapshot of the version before has such rows by epoch.
func TestASnapshotWithValidationsByEpoch(t *testing.T) {
	t.Parallel()
	entries := readStream(t, validated(1, "", 0, 100, "5"), validated(2, "", 0, 200, "3"), validated(3, "", 0, 300, "4"), validated(4, "", 1, 400, "6"))
	for n, want := range map[int]string{2: "100:5 200:3 300:4 400:6", 1: "100:5 200:3 300:4 400:6"} {
		old := foldOf(entries[:n])
		for i := range old.rows.rows {
			old.rows.rows[i].axis = AxisEpoch
		}
		old.series.items[0].key.axis = AxisEpoch
		old.series.ids = map[seriesKey]uint32{old.series.items[0].key: 0}
		b := old.Snapshot()
		f, err := Restore(b)
		require.NoError(t, err)
		for _, e := range entries[n:] {
			require.True(t, f.Apply(e))
		}
		require.False(t, f.Apply(entries[0]))
		st := f.State()
		assert.Equal(t, want, curve(seriesOf(st, "", "val/loss", AxisStep)))
		assert.Nil(t, seriesOf(st, "", "val/loss", AxisEpoch))
	}
}

// TestABestCheckpointThatNamesNoPoint is that of the best point that it follows in its stream; nothing else tells where it was saved.
func TestABestCheckpointThatNamesNoPoint(t *testing.T) {
	t.Parallel()
	save := func(at float64, path, body string) string {
		return line("checkpoint.save", at, "", fmt.Sprintf(`"path": %q%s`, path, body))
	}
	const best = `, "kind": "best"`
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"behind the best": {[]string{epoch(1, "", 0, "3"), save(2, "a", best), epoch(3, "", 1, "1"), save(4, "b", best), epoch(5, "", 2, "2"), save(6, "c", "")}, "b"},
		"without times":   {[]string{epoch(-1, "", 0, "3"), save(-1, "a", best), epoch(-1, "", 1, "1"), save(-1, "b", best), epoch(-1, "", 2, "2")}, "b"},
		"of another":      {[]string{epoch(1, "", 0, "3"), save(2, "a", best), epoch(3, "", 1, "1"), epoch(4, "", 2, "2"), save(5, "c", best)}, ""},
		"before any":      {[]string{save(1, "a", best), epoch(2, "", 0, "3")}, ""},
		"no best":         {[]string{epoch(1, "", 0, "3"), save(2, "a", "")}, ""},
		"beside a named":  {[]string{epoch(1, "", 0, "3"), save(2, "a", best+`, "epoch": 0`), epoch(3, "", 1, "4"), save(4, "b", best)}, "a"},
		"over steps": {[]string{
			line("phase.end", 1, "", `"step": 10, "measurements": {"val/loss": 1}`), save(2, "a", best), line("phase.end", 3, "", `"step": 20, "measurements": {"val/loss": 2}`),
		}, "a"},
		"given up": {[]string{
			epoch(1, "", 0, "3"), save(2, "a", best), line("run.start", 3, `"attempt": 2`, `"resumed_from": {"epoch": 0}`), epoch(4, `"attempt": 2`, 0, "2"),
		}, ""},
		"saved over, with epochs": {[]string{
			epoch(1, "", 0, "3"), save(2, "last", `, "kind": "last", "epoch": 0`), epoch(3, "", 1, "1"), save(4, "last", `, "kind": "last", "epoch": 1`),
			epoch(5, "", 2, "2"), save(6, "last", `, "kind": "last", "epoch": 2`),
		}, ""},
		"saved over, another is there": {[]string{
			epoch(1, "", 0, "1"), save(2, "best", best+`, "epoch": 0`), save(2, "epoch0", `, "epoch": 0`), epoch(3, "", 1, "2"), save(4, "best", best+`, "epoch": 1`),
		}, "epoch0"},
		"saved over without epochs": {[]string{epoch(1, "", 0, "1"), save(2, "a", best), epoch(3, "", 1, "2"), save(4, "a", best)}, ""},
		"saved over at an equal value": {[]string{
			epoch(1, "", 0, "1"), save(2, "best", best+`, "epoch": 0`), epoch(3, "", 1, "1"), save(4, "best", best+`, "epoch": 1`), epoch(5, "", 2, "2"),
		}, "best"},
		"saved over at an equal value, without epochs": {[]string{
			epoch(1, "", 0, "1"), save(2, "a", best), epoch(3, "", 1, "1"), save(4, "a", best), epoch(5, "", 2, "2"),
		}, "a"},
		"saved by two ranks": {[]string{
			epoch(1, "", 0, "1"), save(2, "a", best+`, "epoch": 0`), line("checkpoint.save", 3, `"rank": 1`, `"path": "a", "epoch": 0`),
		}, "a"},
	} {
		got := ""
		if c := stateOf(t, tc.lines...).Best.Checkpoint; c != nil {
			got = c.Path
		}
		assert.Equal(t, tc.want, got, name)
	}
}
