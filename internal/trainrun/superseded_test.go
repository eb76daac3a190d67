package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatANewerAttemptTookOver(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	place := int64(0)
	epoch := func(attempt, n int64, loss float64) {
		place++
		require.True(t, f.Apply(Entry{
			RunID: testRun, Event: EventEpochEnd, Attempt: attempt, Offset: -1, Progress: noProgress, Time: 1000 + place,
			ID: ID{Kind: IDUID, Place: place}, Epoch: Int{n, true}, Values: []Value{{"train/loss", 7}, {"val/loss", loss}},
		}))
	}
	for n := range int64(6) {
		epoch(1, n, float64(10-n))
	}
	for n := range int64(2) {
		epoch(2, 3+n, float64(20-n))
	}
	epoch(3, 4, 30)
	st := f.State()
	s := seriesOf(st, "", "val/loss", AxisEpoch)
	assert.Equal(t, "0:10 1:9 2:8 3:20 4:30", curve(s))
	got := f.Superseded(s)
	require.Len(t, got, 2)
	assert.EqualValues(t, 1, got[0].Attempt)
	assert.Equal(t, "3:7 4:6 5:5", curve(&Series{Points: got[0].Points}))
	assert.EqualValues(t, 2, got[1].Attempt)
	assert.Equal(t, "4:19", curve(&Series{Points: got[1].Points}))
	assert.Empty(t, f.Superseded(&Series{Part: "other", Name: "val/loss", Axis: AxisEpoch}))
}
