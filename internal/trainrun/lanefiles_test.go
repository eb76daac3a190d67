package trainrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rewritten reads a stream that is written anew: each text takes the place of the one before. What they have in common at the beginning is
// read again each time.
func rewritten(t testing.TB, texts ...[]string) [][]Entry {
	t.Helper()
	var out [][]Entry
	for n, text := range texts {
		list := readStream(t, text...)
		for i := range list {
			list[i].Text, list[i].Replaces, list[i].Path = int64(n), int64(n), 1
		}
		out = append(out, list)
	}
	return out
}

// rewrites are streams that a trainer writes anew; the first line is the same.
var rewrites = map[string]struct {
	texts    [][]string
	attempts int
	curve    string
	outcome  string
}{
	"cut back to a checkpoint": {
		[][]string{
			{epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8"), epoch(-1, "", 2, "1"), epoch(-1, "", 3, "0.5")},
			{epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8"), epoch(-1, "", 2, "7"), epoch(-1, "", 3, "6")},
		}, 2, "0:9 1:8 2:7 3:6", "",
	},
	"a shorter training": {
		[][]string{
			{epoch(1, "", 0, "9"), epoch(2, "", 1, "8.125"), epoch(3, "", 2, "1"), success(4)},
			{epoch(1, "", 0, "9"), epoch(11, "", 1, "8")},
		}, 2, "0:9 1:8", "",
	},
	"behind a header": {
		[][]string{
			{line("heartbeat", 0, "", ""), epoch(1, "", 0, "9"), epoch(2, "", 1, "0.125"), success(3)},
			{line("heartbeat", 0, "", ""), evaluated(11, 0, "7"), step(12, "", 10, "5"), epoch(12, "", 0, "6"), line("run.end", 13, "", `"outcome": "failed"`)},
		}, 2, "0:6", "failed",
	},
	"with a run.start": {
		[][]string{
			{line("run.start", 0, "", ""), epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), success(3)},
			{line("run.start", 0, "", ""), line("run.start", 10, "", ""), epoch(11, "", 0, "7")},
		}, 2, "0:7", "",
	},
	"a longer training in the place of the end": {
		[][]string{
			{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), success(3)},
			{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(4, "", 2, "7")},
		}, 2, "0:9 1:8 2:7", "",
	},
	"a failure that is gone": {
		[][]string{
			{epoch(1, "", 0, "9"), line("run.failure", 3, "", `"message": "out of memory"`)},
			{epoch(1, "", 0, "9"), epoch(4, "", 1, "7")},
		}, 2, "0:9 1:7", "",
	},
	"only more of it": {
		[][]string{
			{epoch(1, "", 0, "9")},
			{epoch(1, "", 0, "9"), epoch(2, "", 1, "8")},
			{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(3, "", 2, "7")},
		}, 1, "0:9 1:8 2:7", "",
	},
	"the last line is written again": {
		[][]string{
			{epoch(1, "", 0, "9"), epoch(2, "", 1, "8")},
			{epoch(1, "", 0, "9"), epoch(3, "", 1, "7.5")},
			{epoch(1, "", 0, "9"), epoch(4, "", 1, "7")},
			{epoch(1, "", 0, "9"), epoch(4, "", 1, "7"), success(5)},
		}, 1, "0:9 1:7", "success",
	},
	"three trainings": {
		[][]string{
			{line("heartbeat", 0, "", ""), epoch(1, "", 0, "9"), epoch(2, "", 1, "8.25")},
			{line("heartbeat", 0, "", ""), epoch(1, "", 0, "7.5"), epoch(2, "", 1, "6.25"), epoch(2, "", 2, "6")},
			{line("heartbeat", 0, "", ""), epoch(1, "", 0, "5")},
		}, 3, "0:5", "",
	},
}

// TestAStreamThatIsWrittenAnew: what a newer text took the place of counts no more, wherever it stood.
func TestAStreamThatIsWrittenAnew(t *testing.T) {
	t.Parallel()
	for name, tc := range rewrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := foldOf(rewritten(t, tc.texts...)...).State()
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
			assert.Len(t, st.Attempts, tc.attempts)
			assert.Equal(t, tc.outcome, st.Outcome)
		})
	}
}

