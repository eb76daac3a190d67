package trainrun

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIntegersBeyondSixtyFourBits are texts of digits in a record; their value is kept.
func TestIntegersBeyondSixtyFourBits(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("step.end", 1, "", `"step": 1, "measurements": {"tokens": 18446744073709551616, "low": -9223372036854775809, "huge": 1`+
		strings.Repeat("0", 400)+`, "text": "12345678901234567890x"}`))
	assert.Equal(t, "1:1.8446744073709552e+19", curve(seriesOf(st, "", "tokens", AxisStep)))
	assert.Equal(t, "1:-9.223372036854776e+18", curve(seriesOf(st, "", "low", AxisStep)))
	assert.Equal(t, "1:+Inf", curve(seriesOf(st, "", "huge", AxisStep)))
	assert.Equal(t, []Truncation{{What: "values", Count: 1}}, st.Truncated)
}

func TestDurationsThatAreNoneAreCounted(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("epoch.end", 1, "", `"epoch": 0, "durations": {"epoch_s": -1, "train_s": NaN, "validation_s": 1e300, "data_wait_s": 2, "other_thing_s": -1}`),
		line("epoch.end", 2, "", `"epoch": 1, "durations": {"data_wait_s": "long"}`))
	assert.Equal(t, []PhaseTotal{{"data_wait", 2_000_000_000}}, st.Durations.Phases)
	assert.Equal(t, []Truncation{{What: "values", Count: 4}}, st.Truncated)
}

func TestSumsOfDurationsDoNotOverflow(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	for i := range int64(12) {
		e := entryOfUID(i, 1, 0)
		e.Event, e.Durations = EventPhaseEnd, []Duration{{"train", 1_000_000_000 * nanosPerSec}}
		f.Apply(e)
	}
	assert.Equal(t, []PhaseTotal{{"train", math.MaxInt64}}, f.State().Durations.Phases)
}

// TestSequencesAreBounded whatever attempts and ranks records name: those of the newest attempts and lowest ranks stay.
func TestSequencesAreBounded(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	of := func(attempt, seq int64) Entry {
		return Entry{RunID: testRun, Event: EventHeartbeat, ID: ID{Kind: IDSeq}, Attempt: attempt, Seq: seq, Offset: -1, Progress: noProgress}
	}
	for a := range int64(maxSequences) {
		require.True(t, f.Apply(of(a+1, 1)))
	}
	assert.LessOrEqual(t, len(f.seen.seqs), maxSequences)
	assert.False(t, f.Apply(of(maxSequences, 1)), "a duplicate of the newest attempt")
	require.True(t, f.Apply(of(1, 5)))
	assert.False(t, f.Apply(of(1, 5)), "one of an attempt beyond the bound")
	g, err := Restore(f.Snapshot())
	require.NoError(t, err)
	assert.Equal(t, f.Snapshot(), g.Snapshot())
}

func TestKeysThatAreNoTextAreOneKey(t *testing.T) {
	t.Parallel()
	e, ok := Reduce(record("run.start", nil, map[string]any{"params": map[string]any{"\xff": int64(1), "\uFFFD": int64(2)}}))
	require.True(t, ok)
	assert.Len(t, e.Detail.Params, 1)
}

func TestRowsInOrderStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	for i := range int64(100) {
		f.Apply(stepEntry(i, 1, 0, Value{"train/loss", 1}))
	}
	before := &f.rows.rows[0]
	f.State()
	assert.Same(t, before, &f.rows.rows[0], "what one stream tells costs no copy")
	for i := range int64(100) {
		f.Apply(stepEntry(1000-i, 1, 0, Value{"train/loss", 1}))
	}
	before = &f.rows.rows[0]
	f.State()
	assert.NotSame(t, before, &f.rows.rows[0], "what is in no order is put in one")
}
