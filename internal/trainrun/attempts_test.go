package trainrun

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// supersedings are two attempts of a run each, and what is left of the first one.
var supersedings = map[string]struct {
	lines     []string
	curve     string
	completed int64
	// superseded epochs of the first attempt
	superseded int64
}{
	"by its first epoch": {
		lines: []string{
			epoch(1, `"attempt": 1`, 0, "4"), epoch(2, `"attempt": 1`, 1, "3"), epoch(3, `"attempt": 1`, 2, "0.5"), epoch(4, `"attempt": 1`, 3, "9"),
			epoch(5, `"attempt": 2`, 2, "2"),
		},
		curve: "0:4 1:3 2:2", completed: 3, superseded: 2,
	},
	"by resumed_from, before it has an epoch": {
		lines: []string{
			epoch(1, `"attempt": 1`, 0, "4"), epoch(2, `"attempt": 1`, 1, "3"), epoch(3, `"attempt": 1`, 2, "2"),
			line("run.start", 4, `"attempt": 2`, `"resumed_from": {"epoch": 1, "checkpoint": "c.pt"}`),
		},
		curve: "0:4", completed: 1, superseded: 2,
	},
	"by its first row, when resumed_from is the epoch of the checkpoint": {
		lines: []string{
			epoch(1, `"attempt": 1`, 0, "4"), epoch(2, `"attempt": 1`, 1, "1"), epoch(3, `"attempt": 1`, 2, "9"),
			line("run.start", 4, `"attempt": 2`, `"resumed_from": {"epoch": 1}`), epoch(5, `"attempt": 2`, 2, "2"),
		},
		curve: "0:4 1:1 2:2", completed: 3, superseded: 1,
	},
	"by resumed_from, when the rows come seldom": {
		lines: []string{
			epoch(1, `"attempt": 1`, 0, "4"), epoch(2, `"attempt": 1`, 1, "3"), epoch(3, `"attempt": 1`, 2, "1"),
			line("run.start", 4, `"attempt": 2`, `"resumed_from": {"epoch": 1}`), epoch(5, `"attempt": 2`, 3, "2"),
		},
		curve: "0:4 3:2", completed: 4, superseded: 2,
	},
	"not by a start that says nothing": {
		lines: []string{
			epoch(1, `"attempt": 1`, 0, "4"), epoch(2, `"attempt": 1`, 1, "3"), line("run.start", 4, `"attempt": 2`, ``),
		},
		curve: "0:4 1:3", completed: 2,
	},
	"by a second run.start, without numbers": {
		lines: []string{
			line("run.start", 0, "", ""), epoch(1, "", 0, "4"), epoch(2, "", 1, "3"), epoch(3, "", 2, "9"),
			line("run.start", 4, "", ""), epoch(5, "", 1, "2"),
		},
		curve: "0:4 1:2", completed: 2, superseded: 2,
	},
	"a new attempt from the beginning": {
		lines: []string{
			epoch(1, `"attempt": 1`, 0, "4"), epoch(2, `"attempt": 1`, 1, "3"), epoch(3, `"attempt": 2`, 0, "5"),
		},
		curve: "0:5", completed: 1, superseded: 2,
	},
}

func TestANewerAttemptSupersedesFromWhereItBegins(t *testing.T) {
	t.Parallel()
	for name, tc := range supersedings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
			assert.Equal(t, &tc.completed, st.Epochs.Completed)
			assert.Equal(t, tc.superseded, st.Attempts[0].SupersededEpochs)
			assert.Equal(t, int64(2), st.Attempt)
			require.Len(t, st.Attempts, 2)
		})
	}
}

func TestStepsOfOlderAttemptsEndWhereANewerBegins(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		step(1, "", 10, "3"), step(2, "", 20, "2"), step(3, "", 30, "1"),
		step(4, `"attempt": 2`, 20, "5"), step(5, `"attempt": 2`, 40, "4"))
	assert.Equal(t, "10:3 20:5 40:4", curve(seriesOf(st, "", "train/loss", AxisStep)))
	assert.Equal(t, ptr(40), st.Steps.Last)
	assert.Equal(t, []Attempt{
		{Number: 1, StartedAt: second(1), EndedAt: second(3), FirstStep: ptr(10), LastStep: ptr(30), SupersededSteps: 11},
		{Number: 2, StartedAt: second(4), EndedAt: second(5), FirstStep: ptr(20), LastStep: ptr(40)},
	}, st.Attempts)
}

func TestStepsOfSupersededEpochsAreGivenUpToo(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("step.end", 1, "", `"step": 10, "epoch": 0, "measurements": {"train/loss": 3}`),
		line("step.end", 2, "", `"step": 20, "epoch": 1, "measurements": {"train/loss": 2}`),
		line("run.start", 3, `"attempt": 2`, `"resumed_from": {"epoch": 1}`))
	assert.Equal(t, "10:3", curve(seriesOf(st, "", "train/loss", AxisStep)))
}