// habit is what a trainer writes.
type habit struct{ timed, steps, apart bool }

// draw draws what follows a prefix of a stream: a training that goes on from an epoch, maybe to its end.
func (h *habit) draw(t *rapid.T, from int) []string {
	at := func() float64 {
		if !h.timed {
			return -1
		}
		return float64(rapid.IntRange(0, 50).Draw(t, "at"))
	}
	loss := func() string { return fmt.Sprint(rapid.IntRange(1, 1000).Draw(t, "loss")) }
	var out []string
	for n := range rapid.IntRange(1, 5).Draw(t, "epochs") {
		e := from + n
		if h.steps {
			out = append(out, step(at(), "", 10*e+5, loss()))
		}
		if h.apart {
			out = append(out, line("phase.end", at(), `"phase": "validation"`, fmt.Sprintf(`"epoch": %d, "measurements": {"val/acc": %s}`, e, loss())))
		}
		out = append(out, epoch(at(), "", e, loss()))
	}
	if rapid.Bool().Draw(t, "ended") {
		out = append(out, line("run.end", at(), "", fmt.Sprintf(`"outcome": %q`, rapid.SampledFrom([]string{"success", "failed", "aborted"}).Draw(t, "outcome"))))
	}
	return out
}

// epochsOf counts the epochs that a text tells.
func epochsOf(text []string) int { return strings.Count(strings.Join(text, "\n"), `"epoch.end"`) }

// TestTheNewestTextIsWhatAStreamSays checks: whatever was written over, and wherever, curves, best and outcome are those of the file as it
// stands.
func TestTheNewestTextIsWhatAStreamSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := habit{rapid.Bool().Draw(rt, "timed"), rapid.Bool().Draw(rt, "steps"), rapid.Bool().Draw(rt, "apart")}
		texts := [][]string{append([]string{line("heartbeat", 0, "", "")}, h.draw(rt, 0)...)}
		for range rapid.IntRange(1, 4).Draw(rt, "rewrites") {
			old := texts[len(texts)-1]
			kept := old[:rapid.IntRange(1, len(old)).Draw(rt, "kept")]
			for strings.Contains(kept[len(kept)-1], `"run.end"`) || strings.Contains(kept[len(kept)-1], `"phase.end"`) || strings.Contains(kept[len(kept)-1], `"step.end"`) {
				kept = kept[:len(kept)-1] // a resumed training begins with an epoch
			}
			next := append(append([]string(nil), kept...), h.draw(rt, epochsOf(kept))...)
			for len(next) <= len(old) && slices.Equal(next, old[:len(next)]) { // a text that has nothing new is not told from one that is being written
				next = append(slices.DeleteFunc(next, func(l string) bool { return strings.Contains(l, `"run.end"`) }), h.draw(rt, epochsOf(next))...)
			}
			texts = append(texts, next)
		}
		lists := rewritten(t, texts...)
		st, want := foldOf(lists...).State(), foldOf(readStream(t, texts[len(texts)-1]...)).State()
		require.Equal(rt, want.Outcome, st.Outcome)
		require.Equal(rt, want.Epochs.Completed, st.Epochs.Completed)
		require.Equal(rt, want.Steps.Last, st.Steps.Last)
		require.Equal(rt, dump(want.Best), dump(st.Best))
		for _, name := range []string{"val/loss", "val/acc", "train/loss"} {
			for _, axis := range []Axis{AxisEpoch, AxisStep} {
				require.Equal(rt, curve(seriesOf(want, "", name, axis)), curve(seriesOf(st, "", name, axis)), "%s over %s", name, axis)
			}
		}
		require.Equal(rt, dump(st), dump(resent(rt, lists).State()))
	})
}

