package trainrun

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func stepEntry(n, attempt, rank int64, values ...Value) Entry {
	return Entry{
		RunID: testRun, Event: EventStepEnd, Attempt: attempt, Rank: rank, Offset: -1, Progress: noProgress, Time: 1000 + n,
		ID: ID{Kind: IDUID, File: uint32(rank), Place: 100 * n, CRC: uint32(n)}, Step: Int{n, true}, Values: values,
	}
}

// valued is the n-th record, with a validation loss: of the end of an epoch, or of a validation in it at step n.
func valued(n int64, event Event, epoch int64, v float64) Entry {
	e := stepEntry(n, 1, 0, Value{"val/loss", v})
	if e.Event, e.Epoch = event, (Int{epoch, true}); event == EventEpochEnd {
		e.Step = Int{}
	}
	return e
}

// stepsAnd is a run of n steps with a loss, and a record behind each hundred of them.
func stepsAnd(lim limits, n int64, behind func(i int64) Entry) *Fold {
	f := newFold(testRun, lim)
	for i := range n {
		f.Apply(stepEntry(i, 1, 0, Value{"train/loss", 1}))
		if i%100 == 99 {
			e := behind(i)
			e.ID.Place += 50
			f.Apply(e)
		}
	}
	return f
}

func TestThinningKeepsExtremesInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lim := defaultLimits()
		lim.points = rapid.IntRange(4, 40).Draw(t, "points")
		n := rapid.IntRange(1, 200).Draw(t, "n")
		ranks := rapid.Int64Range(1, 3).Draw(t, "ranks")
		bare := rapid.Int64Range(0, 5).Draw(t, "bare") // rows without values, first and last
		attempts := rapid.Int64Range(1, 2).Draw(t, "attempts")
		var list []Entry
		for i := range int64(n) {
			v := rapid.SampledFrom([]float64{-1, 0, 1, 2, 3, 5, 8, math.NaN(), math.Inf(1)}).Draw(t, "v")
			e := stepEntry(i+bare, 1+i*attempts/int64(n), i%ranks, Value{"train/loss", v})
			e.Progress = float64(i) / 7
			if bare > 0 && (i < bare || i >= int64(n)-bare) {
				e.Values = nil
			} else if i%3 == 0 {
				e.Values = append(e.Values, Value{"z", float64(i)})
			}
			list = append(list, e)
		}
		plain, whole := newFold(testRun, lim), New(testRun)
		for _, e := range list {
			plain.Apply(e)
			whole.Apply(e)
		}
		other := disturb(t, list, lim)
		a, b := plain.State(), other.State()
		if dump(a) != dump(b) {
			t.Fatalf("states differ: %s", firstDifference(dump(a), dump(b)))
		}
		w := whole.State()
		require.Equal(t, len(w.Series), len(a.Series))
		for i := range w.Series {
			want, got := &w.Series[i], &a.Series[i]
			require.Equal(t, dump(want.Min), dump(got.Min))
			require.Equal(t, dump(want.Max), dump(got.Max))
			require.Equal(t, dump(want.Last), dump(got.Last))
			require.Equal(t, want.Points[0].X, got.Points[0].X)
			require.Equal(t, want.Count, got.Count)
			require.Equal(t, want.NonFinite, got.NonFinite)
			require.Equal(t, want.FirstNonFinite, got.FirstNonFinite)
		}
		require.Equal(t, w.Steps, a.Steps)
		require.Equal(t, w.Epochs, a.Epochs)
		for i := range w.Attempts {
			require.Equal(t, w.Attempts[i], a.Attempts[i])
		}
	})
}

func TestAMillionStepsStayInsideTheirBound(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	const n = 1_000_000
	for i := range int64(n) {
		v := math.Sin(float64(i) / 1000)
		if i == 777_777 {
			v = -3
		}
		f.Apply(stepEntry(i, 1, 0, Value{"train/loss", v}))
	}
	size := f.SizeBytes()
	assert.Less(t, size, int64(64<<20), "%d", size)
	st := f.State()
	s := seriesOf(st, "", "train/loss", AxisStep)
	require.NotNil(t, s)
	assert.LessOrEqual(t, len(s.Points), 200_005)
	assert.Greater(t, len(s.Points), 100_000)
	assert.Equal(t, Point{777_777, -3, 1000 + 777_777}, *s.Min)
	assert.Equal(t, int64(n-1), s.Last.X)
	assert.Equal(t, int64(n), s.Count)
	assert.True(t, s.Thinned)
	assert.Less(t, widestGap(s), int64(16), "one of each eight")
	assert.Less(t, f.seen.size(), int64(8<<20), "about six bytes a line")
	assert.Equal(t, int64(n), st.Records.Count)
	snapshot := f.Snapshot()
	assert.Less(t, len(snapshot), 12<<20, "%d", len(snapshot))
	g, err := Restore(snapshot)
	require.NoError(t, err)
	assert.False(t, g.Apply(stepEntry(5, 1, 0, Value{"train/loss", 1})), "a step that was thinned out is still known")
}

