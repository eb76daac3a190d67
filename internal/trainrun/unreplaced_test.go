package trainrun

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// standsOf reads only the last text of each file.
func standsOf(files []written) *Fold {
	f := New(testRun)
	for _, w := range files {
		for _, e := range slices.Clone(w.lists[len(w.lists)-1]) {
			e.Text, e.Replaces = 0, 0
			f.Apply(e)
		}
	}
	return f
}

// compareStands holds against each other what two states say of the files as they stand.
func compareStands(t require.TestingT, want, got *State) {
	for _, st := range []*State{want, got} {
		st.Outcome += " " + st.OutcomeFrom + " " + st.StopReason
	}
	require.Equal(t, want.Outcome, got.Outcome)
	require.Equal(t, dump(want.Epochs), dump(got.Epochs))
	require.Equal(t, dump(want.Best), dump(got.Best))
	require.Equal(t, dump(want.Finals), dump(got.Finals))
	for _, name := range []string{"val/loss", "train/loss"} {
		for _, axis := range []Axis{AxisEpoch, AxisStep} {
			require.Equal(t, curve(seriesOf(want, "", name, axis)), curve(seriesOf(got, "", name, axis)), "%s over %s", name, axis)
		}
	}
}

// TestAFileAsItStands: whatever stood in a file, its outcome, curves and counts are those of what stands there, also where its first line is
// another one and its clock goes back.
func TestAFileAsItStands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := written{path: 1, texts: drawTexts(rt, 0, 0, rapid.SampledFrom([][]string{{""}, {"", "a"}, {"a"}}).Draw(rt, "hosts"))}
		last := len(w.texts) - 1
		if last > 0 && len(w.texts[last]) <= len(w.texts[last-1]) && slices.Equal(w.texts[last], w.texts[last-1][:len(w.texts[last])]) {
			rt.Skip("a text that has nothing new is not told from one that is being written")
		}
		for n, text := range w.texts {
			w.lists = append(w.lists, file(1, int64(n), int64(n), readStream(t, text...)))
		}
		defer func() {
			if rt.Failed() {
				rt.Log(tellFiles([]written{w}))
			}
		}()
		compareStands(rt, standsOf([]written{w}).State(), foldOf(w.lists...).State())
	})
}

// TestAnEndThatStandsIsTheRuns: rows followed it, and the file was cut back behind it.
func TestAnEndThatStandsIsTheRuns(t *testing.T) {
	t.Parallel()
	kept := []string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), success(3)}
	for name, tc := range map[string]struct {
		texts    [][]string
		outcome  string
		attempts int
	}{
		"rows behind it are fewer": {
			[][]string{append(slices.Clone(kept), epoch(4, "", 2, "7"), epoch(5, "", 3, "6")), append(slices.Clone(kept), epoch(6, "", 2, "5"))}, "success", 2,
		},
		"and begin anew": {
			[][]string{append(slices.Clone(kept), epoch(4, "", 2, "7"), epoch(5, "", 3, "6")), append(slices.Clone(kept), epoch(6, "", 0, "5"))}, "", 2,
		},
		"a failure": {
			[][]string{
				{kept[0], line("run.failure", 3, "", `"message": "x"`), epoch(4, "", 1, "7"), epoch(5, "", 2, "6")},
				{kept[0], line("run.failure", 3, "", `"message": "x"`), epoch(6, "", 1, "5")},
			}, "failed", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lists := rewritten(t, tc.texts...)
			st := foldOf(lists...).State()
			assert.Equal(t, tc.outcome, st.Outcome)
			assert.Len(t, st.Attempts, tc.attempts)
			compareStands(t, foldOf(readStream(t, tc.texts[len(tc.texts)-1]...)).State(), st)
		})
	}
}

// TestWhatStandsStaysWhenStepsAreGivenUp: the curve of what stands is not that of what the attempts left of all.
func TestWhatStandsStaysWhenStepsAreGivenUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := written{path: 1, texts: drawTexts(rt, 0, 0, []string{""})}
		for n, text := range w.texts {
			w.lists = append(w.lists, file(1, int64(n), int64(n), readStream(t, text...)))
		}
		f := foldOf(w.lists...)
		want := f.State()
		f.Thin(0)
		defer func() {
			if rt.Failed() {
				rt.Log(tellFiles([]written{w}))
			}
		}()
		got := f.State()
		want.Attempts, got.Attempts = nil, nil // how many steps of theirs are lost is told of the rows that are left
		assertOnlyPointsGone(rt, want, got)
	})
}
