package trainrun

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var inf = math.Inf(1)

func textOf(v any) string { return fmt.Sprint(v) }

func TestNothingIsMadeOfMissingTimes(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("run.start", -1, "", ""), epoch(-1, "", 0, "1"),
		line("run.end", -1, "", `"outcome": "success", "durations": {"run_s": 12.5}`))
	assert.Zero(t, st.StartedAt)
	assert.Zero(t, st.EndedAt)
	assert.Zero(t, st.LastRecordAt)
	assert.Zero(t, st.Durations.Run)
	assert.Equal(t, int64(12.5e9), st.Durations.RunReported)
	assert.Equal(t, int64(3), st.Records.NoTime)
	assert.Equal(t, []Attempt{{Number: 1, Outcome: "success", FirstEpoch: ptr(0), LastEpoch: ptr(0)}}, st.Attempts)
}

func TestTheRunStartsWithItsStart(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("log", 1, "", ""), line("run.start", 5, "", ""), line("heartbeat", 9, "", ""))
	assert.Equal(t, second(5), st.StartedAt)
	assert.Equal(t, second(9), st.LastRecordAt)
	st = stateOf(t, line("log", 1, "", ""), line("heartbeat", 9, "", ""))
	assert.Equal(t, second(1), st.StartedAt)
}

