package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhichOfTwoValuesCounts(t *testing.T) {
	t.Parallel()
	entry := func(attempt, place, time int64, crc uint32, v float64) Entry {
		return Entry{
			RunID: testRun, Event: EventStepEnd, Attempt: attempt, Offset: -1, Progress: noProgress, Time: time,
			ID: ID{Kind: IDUID, File: 1, Place: place, CRC: crc}, Step: Int{7, true}, Values: []Value{{"loss", v}},
		}
	}
	bySeq := func(seq int64, v float64) Entry {
		e := entry(1, 0, 0, 0, v)
		e.ID, e.Seq = ID{Kind: IDSeq}, seq
		return e
	}
	for name, tc := range map[string]struct{ loser, winner Entry }{
		"the higher attempt":                {entry(1, 900, 90, 9, 1), entry(2, 100, 10, 1, 2)},
		"then the later place":              {entry(1, 100, 90, 9, 1), entry(1, 200, 10, 1, 2)},
		"then the later time":               {entry(1, 100, 10, 9, 1), entry(1, 100, 20, 1, 2)},
		"then the greater uid":              {entry(1, 100, 10, 1, 1), entry(1, 100, 10, 2, 2)},
		"the higher seq":                    {bySeq(4, 1), bySeq(5, 2)},
		"also when it is not finite":        {bySeq(4, 1), bySeq(5, inf)},
		"a place in a file over a bare seq": {bySeq(50, 1), entry(1, 3, 0, 0, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, order := range [][]Entry{{tc.loser, tc.winner}, {tc.winner, tc.loser}} {
				s := seriesOf(foldOf(order).State(), "", "loss", AxisStep)
				require.Len(t, s.Points, 1)
				assert.Equal(t, tc.winner.Values[0].V, s.Points[0].V)
			}
		})
	}
}

func TestTheLowestRankOwnsASeries(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		step(1, `"rank": 3`, 1, "30"), step(2, `"rank": 3`, 2, "31"), step(3, `"rank": 1`, 1, "10"),
		line("step.end", 4, `"rank": 3`, `"step": 3, "measurements": {"train/loss": 32, "gpu": 5}`))
	assert.Equal(t, "1:10", curve(seriesOf(st, "", "train/loss", AxisStep)))
	assert.Equal(t, int64(3), seriesOf(st, "", "train/loss", AxisStep).OtherRanks)
	assert.Equal(t, "3:5", curve(seriesOf(st, "", "gpu", AxisStep)))
}

func TestAxes(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("epoch.end", 1, "", `"epoch": 0, "step": 100, "measurements": {"loss": 1}`),
		line("phase.end", 2, `"phase": "validation"`, `"epoch": 0, "step": 100, "measurements": {"val/loss": 2}`),
		line("phase.end", 3, `"phase": "test"`, `"step": 100, "measurements": {"test/loss": 3}`),
		line("step.end", 4, "", `"step": 50, "epoch": 0, "measurements": {"loss": 4}`),
		line("step.end", 5, `"seq": 9`, `"measurements": {"free": 5}`),
		line("step.end", 6, `"seq": 11`, `"measurements": {"free": 6, "loss": 7}`))
	assert.Equal(t, "0:1", curve(seriesOf(st, "", "loss", AxisEpoch)))
	assert.Equal(t, "0:2", curve(seriesOf(st, "", "val/loss", AxisEpoch)))
	assert.Equal(t, "100:3", curve(seriesOf(st, "", "test/loss", AxisStep)))
	assert.Equal(t, "50:4", curve(seriesOf(st, "", "loss", AxisStep)))
	assert.Equal(t, "0:5 1:6", curve(seriesOf(st, "", "free", AxisOrder)))
	assert.Equal(t, "0:7", curve(seriesOf(st, "", "loss", AxisOrder)))
	assert.False(t, seriesOf(st, "", "loss", AxisEpoch).Shared)
	assert.True(t, seriesOf(st, "", "loss", AxisStep).Shared)
	assert.True(t, seriesOf(st, "", "loss", AxisOrder).Shared)
	assert.Equal(t, ptr(100), st.Steps.Last)
	assert.Equal(t, "epoch step order", AxisEpoch.String()+" "+AxisStep.String()+" "+AxisOrder.String())
}

