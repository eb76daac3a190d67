package trainview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAnEndOffTheListIsNamedAsTheReason(t *testing.T) {
	t.Parallel()
	d := newRun(t).epochs("val/loss", 3, 2).line(start.Add(time.Hour), "run.end", `"outcome":"completed"`).after(time.Second)
	assert.Equal(t, Unknown, d.State)
	assert.Equal(t, "outcome_off_list", d.Why["state"], "there is a record of the end")
	d = newRun(t).epochs("val/loss", 3, 2).line(start.Add(time.Hour), "run.end", "").after(time.Second)
	assert.Equal(t, Unknown, d.State)
	assert.Equal(t, "outcome_missing", d.Why["state"])
}

// TestWhatIsLeftOutIsWarnedOf with how much it is and what is wanted.
func TestWhatIsLeftOutIsWarnedOf(t *testing.T) {
	t.Parallel()
	names := make([]string, 4000)
	for i := range names {
		names[i] = fmt.Sprintf(`"val/m%d":1`, i)
	}
	r := newRun(t).line(start, "epoch.end", `"epoch":0,"measurements":{`+strings.Join(names, ",")+`}`)
	r.trail.Flawed(0, "none")
	r.trail.Flawed(2, "body.epoch: want an integer of its range")
	r.trail.Flawed(1, "ts: want a time")
	d := r.after(time.Second)
	var left *Warning
	for i := range d.Warnings {
		w := &d.Warnings[i]
		switch w.Code {
		case warnMeaningless:
			assert.EqualValues(t, 3, *w.N)
			assert.Equal(t, "body.epoch: want an integer of its range", w.First)
		case warnTruncated:
			left = w
		}
	}
	assert.Contains(t, codesOf(d), warnMeaningless)
	if assert.NotNil(t, left, "%v", codesOf(d)) {
		assert.Positive(t, *left.N)
		assert.NotEmpty(t, left.What)
	}
}

func TestEventsOffTheListAreWarnedOf(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	for i, event := range []string{"run_start", "epoch_end", "epoch_end", "run_end"} {
		r.line(start.Add(time.Duration(i)*time.Minute), event, `"epoch":0,"outcome":"success"`, `"schema":"pathologize.ml.training/1"`)
	}
	d := r.after(time.Second)
	if assert.Equal(t, []string{warnEvents}, codesOf(d)) {
		assert.EqualValues(t, 3, *d.Warnings[0].N, "names")
	}
}

func TestTheEndTellsOfALastEpochThatNoRecordCompletes(t *testing.T) {
	t.Parallel()
	r := newRun(t).line(start, "run.start", `"planned_epochs":2`)
	for e, body := range []string{`"epoch":0`, `"epoch":1`} {
		at := start.Add(time.Duration(2*e+1) * time.Minute)
		r.line(at, "step.end", body+`,"step":5,"measurements":{"train/loss":1}`)
		r.line(at.Add(time.Second), "phase.end", body+`,"measurements":{"val/loss":1}`, `"phase":"validation"`)
	}
	r.line(start.Add(time.Hour), "run.end", `"outcome":"success","epochs_completed":2`)
	p := r.after(time.Second).Progress
	assert.EqualValues(t, 2, *p.EpochsCompleted)
	assert.EqualValues(t, 1, *p.LastEpoch)
	assert.InDelta(t, 1, float64(*p.Fraction), 0)
}