// Rows that come seldom: the first one is behind all steps of the older attempt, and only the start tells what it trained again.
func TestStepsOfAnEpochThatAStartNamesAreGivenUp(t *testing.T) {
	t.Parallel()
	lines := []string{
		validated(1, "", 0, 10, "0.5"), validated(2, "", 0, 20, "0.4"), validated(3, "", 1, 30, "0.3"), validated(4, "", 1, 50, "0.01"),
		line("run.start", 5, secondAttempt, `"resumed_from": {"epoch": 1}`),
		validated(6, secondAttempt, 1, 60, "0.46"), validated(7, secondAttempt, 1, 80, "0.48"),
	}
	f := foldOf(readStream(t, lines...))
	st := f.State()
	s := seriesOf(st, "", "val/loss", AxisStep)
	require.NotNil(t, s)
	assert.Equal(t, "10:0.5 20:0.4 60:0.46 80:0.48", curve(s))
	assert.EqualValues(t, 1, st.Attempts[0].SupersededEpochs)
	assert.EqualValues(t, 21, st.Attempts[0].SupersededSteps)
	gone := f.Superseded(s)
	require.Len(t, gone, 1)
	assert.Equal(t, "30:0.3 50:0.01", curve(&Series{Points: gone[0].Points}))
}

// TestAStepInResumedFromMeansNothing: the vocabulary has none.
func TestAStepInResumedFromMeansNothing(t *testing.T) {
	t.Parallel()
	st := stateOf(t, step(1, "", 10, "3"), step(2, "", 20, "2"), line("run.start", 3, `"attempt": 2`, `"resumed_from": {"step": 20}`))
	assert.Equal(t, "10:3 20:2", curve(seriesOf(st, "", "train/loss", AxisStep)))
}

func TestAttemptsInSeveralFilesGoByTime(t *testing.T) {
	t.Parallel()
	first := readStream(t, line("run.start", 0, "", `"command": "first"`), epoch(1, "", 0, "4"), epoch(2, "", 1, "3"), epoch(3, "", 2, "9"))
	second := readStream(t, line("run.start", 10, "", `"command": "second"`), epoch(11, "", 1, "2"))
	st := foldOf(second, first).State()
	assert.Equal(t, "0:4 1:2", curve(seriesOf(st, "", "val/loss", AxisEpoch)))
	assert.Equal(t, "second", st.Command)
	require.Len(t, st.Attempts, 2)
	assert.Equal(t, int64(2), st.Attempts[1].Number)
}

func TestACopiedRunStartBeginsNoAttempt(t *testing.T) {
	t.Parallel()
	start := line("run.start", 0, "", "")
	st := stateOf(t, start, start, epoch(1, "", 0, "4"))
	assert.Len(t, st.Attempts, 1)
}

func TestStartsOfRanksAndPartsBeginNoAttempts(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("run.start", 0, "", ""), line("run.start", 1, `"rank": 1`, ""),
		line("run.start", 2, `"part": "fold=0"`, ""), line("run.start", 3, `"part": "fold=1"`, ""), epoch(4, `"part": "fold=1"`, 0, "1"))
	assert.Len(t, st.Attempts, 1)
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	failureAt := func(at float64, head string) string {
		return line("run.failure", at, head, `"error_type": "OOM", "message": "m"`)
	}
	endAt := func(at float64, head, outcome string) string {
		return line("run.end", at, head, `"outcome": "`+outcome+`", "stop_reason": "r-`+outcome+`"`)
	}
	for name, tc := range map[string]struct {
		lines                 []string
		outcome, from, reason string
		ended                 int64
	}{
		"nothing said":              {lines: []string{epoch(1, "", 0, "1")}},
		"an end":                    {[]string{endAt(5, "", "aborted")}, "aborted", FromEnd, "r-aborted", second(5)},
		"end over failure":          {[]string{failureAt(4, ""), endAt(5, "", "success")}, "success", FromEnd, "r-success", second(5)},
		"failure without end":       {[]string{failureAt(4, `"rank": 3`)}, "failed", FromFailure, "", second(4)},
		"lowest rank that wrote":    {[]string{endAt(9, `"rank": 2`, "failed"), endAt(5, `"rank": 1`, "success")}, "success", FromEnd, "r-success", second(5)},
		"the later of two":          {[]string{endAt(5, "", "failed"), endAt(6, "", "success")}, "success", FromEnd, "r-success", second(6)},
		"a newer attempt goes on":   {lines: []string{endAt(5, "", "failed"), epoch(6, `"attempt": 2`, 0, "1")}},
		"a failure of an older one": {lines: []string{failureAt(5, ""), epoch(6, `"attempt": 2`, 0, "1")}},
		"a launcher's end without a number": {
			[]string{epoch(6, `"attempt": 2`, 0, "1"), endAt(7, "", "success")}, "success", FromEnd, "r-success", second(7),
		},
		"all parts ended": {
			[]string{
				epoch(1, `"part": "a"`, 0, "1"), endAt(2, `"part": "a"`, "failed"), epoch(3, `"part": "b"`, 0, "1"), endAt(4, `"part": "b"`, "success"),
			}, "failed", FromParts, "r-failed", second(4),
		},
		"one part goes on": {lines: []string{epoch(1, `"part": "a"`, 0, "1"), endAt(2, `"part": "a"`, "failed"), epoch(3, `"part": "b"`, 0, "1")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			assert.Equal(t, tc.outcome, st.Outcome)
			assert.Equal(t, tc.from, st.OutcomeFrom)
			assert.Equal(t, tc.reason, st.StopReason)
			assert.Equal(t, tc.ended, st.EndedAt)
		})
	}
}