// resent delivers a stream as its reader does: each line in its turn, what was not acknowledged again, with restarts in between.
func resent(t *rapid.T, lists [][]Entry) *Fold {
	f := New(testRun)
	for _, list := range lists {
		for from := 0; from < len(list); {
			to := rapid.IntRange(from+1, len(list)).Draw(t, "to")
			for _, e := range list[from:to] {
				f.Apply(e)
			}
			if rapid.Bool().Draw(t, "restart") {
				g, err := Restore(f.Snapshot())
				require.NoError(t, err)
				f = g
			}
			if from = to; rapid.Bool().Draw(t, "again") {
				from = rapid.IntRange(0, to-1).Draw(t, "from")
				for _, e := range list[from:to] {
					f.Apply(e)
				}
				from = to
			}
		}
	}
	return f
}

// file gives the entries a path and a text.
func file(path uint32, text, replaces int64, list []Entry) []Entry {
	for i := range list {
		list[i].Path, list[i].Text, list[i].Replaces = path, text, replaces
	}
	return list
}

// TestTextsOfOneFileLeaveOtherFilesAlone: files of a run often have the same first line.
func TestTextsOfOneFileLeaveOtherFilesAlone(t *testing.T) {
	t.Parallel()
	head := line("heartbeat", -1, "", "")
	for name, tc := range map[string]struct {
		lists      [][]Entry
		curve, acc string
		completed  int64
	}{
		"the file of validations beside": {
			[][]Entry{
				file(1, 0, 0, readStream(t, head, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8"), epoch(-1, "", 2, "7"))),
				file(2, 0, 0, readStream(t, head, accuracy(-1, 0, "1"), accuracy(-1, 1, "2"), accuracy(-1, 2, "3"))),
				file(1, 1, 1, readStream(t, head, epoch(-1, "", 0, "6.5"), epoch(-1, "", 1, "5.5"), epoch(-1, "", 2, "4.5"))),
				file(2, 0, 0, readStream(t, head, accuracy(-1, 0, "1"), accuracy(-1, 1, "2"), accuracy(-1, 2, "3"), accuracy(-1, 3, "4"))),
			},
			"0:6.5 1:5.5 2:4.5", "0:1 1:2 2:3 3:4", 3,
		},
		"that of another rank": {
			[][]Entry{
				file(1, 0, 0, readStream(t, head, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8"), epoch(-1, "", 2, "7"))),
				file(2, 0, 0, readStream(t, head, epoch(-1, `"rank": 1`, 0, "9.5"), epoch(-1, `"rank": 1`, 1, "8.5"))),
				file(2, 1, 1, readStream(t, head, epoch(-1, `"rank": 1`, 0, "9.25"))),
			},
			"0:9 1:8 2:7", "none", 3,
		},
		"a rotated one": {
			[][]Entry{
				file(1, 0, 0, readStream(t, head, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "1"), epoch(-1, "", 2, "7"))),
				file(1, 1, 0, readStream(t, head, epoch(-1, "", 3, "6"), epoch(-1, "", 4, "5"))),
				file(1, 2, 1, readStream(t, head, epoch(-1, "", 3, "5.5"))),
			},
			"0:9 1:1 2:7 3:5.5", "none", 4,
		},
		"another first line": {
			[][]Entry{
				file(1, 0, 0, readStream(t, line("heartbeat", -1, "", `"dump": 1`), epoch(-1, "", 0, "9"), epoch(-1, "", 1, "1"), epoch(-1, "", 2, "7"), success(-1))),
				file(1, 1, 1, readStream(t, line("heartbeat", -1, "", `"dump": 2`), epoch(-1, "", 0, "8"))),
			},
			"0:8", "none", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := foldOf(tc.lists...).State()
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
			assert.Equal(t, tc.acc, curve(seriesOf(st, "", "val/acc", AxisEpoch)))
			assert.Equal(t, &tc.completed, st.Epochs.Completed)
			assert.Empty(t, st.Outcome)
		})
	}
}

func accuracy(at float64, n int, v string) string {
	return line("phase.end", at, `"phase": "validation"`, fmt.Sprintf(`"epoch": %d, "measurements": {"val/acc": %s}`, n, v))
}

// TestATextThatIsBackCountsAgain: what a run.start says, and artifacts, are those of the newest text, whichever had them before.
func TestATextThatIsBackCountsAgain(t *testing.T) {
	t.Parallel()
	text := func(planned, mode, sha, loss string) []string {
		return []string{
			line("heartbeat", -1, "", ""),
			line("run.start", -1, "", `"planned_epochs": `+planned+`, "objective": {"metric": "val/loss", "mode": "`+mode+`"}`),
			line("artifact", -1, "", `"role": "report", "path": "r.txt", "sha256": "`+sha+`", "size": 1`), epoch(-1, "", 0, loss),
		}
	}
	last := text("5", "min", "01", "7")
	st, want := foldOf(rewritten(t, text("5", "min", "01", "9"), text("7", "max", "02", "8"), last)...).State(), foldOf(readStream(t, last...)).State()
	assert.Equal(t, dump(want.Epochs), dump(st.Epochs))
	assert.Equal(t, dump(want.Best), dump(st.Best))
	assert.Equal(t, dump(want.Artifacts), dump(st.Artifacts))
}

// TestALineIsTakenOnceOfEachText: what Apply refuses is in no journal.
func TestALineIsTakenOnceOfEachText(t *testing.T) {
	t.Parallel()
	lists := rewritten(t, []string{line("heartbeat", -1, "", ""), epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8"), success(-1)},
		[]string{line("heartbeat", -1, "", ""), epoch(-1, "", 0, "7"), epoch(-1, "", 1, "8"), success(-1)})
	f := New(testRun)
	var got []bool
	for _, list := range append(lists, lists[1], lists[0]) {
		for _, e := range list {
			got = append(got, f.Apply(e))
		}
	}
	assert.Equal(t, []bool{true, true, true, true, false, true, true, true, false, false, false, false, false, false, false, false}, got)
	assert.EqualValues(t, 5, f.Count(), "records by their uids")
	assert.Equal(t, "success", f.State().Outcome)
}

// TestARowOfARotatedFileIsOfItsAttempt: its text has another first line than that in which the newest attempt begins, and no time tells.
func TestARowOfARotatedFileIsOfItsAttempt(t *testing.T) {
	t.Parallel()
	again := epoch(-1, "", 1, "8")
	st := foldOf(
		file(1, 0, 0, readStream(t, epoch(-1, "", 0, "9"))),
		file(1, 1, 0, readStream(t, again, success(-1))),
		file(1, 2, 1, readStream(t, again, epoch(-1, "", 2, "7"))),
	).State()
	assert.Equal(t, "0:9 1:8 2:7", curve(seriesOf(st, "", "val/loss", AxisEpoch)))
	assert.Len(t, st.Attempts, 2)
}

// TestTextsOfAFileWithOtherFirstLines: what is not there any more takes over nothing, whichever attempt its place or time puts it in.
func TestTextsOfAFileWithOtherFirstLines(t *testing.T) {
	t.Parallel()
	rows := func(at float64, from int, losses ...string) (out []string) {
		for i, loss := range losses {
			if at >= 0 {
				at++
			}
			out = append(out, epoch(at, "", from+i, loss))
		}
		return out
	}
	back := rows(-1, 0, "9", "8")
	for name, tc := range map[string]struct {
		texts [][]string
		curve string
	}{
		"an older text is back, and cut": {
			[][]string{
				back, rows(-1, 0, "7.5", "6.5"), slices.Concat(back, rows(-1, 2, "5", "4")), slices.Concat(back, rows(-1, 2, "3")),
			}, "0:9 1:8 2:3",
		},
		"epochs keep their times": {
			[][]string{
				append(rows(0, 0, "9", "8", "7", "6", "5"), success(6)), slices.Concat(rows(0, 0, "9", "8", "7", "6"), rows(4, 4, "4", "3", "2")),
				slices.Concat(rows(0, 0, "9"), rows(1, 1, "8.5")), rows(0, 0, "9.25", "8.25", "7.25", "6.25"),
			}, "0:9.25 1:8.25 2:7.25 3:6.25",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := foldOf(rewritten(t, tc.texts...)...).State()
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
		})
	}
}