func TestPartsAreCurvesOfTheirOwn(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("run.start", 0, "", `"planned_epochs": 5`),
		line("run.start", 0, `"part": "fold=0"`, `"planned_epochs": 2, "objective": {"metric": "val/acc", "mode": "max"}`),
		line("epoch.end", 1, `"part": "fold=0"`, `"epoch": 0, "measurements": {"val/acc": 0.25, "val/loss": 1}`),
		line("epoch.end", 2, `"part": "fold=0"`, `"epoch": 1, "measurements": {"val/acc": 0.5, "val/loss": 2}`),
		line("run.end", 3, `"part": "fold=0"`, `"outcome": "success", "stop_reason": "done", "measurements": {"x": 1}`),
		epoch(4, `"part": "fold=1"`, 0, "3"))
	require.Len(t, st.Parts, 2)
	first := st.Parts[0]
	assert.Equal(t, "fold=0", first.Name)
	assert.Equal(t, "success", first.Outcome)
	assert.Equal(t, "done", first.StopReason)
	assert.Equal(t, Epochs{Planned: ptr(2), Completed: ptr(2), Last: ptr(1)}, first.Epochs)
	assert.Equal(t, Best{Metric: "val/acc", Mode: "max", Value: 0.5, X: 1, Time: second(2)}, *first.Best)
	assert.Equal(t, Best{Metric: "val/loss", Mode: "min", Value: 3, X: 0, Time: second(4)}, *st.Parts[1].Best)
	assert.Equal(t, Epochs{Planned: ptr(5)}, st.Epochs)
	assert.Nil(t, st.Best)
	assert.Empty(t, st.Outcome)
	assert.Equal(t, []Final{{"fold=0", "x", 1}}, st.Finals)
}