func TestAnAttemptThatOnlyFailedHasFailed(t *testing.T) {
	t.Parallel()
	failed := line("run.failure", 2, `"rank": 1`, `"error_type": "OOM"`)
	assert.Equal(t, "failed", stateOf(t, epoch(1, "", 0, "1"), failed, epoch(3, "", 1, "1")).Attempts[0].Outcome)
	assert.Equal(t, "aborted", stateOf(t, failed, line("run.end", 3, "", `"outcome": "aborted"`)).Attempts[0].Outcome)
}

func TestHostsInConflict(t *testing.T) {
	t.Parallel()
	at := func(when float64, host, rank string, n int) string {
		return epoch(when, `"host": "`+host+`", "rank": `+rank, n, "1")
	}
	for name, tc := range map[string]struct {
		lines []string
		want  *Conflict
	}{
		"one after the other": {lines: []string{at(1, "a", "0", 0), at(2, "a", "0", 1), at(3, "b", "0", 2), at(4, "b", "0", 3)}},
		"at once": {
			lines: []string{at(1, "b", "0", 0), at(2, "a", "0", 1), at(3, "b", "0", 2), at(4, "a", "0", 3)},
			want:  &Conflict{Hosts: []HostSpan{{"b", second(1), second(3)}, {"a", second(2), second(4)}}},
		},
		"other ranks": {lines: []string{at(1, "b", "0", 0), at(2, "a", "1", 1), at(3, "b", "0", 2), at(4, "a", "1", 3)}},
		"there and back": {lines: []string{
			line("run.start", 0, `"host": "a"`, ""), at(1, "a", "0", 0), line("run.start", 2, `"host": "b"`, ""), at(3, "b", "0", 1),
			line("run.start", 4, `"host": "a"`, ""), at(5, "a", "0", 2),
		}},
		"one record is no stay": {lines: []string{at(1, "b", "0", 0), at(2, "a", "0", 1), at(3, "b", "0", 2)}},
		"without times":         {lines: []string{at(-1, "b", "0", 0), at(-1, "a", "0", 1), at(-1, "b", "0", 2)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, stateOf(t, tc.lines...).Conflict)
		})
	}
}

func TestAResumeOnAnotherHostIsOneResult(t *testing.T) {
	t.Parallel()
	st := stateOf(t, epoch(1, `"host": "a"`, 0, "1"), epoch(2, `"host": "b", "attempt": 2`, 1, "0.5"))
	assert.Nil(t, st.Conflict)
	assert.Equal(t, "a", st.Attempts[0].Host)
	assert.Equal(t, "b", st.Attempts[1].Host)
	assert.Equal(t, "b", st.Where.Host)
}

// TestACheckpointThatNamesAStepOnly is that of the best epoch when the epoch's value was told at the step.
func TestACheckpointThatNamesAStepOnly(t *testing.T) {
	t.Parallel()
	eval := func(at float64, epoch, step int, loss string) string {
		return line("phase.end", at, `"phase": "validation"`, fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {"val/loss": %s}`, epoch, step, loss))
	}
	save := func(at float64, step int) string {
		return line("checkpoint.save", at, "", fmt.Sprintf(`"path": "out/checkpoint-%d", "step": %d, "kind": "periodic"`, step, step))
	}
	st := stateOf(t, eval(1, 0, 3, "9"), save(2, 3), eval(3, 0, 5, "0.5"), save(4, 5), eval(5, 1, 10, "0.7"), save(6, 10))
	require.NotNil(t, st.Best)
	assert.Equal(t, AxisStep, st.Best.Axis, "an epoch has two")
	assert.Equal(t, int64(5), st.Best.X)
	require.NotNil(t, st.Best.Checkpoint)
	assert.Equal(t, "out/checkpoint-5", st.Best.Checkpoint.Path)

	st = stateOf(t, eval(3, 0, 5, "0.5"), save(4, 5), eval(5, 1, 10, "0.7"), save(6, 10))
	require.NotNil(t, st.Best)
	assert.Equal(t, AxisEpoch, st.Best.Axis)
	assert.Equal(t, int64(0), st.Best.X)
	require.NotNil(t, st.Best.Checkpoint)
	assert.Equal(t, "out/checkpoint-5", st.Best.Checkpoint.Path)
}
