package trainrun

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// endEntry is an end without a number at a place.
func endEntry(file uint32, place int64) Entry {
	return Entry{
		RunID: testRun, Event: EventRunEnd, Attempt: 1, Offset: -1, Progress: noProgress,
		ID: ID{Kind: IDUID, File: file, Place: place, CRC: 1}, Detail: &Detail{Outcome: "success"},
	}
}

// An end without a number is one of the newest attempt that its stream told of before it.
func TestEndsWithoutNumberAreOfTheAttemptBeforeThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := New(testRun)
		var rows []Entry
		for i := range rapid.Int64Range(1, 40).Draw(t, "rows") {
			e := stepEntry(i, rapid.Int64Range(1, 4).Draw(t, "attempt"), 0)
			e.ID.File, e.ID.Place = uint32(rapid.IntRange(1, 2).Draw(t, "file")), 2*rapid.Int64Range(0, 50).Draw(t, "place")
			if rapid.IntRange(0, 4).Draw(t, "starts") == 0 {
				e.Event, e.Step, e.Detail = EventRunStart, Int{}, &Detail{}
				e.Attempt = max(e.Attempt, 2) // one with a number: it divides nothing
			}
			if f.Apply(e) {
				rows = append(rows, e)
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "ends") {
			f.Apply(endEntry(uint32(rapid.IntRange(1, 2).Draw(t, "file")), 2*rapid.Int64Range(0, 50).Draw(t, "place")+1))
		}
		d := f.placed()
		for i, end := range f.ends.items {
			own := end.at.spot("")
			want := d.seg.attempt(&own)
			for _, e := range rows {
				if e.ID.File == end.at.file && e.ID.Place < end.at.pos {
					at := stampOf(&e)
					sp := at.spot("")
					want = max(want, d.seg.attempt(&sp))
				}
			}
			require.Equal(t, want, d.ends[i])
		}
	})
}

// The state costs a pass over the rows, not one for each end.
func TestEndsCostNoPassEach(t *testing.T) {
	t.Parallel()
	run := func(ends int64) *Fold {
		f := New(testRun)
		for i := range int64(100_000) {
			f.Apply(stepEntry(i, 1+i/50_000, 0, Value{"train/loss", 1}))
		}
		for i := range ends {
			f.Apply(endEntry(0, 100_000*100+i))
		}
		return f
	}
	assertStateCost(t, 4, run(500), run(1)) // a pass for each costs a multiple
}