func TestPhaseTotals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"a phase and its epoch are one time": {[]string{
			line("phase.end", 1, `"phase": "validation"`, `"epoch": 0, "durations": {"phase_s": 2}`),
			line("epoch.end", 2, "", `"epoch": 0, "durations": {"train_s": 5, "validation_s": 2, "epoch_s": 7}`),
			line("phase.end", 3, `"phase": "validation"`, `"epoch": 1, "durations": {"phase_s": 3}`),
		}, "train:5s validation:5s"},
		"only epochs": {[]string{
			line("epoch.end", 2, "", `"epoch": 0, "durations": {"epoch_s": 7}`), line("epoch.end", 2, "", `"epoch": 1, "durations": {"epoch_s": 0.5}`),
		}, "epoch:7.5s"},
		"waits of steps and of the epoch": {[]string{
			line("step.end", 1, "", `"step": 1, "durations": {"batch_s": 2, "data_wait_s": 0.25}`),
			line("step.end", 1, "", `"step": 2, "durations": {"batch_s": 2, "data_wait_s": 0.25}`),
			line("epoch.end", 2, "", `"epoch": 0, "durations": {"data_wait_s": 1.5}`),
		}, "data_wait:1.5s"},
		"other ranks see the same time": {[]string{
			line("epoch.end", 2, `"rank": 1`, `"epoch": 0, "durations": {"train_s": 9}`), line("epoch.end", 2, "", `"epoch": 0, "durations": {"train_s": 5}`),
			line("epoch.end", 2, `"rank": 2`, `"epoch": 0, "durations": {"train_s": 9}`),
		}, "train:5s"},
		"parts add up": {[]string{
			line("epoch.end", 2, `"part": "a"`, `"epoch": 0, "durations": {"train_s": 1}`), line("epoch.end", 2, `"part": "b"`, `"epoch": 0, "durations": {"train_s": 2}`),
		}, "train:3s"},
		"what was done again counts again": {[]string{
			line("epoch.end", 2, ``, `"epoch": 0, "durations": {"train_s": 1}`), line("epoch.end", 2, `"attempt": 2`, `"epoch": 0, "durations": {"train_s": 2}`),
		}, "train:3s"},
		"a phase without a name": {[]string{line("phase.end", 1, `"phase": "warmup"`, `"durations": {"phase_s": 2, "test_s": 1}`)}, "other:2s test:1s"},
		"no durations at all":    {[]string{line("epoch.end", 1, "", `"epoch": 0, "durations": {"train_s": NaN, "validation_s": -1, "odd_s": 3}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range stateOf(t, tc.lines...).Durations.Phases {
				got = append(got, fmt.Sprintf("%s:%vs", p.Phase, float64(p.Nanos)/1e9))
			}
			assert.Equal(t, tc.want, strings.Join(got, " "))
		})
	}
}

func TestFailuresOfAllRanks(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 30 {
		lines = append(lines, line("run.failure", float64(i), fmt.Sprintf(`"attempt": %d, "rank": %d`, 1+i/15, i%3),
			fmt.Sprintf(`"error_type": "E%d", "message": %q, "stack": "s", "epoch": 2`, i, strings.Repeat("m", 5000))))
	}
	st := stateOf(t, lines...)
	require.Len(t, st.Failures, MaxFailures)
	assert.Equal(t, int64(30), st.FailuresTotal)
	assert.Equal(t, "E0", st.Failures[0].Type, "of the older attempt the first failure of rank 0 is kept")
	assert.Equal(t, "E29", st.Failures[19].Type)
	assert.Len(t, st.Failures[0].Message, MaxText)
	assert.Equal(t, ptr(2), st.Failures[0].Epoch)
	assert.Equal(t, int64(2), st.Failures[19].Attempt)
	assert.Equal(t, []Truncation{{What: "failures", Count: 10}}, st.Truncated)
}

func TestParamsAndTheirChanges(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("run.start", 0, ``, `"params": {"lr": 0.1, "opt": {"name": "sgd", "betas": [0.9, 0.99]}, "gone": 1, "nan": NaN}`),
		line("run.start", 0, `"rank": 1`, `"params": {"lr": 7}`),
		line("run.start", 5, `"attempt": 2`, `"params": {"lr": 0.2, "opt": {"name": "sgd", "betas": [0.9, 0.5]}, "new": null, "nan": NaN}`))
	assert.Equal(t, []ParamsChange{
		{2, "gone", int64(1), Absent{}}, {2, "lr", 0.1, 0.2}, {2, "new", Absent{}, nil}, {2, "opt.betas.1", 0.99, 0.5},
	}, st.ParamsChanges)
	assert.Equal(t, 0.2, st.Params.(map[string]any)["lr"])
}

// A key with points in it and nested keys may spell one name: they are two parameters.
func TestChangesOfParamsOfOneName(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("run.start", 0, ``, `"params": {"a.b": 1, "a": {"b": 2, "": {"c": 3}}, "a..c": [4], "a..c.0": 5}`),
		line("run.start", 5, `"attempt": 2`, `"params": {"a.b": 10, "a": {"b": 20, "": {"c": 30}}, "a..c": [40], "a..c.0": 50}`))
	assert.Equal(t, []ParamsChange{
		{2, "a..c", int64(3), int64(30)}, {2, "a..c.0", int64(4), int64(40)}, {2, "a..c.0", int64(5), int64(50)},
		{2, "a.b", int64(2), int64(20)}, {2, "a.b", int64(1), int64(10)},
	}, st.ParamsChanges)
}

func TestArtifactsAreListedOnce(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("artifact", 1, "", `"role": "trace", "path": "b", "size": 1`),
		line("artifact", 2, "", `"role": "trace", "path": "a"`),
		line("artifact", 3, "", `"role": "trace", "path": "b", "size": 2, "sha256": "ff"`),
		line("run.end", 4, "", `"outcome": "success", "artifacts": [{"role": "model", "path": "z"}, 7]`))
	assert.Equal(t, []Artifact{{Role: "model", Path: "z"}, {Role: "trace", Path: "a"}, {"trace", "b", "ff", ptr(2)}}, st.Artifacts)
	assert.Equal(t, []Truncation{{What: "values", Count: 1}}, st.Truncated)
}

func TestFinalsOfAnEndThatAnotherFollows(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("run.end", 1, "", `"outcome": "success", "stop_reason": "early", "epochs_completed": 4, "measurements": {"test/acc": 0.5}`),
		line("run.end", 2, "", `"outcome": "success"`))
	assert.Equal(t, second(2), st.EndedAt)
	assert.Equal(t, "early", st.StopReason)
	assert.Equal(t, []Final{{"", "test/acc", 0.5}}, st.Finals)
	assert.Equal(t, ptr(4), st.Epochs.Reported)
	assert.Empty(t, st.Series, "a final value is no point")
}

func TestAnEndOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	e, _ := Reduce(record("run.end", nil, map[string]any{"outcome": "fine"}))
	assert.Equal(t, "unknown", foldOf([]Entry{e}).State().Outcome)
}

func TestPlannedIsTheLatestWord(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("run.start", 0, "", `"planned_epochs": 10, "planned_steps": 1000`),
		line("step.end", 1, "", `"step": 1, "planned_steps": 900`), line("step.end", 2, `"rank": 1`, `"step": 1, "planned_steps": 1`),
		line("epoch.end", 3, `"attempt": 2`, `"epoch": 0, "planned_epochs": 12`))
	assert.Equal(t, ptr(12), st.Epochs.Planned)
	assert.Equal(t, ptr(900), st.Steps.Planned)
}

func TestPlannedStepsThatAreCountedFromZero(t *testing.T) {
	t.Parallel()
	every := func(n, first, last int) (lines []string) {
		lines = append(lines, line("log", 1, "", `"planned_steps": 30`))
		for s := first; s <= last; s += n {
			lines = append(lines, step(2, "", s, "1"))
		}
		return lines
	}
	plan := line("run.start", 0, "", `"planned_steps": 3`)
	for name, tc := range map[string]struct {
		lines []string
		want  bool
	}{
		"from 0":                               {[]string{step(1, "", 0, "3"), step(2, "", 1, "2"), step(3, "", 2, "1")}, true},
		"from 0, one is missing":               {[]string{step(1, "", 0, "3"), step(2, "", 1, "2")}, false},
		"from 0, in an attempt before":         {[]string{step(1, "", 0, "3"), step(3, secondAttempt, 2, "1")}, true},
		"from 0, one more":                     {[]string{step(1, "", 0, "3"), step(3, "", 3, "1")}, true},
		"from 1":                               {[]string{step(1, "", 1, "3"), step(2, "", 2, "2"), step(3, "", 3, "1")}, true},
		"from 1, one is missing":               {[]string{step(1, "", 1, "3"), step(2, "", 2, "2")}, false},
		"from 1, behind a validation before 1": {[]string{validated(1, "", 0, 0, "5"), step(1, "", 1, "3"), step(2, "", 2, "2")}, false},
		"every 10th, from 0":                   {every(10, 9, 29), true},
		"every 10th, from 0, one is missing":   {every(10, 9, 19), false},
		"every 10th, from 0, in an attempt before": {
			append(every(10, 9, 19), step(5, secondAttempt, 29, "1")), true,
		},
		"every 10th, from 0, the first row at 0":  {append(every(10, 0, 20), step(9, "", 29, "1")), true},
		"every 10th from 0 on, told as it begins": {every(10, 0, 20), false},
		"every 10th from 1, one is missing":       {append(every(10, 10, 20), step(9, "", 29, "1")), false},
		"every second, which may be either":       {every(2, 1, 29), false},
		"one row":                                 {every(10, 29, 29), false},
		"no step":                                 {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, append([]string{plan}, tc.lines...)...)
			assert.Equal(t, tc.want, st.Steps.Done())
		})
	}
}

func TestWhereAndTrace(t *testing.T) {
	t.Parallel()
	trace := func(c string) string { return `"trace_id": "` + strings.Repeat(c, 32) + `"` }
	pod := func(host, pod string) string {
		return `"host": "` + host + `", "resource": {"k8s.pod.name": "` + pod + `"}`
	}
	for name, tc := range map[string]struct {
		lines []string
		where Where
		trace byte
	}{
		"of the run.start": {
			[]string{line("log", 0, pod("h", "early")+","+trace("1"), ""), line("run.start", 1, pod("h", "p")+","+trace("2"), ""),
				line("run.end", 9, `"host": "launcher",`+trace("3"), `"outcome": "success"`)},
			Where{Host: "h", Pod: "p"}, 0x22,
		},
		"of the newest run.start": {
			[]string{line("run.start", 1, pod("h", "p")+","+trace("2"), ""), line("run.start", 5, pod("h2", "p2")+","+trace("4"), ""),
				line("run.start", 6, `"rank": 1,`+pod("h3", "p3")+","+trace("5"), "")},
			Where{Host: "h2", Pod: "p2"}, 0x44,
		},
		"of a newer attempt without one": {
			[]string{line("run.start", 1, pod("h", "p")+","+trace("2"), ""), line("heartbeat", 5, `"attempt": 2,`+pod("h2", "p2")+","+trace("4"), ""),
				line("heartbeat", 6, `"attempt": 2,`+pod("h2", "late")+","+trace("5"), "")},
			Where{Host: "h2", Pod: "p2"}, 0x44,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			assert.Equal(t, tc.where, st.Where)
			assert.Equal(t, tc.trace, st.TraceID[0])
		})
	}
}
