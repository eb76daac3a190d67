package trainrun

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatWhoeverWroteTheRecordsShouldMend(t *testing.T) {
	t.Parallel()
	aims := line("run.start", 0, "", `"objective": {"metric": "val/acc", "mode": "max"}`)
	for name, tc := range map[string]struct {
		lines []string
		want  []Note
	}{
		"an objective that is never measured": {[]string{aims, epoch(1, "", 0, "1")}, []Note{{NoteObjective, "val/acc"}}},
		"one that the end measures": {
			[]string{aims, line("run.end", 1, "", `"outcome": "success", "measurements": {"val/acc": 1}`)}, nil,
		},
		"one that is measured":    {[]string{aims, line("epoch.end", 1, "", `"epoch": 0, "measurements": {"val/acc": 1}`)}, nil},
		"an inferred one":         {[]string{epoch(1, "", 0, "1")}, nil},
		"an outcome off the list": {[]string{epoch(1, "", 0, "1"), ends(2, "completed", "")}, []Note{{NoteOutcome, "completed"}}},
		"no outcome":              {[]string{line("run.end", 2, "", "")}, []Note{{NoteNoOutcome, ""}}},
		"an event off the list":   {[]string{line("epoch_end", 1, "", `"epoch": 0`), line("epoch_end", 2, "", `"epoch": 1`), line("begin", 0, "", "")}, []Note{{NoteEvent, "begin"}, {NoteEvent, "epoch_end"}}},
		"many of them":            {[]string{line("f", 1, "", ""), line("e", 1, "", ""), line("d", 1, "", ""), line("c", 1, "", ""), line("b", 1, "", "")}, []Note{{NoteEvent, "b"}, {NoteEvent, "c"}, {NoteEvent, "d"}, {NoteEvent, "e"}}},
		"one that was corrected":  {[]string{ends(2, "completed", ""), ends(3, "success", "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, stateOf(t, tc.lines...).Notes)
		})
	}
}

func TestStreamsWithoutTime(t *testing.T) {
	t.Parallel()
	st := foldOf(readStream(t, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8")), readStream(t, epoch(-1, "", 0, "5"))).State()
	assert.Equal(t, []Note{{NoteStreams, ""}}, st.Notes)
	assert.Equal(t, int64(2), st.Records.Streams)
	st = foldOf(readStream(t, epoch(1, "", 0, "9")), readStream(t, epoch(5, "", 1, "5"))).State()
	assert.Empty(t, st.Notes)
}

func TestTheBeginningOfAStreamIsMissing(t *testing.T) {
	t.Parallel()
	start := line("run.start", 0, "", "")
	whole := readStream(t, start, epoch(1, "", 0, "1"), epoch(2, "", 1, "1"), success(3))
	assert.False(t, foldOf(whole).State().Partial)
	assert.True(t, foldOf(whole[2:]).State().Partial)
	assert.True(t, foldOf(whole[2:], whole[1:1]).State().Partial)
	assert.False(t, foldOf(whole[2:], whole[:2]).State().Partial, "it came later")
	shared := readStream(t, long(0), start, epoch(1, "", 5, "1"))
	assert.False(t, foldOf(shared[1:]).State().Partial, "of a file that several runs share")
	assert.False(t, foldOf(whole[3:]).State().Partial, "a launcher's end")
}

// TestAStreamThatBeginsBehindAMarkOrBlankLines: rows of a training that was resumed, as the first lines of their file.
func TestAStreamThatBeginsBehindAMarkOrBlankLines(t *testing.T) {
	t.Parallel()
	for start, missing := range map[int64]bool{0: false, 3: false, 8: false, 9: true, 200: true} {
		rows := readStream(t, epoch(1, "", 5, "1"), epoch(2, "", 6, "1"))
		for i := range rows {
			rows[i].ID.Place += start
		}
		st := foldOf(rows).State()
		assert.Equal(t, missing, st.Headless, start)
		assert.Equal(t, missing, st.Partial, start)
	}
}

// TestAnEpochFarBehindAllOthersIsNoted: it counts, since an epoch.end says that it is complete.
func TestAnEpochFarBehindAllOthersIsNoted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		epochs []int
		far    string
	}{
		"stray":            {[]int{0, 1, 2, 1000, 3, 4}, "1000"},
		"of a hundred":     {[]int{0, 1, 50, 99, 1000, 100}, "1000"},
		"resumed":          {[]int{500, 501, 502}, ""},
		"resumed, stray":   {[]int{500, 501, 502, 5020}, "5020"},
		"each tenth":       {[]int{0, 10, 20, 30}, ""},
		"each hundredth":   {[]int{0, 100}, ""},
		"then each tenth":  {[]int{0, 1, 10, 20}, ""},
		"seldom and later": {[]int{0, 1, 2, 5, 10, 20, 50, 100}, ""},
		"told twice":       {[]int{0, 0, 7, 7}, ""},
		"one":              {[]int{0}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for i, e := range tc.epochs {
				lines = append(lines, line("epoch.end", float64(i), "", fmt.Sprintf(`"epoch": %d, "measurements": {"val/loss": 1}`, e)))
			}
			var want []Note
			if tc.far != "" {
				want = []Note{{NoteJump, tc.far}}
			}
			st := stateOf(t, lines...)
			assert.Equal(t, want, st.Notes)
			assert.Equal(t, int64(slices.Max(tc.epochs)+1), *st.Epochs.Completed)
		})
	}
}

// TestStepsThatBeginAnewAreNoted: a loop that counts the batches of an epoch tells no step of the run.
func TestStepsThatBeginAnewAreNoted(t *testing.T) {
	t.Parallel()
	row := func(e, s int, loss string) string {
		return line("step.end", -1, "", fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {"train/loss": %s}`, e, s, loss))
	}
	for name, tc := range map[string]struct {
		lines []string
		want  []Note
	}{
		"batches": {[]string{row(0, 0, "9"), row(0, 10, "8"), row(1, 0, "7"), row(1, 10, "6")}, []Note{{NoteSteps, ""}}},
		"steps":   {[]string{row(0, 0, "9"), row(0, 10, "8"), row(1, 20, "7"), row(1, 30, "6")}, nil},
		"resumed": {[]string{row(0, 0, "9"), row(1, 10, "8"), row(2, 20, "7"), row(1, 10, "6"), row(2, 20, "5")}, nil},
	} {
		assert.Equal(t, tc.want, stateOf(t, tc.lines...).Notes, name)
	}
}
