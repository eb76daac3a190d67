package trainrun

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// evalAt is a validation at a step of a training that knows no epochs.
func evalAt(at float64, n int, loss string) string {
	return line("phase.end", at, "", fmt.Sprintf(`"step": %d, "measurements": {"val/loss": %s}`, n, loss))
}

func startAt(at float64, head string) string { return line("run.start", at, head, "") }

// inEpoch is a step of a training whose epochs are known.
func inEpoch(at float64, epoch, n int) string {
	return line("step.end", at, "", fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {"train/loss": 1}`, epoch, n))
}

// firstStarts are streams whose only run.start stands behind rows.
var firstStarts = map[string]struct {
	lines    []string
	attempts int
	curve    string
}{
	"steps told again": {
		[]string{
			step(1, "", 30, "1"), evalAt(2, 30, "0.5"), step(3, "", 35, "1"), evalAt(4, 35, "0.01"), startAt(10, ""),
			step(11, "", 32, "1"), evalAt(12, 40, "0.4"), evalAt(13, 50, "0.3"), evalAt(14, 60, "0.35"),
		},
		2, "30:0.5 40:0.4 50:0.3 60:0.35",
	},
	"without times": {
		[]string{step(-1, "", 30, "1"), evalAt(-1, 35, "0.01"), startAt(-1, ""), step(-1, "", 30, "1"), step(-1, "", 32, "1"), evalAt(-1, 40, "0.4")},
		2, "40:0.4",
	},
	"behind a validation": {
		[]string{step(1, "", 30, "1"), evalAt(2, 35, "0.01"), startAt(10, ""), step(11, "", 32, "1"), evalAt(12, 40, "0.4")},
		2, "40:0.4",
	},
	"epochs told again": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(3, "", 2, "1"), startAt(4, ""), epoch(5, "", 1, "7")},
		2, "0:9 1:7",
	},
	"the last epoch again": {
		[]string{epoch(1, "", 0, "9"), startAt(4, ""), epoch(5, "", 0, "7"), epoch(6, "", 1, "6")},
		2, "0:7 1:6",
	},
	"the last step again": {
		[]string{step(1, "", 10, "1"), step(2, "", 20, "1"), evalAt(3, 20, "0.01"), startAt(4, ""), step(5, "", 20, "1"), evalAt(6, 30, "0.4")},
		2, "30:0.4",
	},
	"an epoch of steps again": {
		[]string{inEpoch(1, 0, 10), inEpoch(2, 1, 20), stepless(3, "phase.end", 1, "0.01"), startAt(4, ""), inEpoch(5, 0, 12), stepless(6, "phase.end", 0, "1")},
		2, "0:1",
	},
	"a third attempt": {
		[]string{
			epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), startAt(4, ""), epoch(5, "", 1, "7"), epoch(6, "", 2, "0.01"), startAt(7, ""), epoch(8, "", 2, "6"),
		},
		3, "0:9 1:7 2:6",
	},
	"told by resumed_from": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(3, "", 2, "1"), line("run.start", 4, "", `"resumed_from": {"epoch": 1}`), epoch(5, "", 4, "7")},
		2, "0:9 4:7",
	},
	"told by resumed_from, and no row yet": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), line("run.start", 4, "", `"resumed_from": {"epoch": 1}`)},
		2, "0:9",
	},
	"resumed from another run, a moment late": {
		[]string{epoch(1, "", 4, "9"), line("run.start", 4, "", `"resumed_from": {"epoch": 4}`), epoch(5, "", 5, "7")},
		1, "4:9 5:7",
	},
	"a moment late": {
		[]string{step(1, "", 1, "1"), step(2, "", 2, "1"), startAt(3, ""), step(4, "", 3, "1"), evalAt(5, 3, "0.5")},
		1, "3:0.5",
	},
	"between two rows of the first step": {
		[]string{step(1, "", 10, "1"), startAt(2, ""), line("step.end", 3, "", `"step": 10, "measurements": {"train/acc": 1}`), evalAt(5, 20, "0.5")},
		1, "20:0.5",
	},
	"between a validation and the end of its epoch": {
		[]string{stepless(1, "phase.end", 0, "0.5"), line("step.end", 1, "", `"epoch": 0, "step": 10`), startAt(2, ""), line("epoch.end", 3, "", `"epoch": 0, "step": 10`), epoch(4, "", 1, "0.4")},
		1, "0:0.5 1:0.4",
	},
	"before the steps of the next epoch, which begin anew": {
		[]string{inEpoch(1, 0, 1), inEpoch(2, 0, 2), inEpoch(2, 0, 3), stepless(3, "phase.end", 0, "5"), inEpoch(4, 1, 1), startAt(5, ""), inEpoch(6, 1, 2), stepless(7, "phase.end", 1, "4")},
		1, "0:5 1:4",
	},
	"evaluated once more": {
		[]string{step(1, "", 10, "1"), evalAt(2, 10, "0.5"), step(3, "", 20, "1"), startAt(4, ""), evalAt(5, 10, "0.4"), step(6, "", 30, "1")},
		1, "10:0.4",
	},
	"goes on": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), startAt(4, ""), epoch(5, "", 2, "7")},
		1, "0:9 1:8 2:7",
	},
	"of another rank": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), startAt(3, `"rank": 1`), epoch(4, "", 1, "7")},
		1, "0:9 1:7",
	},
	"of another part": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), startAt(3, `"part": "a"`), epoch(4, `"part": "a"`, 0, "7")},
		1, "0:9 1:8",
	},
	"of another number": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), startAt(3, secondAttempt), epoch(4, secondAttempt, 1, "7")},
		2, "0:9 1:7",
	},
	"the next part": {
		[]string{epoch(1, `"part": "a"`, 0, "9"), startAt(2, ""), epoch(3, `"part": "a"`, 1, "8"), epoch(4, `"part": "b"`, 0, "7"), epoch(5, "", 0, "6")},
		1, "0:6",
	},
}

// TestTheFirstRunStartOfAStreamBehindRows begins a second attempt where what follows tells again what stands before it.
func TestTheFirstRunStartOfAStreamBehindRows(t *testing.T) {
	t.Parallel()
	for name, tc := range firstStarts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := foldOf(readStream(t, tc.lines...))
			st := f.State()
			require.Len(t, st.Attempts, tc.attempts)
			axis := AxisEpoch
			if strings.Contains(strings.Join(tc.lines, ""), `"step": `) && seriesOf(st, "", "val/loss", AxisEpoch) == nil {
				axis = AxisStep
			}
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", axis)))
			f.Thin(0)
			assertOnlyPointsGone(t, st, f.State())
		})
	}
}

// A run.start whose rows are in another file tells of no rows before it.
func TestARunStartInAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	rows := readStream(t, step(1, "", 1, "1"), step(2, "", 2, "1"), step(4, "", 2, "1"), evalAt(5, 2, "0.5"))
	start := readStream(t, line("log", 0, "", `"message": "launched"`), startAt(3, ""))
	st := foldOf(start, rows).State()
	assert.Len(t, st.Attempts, 1)
	assert.Equal(t, "2:0.5", curve(seriesOf(st, "", "val/loss", AxisStep)))
}

// The launcher of each rank writes a run.start when it resumes. The failure of the other rank is one of the second attempt.
func TestRanksThatResumeTogether(t *testing.T) {
	t.Parallel()
	rank := func(first float64) []Entry {
		return readStream(t, line("heartbeat", 0.5, `"rank": 1`, ""), startAt(first, `"rank": 1`), line("run.failure", 20, `"rank": 1`, `"error_type": "OOM"`))
	}
	main := readStream(t, epoch(1, "", 0, "9"), epoch(2, "", 1, "0.1"), startAt(10, ""), epoch(11, "", 1, "7"))
	for first, attempt := range map[float64]int64{10.1: 2, 0.7: 1} {
		st := foldOf(rank(first), main).State()
		require.Len(t, st.Attempts, 2)
		require.Len(t, st.Failures, 1)
		assert.Equal(t, attempt, st.Failures[0].Attempt)
		assert.Equal(t, map[int64]string{1: "", 2: "failed"}[attempt], st.Outcome)
	}
}

// A late run.start stays one when steps are given up and the row behind it is no power of two: lines that come out of order begin no attempt.
func TestALateRunStartAmongThinnedSteps(t *testing.T) {
	t.Parallel()
	var lines []string
	for n := 1; n <= 64; n++ {
		lines = append(lines, step(float64(n), "", n, "1"))
		if n == 33 {
			lines = append(lines, startAt(33.1, ""), step(33.2, "", 35, "1"), step(33.3, "", 3, "-1"))
		}
	}
	f := foldOf(readStream(t, lines...))
	want := f.State()
	require.Len(t, want.Attempts, 1)
	require.True(t, f.Thin(0))
	assertOnlyPointsGone(t, want, f.State())
}

// drawTornRun draws a training whose first start is lost, the attempts that resume it, where each begins, and what survives.
func drawTornRun(t *rapid.T) (list []Entry, attempts int, left map[int64]float64) {
	length := rapid.SampledFrom([]int64{0, 3, 5}).Draw(t, "length") // steps of an epoch, 0 for none
	timed := rapid.Bool().Draw(t, "timed")
	place, now := int64(0), int64(1000)
	add := func(e Entry) {
		place, now = place+50, now+1
		if e.ID.Place, e.ID.CRC = place, uint32(place); timed {
			e.Time = now
		}
		list = append(list, e)
	}
	attempts = rapid.IntRange(1, 4).Draw(t, "attempts")
	left = map[int64]float64{}
	reached := int64(0)
	for a := range attempts {
		from := int64(1)
		if a > 0 {
			from = rapid.Int64Range(1, reached).Draw(t, "from")
			e := stepEntry(0, 1, 0)
			e.Time, e.Event, e.Step, e.Detail = 0, EventRunStart, Int{}, &Detail{}
			add(e)
			for x := range left {
				if x >= from {
					delete(left, x)
				}
			}
		}
		late := a == 0 && attempts == 1 && rapid.Bool().Draw(t, "late")
		to := from + rapid.Int64Range(2, 20).Draw(t, "steps")
		for n := from; n <= to; n++ {
			e := stepEntry(n, 1, 0, Value{"train/loss", 1})
			if e.Time = 0; length > 0 {
				e.Epoch = Int{(n - 1) / length, true}
			}
			add(e)
			if rapid.IntRange(0, 3).Draw(t, "validates") == 0 || n == to {
				v := float64(place)
				e.Event, e.Epoch, e.Values = EventPhaseEnd, Int{}, []Value{{"val/loss", v}}
				add(e)
				left[n] = v
			}
			if late && n == from {
				s := stepEntry(0, 1, 0)
				s.Time, s.Event, s.Step, s.Detail = 0, EventRunStart, Int{}, &Detail{}
				add(s)
			}
		}
		reached = max(reached, to)
	}
	return list, attempts, left
}

// TestTheSurvivingCurveOfARunWhoseFirstStartIsLost does not depend on order, repetition or restarts, and stays when steps are given up.
func TestTheSurvivingCurveOfARunWhoseFirstStartIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list, attempts, left := drawTornRun(t)
		plain, other := foldOf(list), disturb(t, list, defaultLimits())
		st := plain.State()
		require.Equal(t, dump(st), dump(other.State()))
		require.Len(t, st.Attempts, attempts)
		s := seriesOf(st, "", "val/loss", AxisStep)
		require.NotNil(t, s)
		got := map[int64]float64{}
		for _, p := range s.Points {
			got[p.X] = p.V
		}
		require.Equal(t, left, got)
		other.Thin(0)
		assertOnlyPointsGone(t, st, other.State())
	})
}