func TestAReplacedExtremeIsNoExtreme(t *testing.T) {
	t.Parallel()
	lim := defaultLimits()
	lim.points = 20
	f := newFold(testRun, lim)
	for i := range int64(100) {
		f.Apply(stepEntry(i, 1, 0, Value{"train/loss", 2}))
	}
	low := stepEntry(51, 1, 0, Value{"train/loss", -3})
	low.ID.Place, low.ID.CRC = 20_000, 1
	f.Apply(low)
	f.Snapshot()
	again := stepEntry(51, 1, 0, Value{"train/loss", 1})
	again.ID.Place, again.ID.CRC = 30_000, 2
	f.Apply(again)
	s := seriesOf(f.State(), "", "train/loss", AxisStep)
	assert.True(t, s.Thinned)
	assert.Equal(t, Point{51, 1, 1051}, *s.Min)
}

// An attempt that has no row yet, only a heartbeat, makes the others older as its rows would.
func TestAnAttemptWithoutRowsMakesOthersOlder(t *testing.T) {
	t.Parallel()
	alive := stepEntry(2000, 3, 0)
	alive.Event, alive.Step = EventHeartbeat, Int{}
	list := []Entry{alive}
	for i := range int64(100) {
		list = append(list, stepEntry(2*i+1, 1+i/50, 0, Value{"train/loss", float64(i)}))
	}
	states := map[string]bool{}
	for range 2 {
		f := newFold(testRun, tightLimits())
		for _, e := range list {
			f.Apply(e)
			f.State()
		}
		states[dump(f.State())] = true
		list = append(list[1:], alive)
	}
	assert.Len(t, states, 1)
}

// Of attempts that are old nothing stays for its own sake, whichever record came first.
func TestValuesOfOldAttemptsAreThinnedInAnyOrder(t *testing.T) {
	t.Parallel()
	newest := stepEntry(0, 3, 0, Value{"z", 0}) // the later record of a step
	newest.ID.Place = 50
	list := []Entry{newest, stepEntry(0, 3, 0, Value{"train/loss", 0}), stepEntry(200, 2, 0, Value{"train/loss", 1})}
	for i := range int64(50) {
		list = append(list, stepEntry(2*i+1, 1, 0, Value{"train/loss", 2}))
	}
	states := map[string]bool{}
	for range 2 {
		f := newFold(testRun, tightLimits())
		for _, e := range list {
			f.Apply(e)
		}
		states[dump(f.State())] = true
		list = append(list[1:], newest)
	}
	assert.Len(t, states, 1)
}

// 100 epochs among many steps are not thinned for the steps' sake.
func TestStepsDoNotThinEpochs(t *testing.T) {
	t.Parallel()
	lim := defaultLimits()
	lim.points = 1000
	st := stepsAnd(lim, 10_000, func(i int64) Entry { return valued(i, EventEpochEnd, i/100, 1) }).State()
	assert.Len(t, seriesOf(st, "", "val/loss", AxisEpoch).Points, 100)
	assert.False(t, seriesOf(st, "", "val/loss", AxisEpoch).Thinned)
	assert.InDelta(t, 625, len(seriesOf(st, "", "train/loss", AxisStep).Points), 5)
}

func TestOtherRanksDoNotThinTheOwner(t *testing.T) {
	t.Parallel()
	lim := defaultLimits()
	lim.points = 200
	f := newFold(testRun, lim)
	for _, rank := range []int64{7, 3, 0, 5} {
		for i := range int64(150) {
			f.Apply(stepEntry(i, 1, rank, Value{"train/loss", float64(rank)}))
		}
	}
	s := seriesOf(f.State(), "", "train/loss", AxisStep)
	assert.Len(t, s.Points, 150)
	assert.Zero(t, s.Max.V)
	assert.Equal(t, int64(450), s.OtherRanks)
}

func TestNamesWithoutEndAreBounded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200_000
	f := New(testRun)
	f.Apply(stepEntry(0, 1, 0, Value{"val/loss", 1}))
	for i := range int64(n) {
		name := make([]byte, 12)
		for j := range name {
			name[j] = 'a' + byte(rng.IntN(26))
		}
		f.Apply(stepEntry(i+1, 1, 0, Value{string(name), 1}))
	}
	assert.Less(t, f.SizeBytes(), int64(128<<20))
	st := f.State()
	assert.Len(t, st.Series, 1000)
	require.NotNil(t, seriesOf(st, "", "val/loss", AxisStep), "the usual objective is kept")
	require.Len(t, st.Truncated, 1)
	assert.Equal(t, "series", st.Truncated[0].What)
	assert.InEpsilon(t, n-999, st.Truncated[0].Count, 0.15)
	assert.Len(t, st.Truncated[0].Digest, 64)
}
