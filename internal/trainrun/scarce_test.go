package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a result says of a run is the same after Thin; of steps and what has no axis only points are gone.
func TestThinLosesPointsOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := drawSet(t, false)
		whole := newFold(testRun, defaultLimits())
		for _, e := range list {
			whole.Apply(e)
		}
		thin, err := Restore(whole.Snapshot())
		require.NoError(t, err)
		thin.Thin(0)
		assertOnlyPointsGone(t, whole.State(), thin.State())
		again, err := Restore(thin.Snapshot())
		require.NoError(t, err)
		require.Equal(t, dump(thin.State()), dump(again.State()), "the snapshot keeps it thin")
		for _, e := range list {
			require.False(t, again.Apply(e), "a record that was thinned out is still known")
		}
	})
}

func assertOnlyPointsGone(t require.TestingT, want, got *State) {
	require.Equal(t, len(want.Series), len(got.Series))
	for i := range want.Series {
		w, g := &want.Series[i], &got.Series[i]
		require.Equal(t, w.Name, g.Name)
		if w.Axis == AxisEpoch {
			require.Equal(t, dump(w), dump(g))
			continue
		}
		require.LessOrEqual(t, len(g.Points), len(w.Points))
		if w.Axis == AxisOrder { // x is the place among those that are there
			require.Equal(t, dump(w.Last.V), dump(g.Last.V))
			require.Equal(t, w.Min == nil, g.Min == nil)
			if w.Min != nil {
				require.Equal(t, []float64{w.Min.V, w.Max.V}, []float64{g.Min.V, g.Max.V})
			}
			continue
		}
		require.Equal(t, dump([]any{w.Points[0], w.Last, w.Min, w.Max, w.FirstNonFinite}), dump([]any{g.Points[0], g.Last, g.Min, g.Max, g.FirstNonFinite}))
	}
	rest := func(st *State) string {
		c := *st
		c.Series, c.Truncated, c.Best = nil, nil, nil
		c.Parts = nil
		for _, p := range st.Parts {
			p.Best = bestOf(p.Best)
			c.Parts = append(c.Parts, p)
		}
		return dump(c) + dump(bestOf(st.Best))
	}
	require.Equal(t, rest(want), rest(got))
}

// bestOf leaves out the place on an axis that is none.
func bestOf(b *Best) *Best {
	if b == nil || b.Axis != AxisOrder {
		return b
	}
	return &Best{Metric: b.Metric, Mode: b.Mode, Value: b.Value, Axis: b.Axis}
}

func TestThinToATarget(t *testing.T) {
	t.Parallel()
	f := stepsAnd(defaultLimits(), 20_000, func(i int64) Entry { return valued(i, EventEpochEnd, i/100, 1) })
	before := f.SizeBytes()
	require.True(t, f.Thin(before/2))
	half := f.SizeBytes()
	assert.LessOrEqual(t, half, before/2)
	st := f.State()
	steps, epochs := seriesOf(st, "", "train/loss", AxisStep), seriesOf(st, "", "val/loss", AxisEpoch)
	assert.Len(t, epochs.Points, 200)
	assert.False(t, epochs.Thinned)
	assert.True(t, steps.Thinned)
	assert.Greater(t, len(steps.Points), 1000, "no more than needed")
	assert.Equal(t, int64(20_000), steps.Count)
	assert.Less(t, widestGap(steps), int64(16), "one of each eight")
	assert.Equal(t, []Truncation{{What: "points", Count: int64(20_000 - len(steps.Points))}}, st.Truncated)
	for i := range int64(20_000) {
		f.Apply(stepEntry(200_000+i, 1, 0, Value{"train/loss", 1}))
	}
	assert.Less(t, f.SizeBytes(), before, "it stays thin")
	require.True(t, f.Thin(0))
	assert.False(t, f.Thin(0), "nothing is left to give up")
	assert.Len(t, seriesOf(f.State(), "", "val/loss", AxisEpoch).Points, 200)
}

// Attempts without numbers, and a least value that is superseded: what thinning by attempt number does not know.
func TestThinKeepsTheBestOfTheSurvivingCurve(t *testing.T) {
	t.Parallel()
	lines := []string{line("run.start", 0, "", `"objective": {"metric": "train/loss", "mode": "min"}`)}
	for i := range 100 {
		loss := "5"
		switch i {
		case 33:
			loss = "1"
		case 77:
			loss = "0.1"
		}
		lines = append(lines, step(float64(i+1), "", i, loss))
	}
	lines = append(lines, line("run.start", 200, "", ""))
	for i := range 50 {
		lines = append(lines, step(float64(201+i), "", 51+i, "3"))
	}
	f := foldOf(readStream(t, lines...))
	want := f.State()
	require.Equal(t, int64(33), want.Best.X)
	require.True(t, f.Thin(0))
	got := f.State()
	assert.Equal(t, want.Best, got.Best)
	assert.Equal(t, want.Attempts, got.Attempts)
	assert.Less(t, len(got.Series[0].Points), 20)
}