func TestCompletedEpochs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines                []string
		completed, last, rep *int64
	}{
		"nothing known":    {lines: []string{step(1, "", 5, "1")}},
		"an epoch.end":     {lines: []string{epoch(1, "", 4, "1")}, completed: ptr(5), last: ptr(4)},
		"progress reached": {lines: []string{line("step.end", 1, "", `"step": 5, "epoch_progress": 2.0`)}, completed: ptr(2), last: ptr(1)},
		"progress halfway": {lines: []string{line("step.end", 1, "", `"step": 5, "epoch_progress": 0.5`)}, completed: ptr(0)},
		"evaluated but not completed": {
			lines:     []string{line("phase.end", 1, `"phase": "validation"`, `"epoch": 3, "epoch_progress": 3.5, "measurements": {"val/loss": 1}`)},
			completed: ptr(3), last: ptr(3),
		},
		"in a later one": { // a loop that tells of steps and validations, never of an epoch's end
			lines: []string{
				line("step.end", 1, "", `"epoch": 0, "step": 5, "measurements": {"train/loss": 1}`),
				line("step.end", 2, "", `"epoch": 2, "step": 25, "measurements": {"train/loss": 1}`),
				line("phase.end", 3, `"phase": "validation"`, `"epoch": 2, "measurements": {"val/loss": 1}`),
			},
			completed: ptr(2), last: ptr(2),
		},
		"as reported": {lines: []string{line("run.end", 1, "", `"outcome": "success", "epochs_completed": 9`)}, rep: ptr(9)},
		"progress at the end": {
			lines: []string{line("run.end", 1, "", `"outcome": "success", "epoch_progress": 3.0`)}, completed: ptr(3), last: ptr(2),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			assert.Equal(t, Epochs{Completed: tc.completed, Last: tc.last, Reported: tc.rep}, st.Epochs)
		})
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	start := func(objective string) string { return line("run.start", 0, "", `"objective": {`+objective+`}`) }
	row := func(n int, measurements string) string {
		return line("epoch.end", float64(n+1), "", `"epoch": `+string(rune('0'+n))+`, "measurements": {`+measurements+`}`)
	}
	for name, tc := range map[string]struct {
		lines []string
		want  string // metric mode from value@x
	}{
		"the objective":                    {[]string{start(`"metric": "acc", "mode": "max"`), row(0, `"acc": 1`), row(1, `"acc": 2`)}, "acc max record 2@1"},
		"a mode by name":                   {[]string{start(`"metric": "val/accuracy"`), row(0, `"val/accuracy": 1`), row(1, `"val/accuracy": 2`)}, "val/accuracy max record 2@1"},
		"a mode off the list, by name":     {[]string{start(`"metric": "val/accuracy", "mode": "up"`), row(0, `"val/accuracy": 1`), row(1, `"val/accuracy": 2`)}, "val/accuracy max record 2@1"},
		"a mode off the list, without one": {[]string{start(`"metric": "zap", "mode": "up"`), row(0, `"zap": 1`), row(1, `"zap": 2`)}, "zap min record 1@0"},
		"the trainer's own best, its mode off the list": {
			[]string{line("epoch.end", 1, "", `"epoch": 0, "measurements": {"val/f1": 1}, "best": {"metric": "val/f1", "mode": "UP", "value": 1, "epoch": -1}`), row(1, `"val/f1": 2`)},
			"val/f1 max reported 2@1",
		},
		"the earliest of equals": {[]string{row(0, `"val/loss": 2`), row(1, `"val/loss": 1`), row(2, `"val/loss": 1`)}, "val/loss min inferred 1@1"},
		"NaN never wins":         {[]string{row(0, `"val/loss": NaN`), row(1, `"val/loss": 3`), row(2, `"val/loss": -Infinity`)}, "val/loss min inferred 3@1"},
		"the trainer's own best": {
			[]string{line("epoch.end", 1, "", `"epoch": 0, "measurements": {"f": 1, "val/loss": 2}, "best": {"metric": "f", "mode": "max", "value": 1, "epoch": 0}`)},
			"f max reported 1@0",
		},
		"the only validation metric": {[]string{row(0, `"val/mAP50(B)": 1, "val/speed": 3, "train/loss": 2`)}, "val/mAP50(B) max inferred 1@0"},
		"several candidates":         {[]string{row(0, `"val/mAP50": 1, "val/f1": 3`)}, ""},
		"only training":              {[]string{row(0, `"train/loss": 1`)}, ""},
		"an objective without value": {[]string{start(`"metric": "acc"`), row(0, `"val/loss": 1`)}, "acc max record"},
		"on steps, when no epoch has a finite value": {
			[]string{row(0, `"val/loss": NaN`), line("step.end", 2, "", `"step": 7, "measurements": {"val/loss": 2}`)}, "val/loss min inferred 2@7",
		},
		"on steps": {[]string{line("step.end", 1, "", `"step": 7, "measurements": {"val/loss": 2}`)}, "val/loss min inferred 2@7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			got := ""
			if o := st.Objective; o != nil {
				got = o.Metric + " " + o.Mode + " " + o.From
			}
			if b := st.Best; b != nil {
				assert.Equal(t, st.Objective.Metric, b.Metric)
				got += " " + textOf(b.Value) + "@" + textOf(b.X)
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestTheCheckpointOfTheBestEpoch(t *testing.T) {
	t.Parallel()
	saved := func(at float64, head, path, kind string, n int) string {
		return line("checkpoint.save", at, head, `"path": "`+path+`", "kind": "`+kind+`", "epoch": `+textOf(int64(n))+`, "value": 0.5, "metric": "m"`)
	}
	st := stateOf(t, epoch(1, "", 0, "1"), epoch(2, "", 1, "2"),
		saved(3, "", "b0-old", "best", 0), saved(4, "", "b0", "best", 0), saved(5, "", "l0", "last", 0), saved(6, "", "l1", "last", 1))
	assert.Equal(t, "b0", st.Best.Checkpoint.Path)
	assert.Equal(t, ptr(0), st.Best.Checkpoint.Epoch)
	assert.Equal(t, "l1", st.Checkpoints.Last.Path)
	assert.Equal(t, "b0", st.Checkpoints.Best.Path)
	assert.Equal(t, int64(4), st.Checkpoints.Count)

	st = stateOf(t, epoch(1, "", 0, "1"), saved(5, "", "l0", "periodic", 0), saved(6, "", "b1", "best", 1))
	assert.Equal(t, "l0", st.Best.Checkpoint.Path, "any checkpoint of that epoch")
	assert.Equal(t, "b1", st.Checkpoints.Last.Path, "none is of kind last")

	st = stateOf(t, epoch(1, "", 0, "2"), saved(2, "", "l", "last", 0), saved(3, "", "b", "best", 0),
		epoch(4, "", 1, "1"), saved(5, "", "l", "last", 1), saved(6, `"part": "fold=1"`, "other", "last", 1), saved(7, "", "b", "best", 1))
	assert.Equal(t, []any{"l", ptr(1), "b", ptr(1)}, []any{
		st.Checkpoints.Last.Path, st.Checkpoints.Last.Epoch, st.Checkpoints.Best.Path, st.Checkpoints.Best.Epoch,
	}, "the last epoch is the best one")

	st = stateOf(t, epoch(1, "", 0, "1"), saved(2, "", "given-up", "best", 0), epoch(3, `"attempt": 2`, 0, "3"))
	assert.Equal(t, 3.0, st.Best.Value)
	assert.Nil(t, st.Best.Checkpoint, "it holds a model that does not exist any more")

	st = stateOf(t, line("epoch.end", 1, "", `"epoch": 0, "measurements": {"val/loss": 1}, "checkpoint": {"path": "in-row", "kind": "best", "size": 3}`))
	assert.Equal(t, "in-row", st.Best.Checkpoint.Path)
	assert.Equal(t, ptr(3), st.Best.Checkpoint.Size)
}

func TestSampledCurvesSaySo(t *testing.T) {
	t.Parallel()
	e := stepEntry(1, 1, 0, Value{"a", 1})
	e.Sampled = true
	st := foldOf([]Entry{e, stepEntry(2, 1, 0, Value{"b", 1})}).State()
	assert.True(t, st.Sampled)
	assert.True(t, seriesOf(st, "", "a", AxisStep).Sampled)
	assert.False(t, seriesOf(st, "", "b", AxisStep).Sampled)
}
