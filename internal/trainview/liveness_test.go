package trainview

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func process(state string) func(trainrun.Where, int64) string {
	return func(trainrun.Where, int64) string { return state }
}

func alive(d *Document) string {
	switch {
	case d.Alive == nil:
		return "?"
	case *d.Alive:
		return "yes"
	default:
		return "no"
	}
}

// stateCase is a run, how it is looked at, and what is known of it then.
type stateCase struct {
	records       func(*run)
	ev            Evidence
	after         time.Duration
	state, alive  string
	reason        string
	why, evidence string
	provisional   bool
	basis         string
	warnings      []string
}

func four(r *run) { r.line(start, "run.start", `"planned_epochs":10`).epochs("val/loss", 4, 3, 2, 1) }

func all(r *run) { r.line(start, "run.start", `"planned_epochs":4`).epochs("val/loss", 4, 3, 2, 1) }

var stateCases = map[string]stateCase{
	"nothing yet":               {records: func(*run) {}, ev: Evidence{ModTime: start}, after: time.Minute, state: Starting, alive: "yes", basis: BasisGrowth},
	"start only":                {records: func(r *run) { r.line(start, "run.start", ``) }, after: time.Minute, state: Starting, alive: "yes", basis: BasisGrowth},
	"start only, long ago":      {records: func(r *run) { r.line(start, "run.start", ``) }, after: 31 * time.Minute, state: Stalled, alive: "?", why: whyUnchecked, basis: BasisGrowth},
	"within the limit":          {records: four, after: 180 * time.Second, state: Running, alive: "yes", basis: BasisGrowth},
	"beyond the limit":          {records: four, after: 181 * time.Second, state: Stalled, alive: "?", why: whyUnchecked, basis: BasisGrowth},
	"beyond, process lives":     {records: four, ev: Evidence{Check: process(ProcessAlive)}, after: time.Hour, state: Stalled, alive: "yes", basis: BasisProcess},
	"beyond, all epochs":        {records: all, after: time.Hour, state: Finished, alive: "no", reason: reasonPlanned, evidence: evidenceInferred, basis: BasisGrowth},
	"all epochs, still young":   {records: all, after: time.Minute, state: Running, alive: "yes", basis: BasisGrowth},
	"all epochs, process lives": {records: all, ev: Evidence{Check: process(ProcessAlive)}, after: time.Hour, state: Stalled, alive: "yes", basis: BasisProcess},
	"too long":                  {records: four, after: 24*time.Hour + time.Second, state: Unknown, alive: "?", why: whySilentLong, basis: BasisGrowth},
	"long, by a flag":           {records: four, ev: Evidence{StallAfter: 10 * time.Hour}, after: 30 * time.Hour, state: Stalled, alive: "?", why: whyUnchecked, basis: BasisGrowth},
	"process gone":              {records: four, ev: Evidence{Check: process(ProcessGone)}, after: time.Second, state: Unknown, alive: "no", reason: reasonProcessGone, evidence: evidenceInferred, basis: BasisProcess},
	"process gone, all epochs":  {records: all, ev: Evidence{Check: process(ProcessGone)}, after: time.Second, state: Finished, alive: "no", reason: reasonPlanned, evidence: evidenceInferred, basis: BasisProcess},
	"copied":                    {records: four, ev: Evidence{ModTime: start.Add(time.Hour)}, after: 56 * time.Minute, state: Unknown, alive: "?", why: whyCopied, basis: BasisGrowth},
	"copied, but it grows": {
		records: four, ev: Evidence{ModTime: start.Add(time.Hour), Grown: start.Add(time.Hour)}, after: 56 * time.Minute, state: Running, alive: "yes", basis: BasisGrowth,
	},
	"success": {
		records: func(r *run) { four(r); r.line(start.Add(5*time.Minute), "run.end", `"outcome":"success"`) }, after: 100 * time.Hour,
		state: Finished, alive: "no", reason: reasonCompleted, evidence: evidenceRecord, basis: BasisEnd,
	},
	"aborted by a signal": {
		records: func(r *run) { r.line(start, "run.end", `"outcome":"aborted","stop_reason":"SIGTERM received"`) }, after: time.Second,
		state: Aborted, alive: "no", reason: "signal", evidence: evidenceRecord, basis: BasisEnd,
	},
	"fresh failure": {
		records: func(r *run) {
			four(r)
			r.line(start.Add(5*time.Minute), "run.failure", `"error_type":"torch.cuda.OutOfMemoryError","message":"x"`)
		}, after: 59 * time.Second,
		state: Failed, alive: "no", reason: "oom", evidence: evidenceRecord, provisional: true, basis: BasisFailure,
	},
	"old failure": {
		records: func(r *run) { r.line(start, "run.failure", `"error_type":"ValueError","message":"no"`) }, after: time.Minute,
		state: Failed, alive: "no", reason: reasonError, evidence: evidenceRecord, basis: BasisFailure,
	},
	"failure, then progress": {
		records: func(r *run) {
			r.line(start, "run.failure", `"message":"retry"`).line(start.Add(time.Second), "epoch.end", `"epoch":0`)
		}, after: time.Minute, state: Running, alive: "yes", basis: BasisGrowth, warnings: []string{warnThenProgress},
	},
	"failure, then a new attempt": {
		records: func(r *run) {
			r.line(start, "run.failure", `"message":"retry"`).line(start.Add(time.Second), "run.start", ``, `"attempt":2`)
		}, after: time.Minute, state: Starting, alive: "yes", basis: BasisGrowth, warnings: []string{warnRestarts},
	},
}

func TestStates(t *testing.T) {
	t.Parallel()
	for name, c := range stateCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

func (c *stateCase) check(t *testing.T) {
	t.Helper()
	r := newRun(t)
	r.ev = c.ev
	c.records(r)
	d := r.after(c.after)
	assert.Equal(t, c.state, d.State)
	assert.Equal(t, c.alive, alive(d))
	assert.Equal(t, c.basis, d.Evidence.Basis)
	assert.Equal(t, c.why, d.Why["alive"])
	assert.Equal(t, c.provisional, d.Provisional)
	assert.Equal(t, c.warnings, codesOf(d))
	if c.reason == "" {
		assert.Nil(t, d.Stop)
	} else if assert.NotNil(t, d.Stop) {
		assert.Equal(t, c.reason, d.Stop.Reason)
		assert.Equal(t, c.evidence, d.Stop.Evidence)
	}
	if Ended := d.Alive != nil && !*d.Alive; Ended {
		assert.Nil(t, d.Evidence.StallAfterS)
	}
	if d.State != Running && d.State != Starting {
		assert.Nil(t, d.Progress.EtaS)
	}
}

func TestTheLimitComesFromTheLongestGap(t *testing.T) {
	t.Parallel()
	r := newRun(t).line(start, "run.start", ``)
	at := start
	for i := range 3 {
		at = at.Add(5 * time.Second)
		r.line(at, "step.end", `"step":`+string(rune('1'+i)))
	}
	d := r.after(time.Second)
	assert.InDelta(t, 600, float64(*d.Evidence.StallAfterS), 0, "no validation was seen: it is the first long gap")
	r.line(at.Add(100*time.Second), "phase.end", `"epoch":0`, `"phase":"validation"`)
	d = r.after(time.Second)
	assert.InDelta(t, 300, float64(*d.Evidence.StallAfterS), 0)
	assert.InDelta(t, 100, float64(*d.Evidence.LongestGapS), 0)
	r.line(at.Add(3*time.Hour), "run.start", ``, `"attempt":2`)
	d = r.after(time.Second)
	assert.Equal(t, stallDefault, *d.Evidence.StallBasis, "the pause between attempts is no gap")
}

func TestTimesInTheFutureAreNoGrowth(t *testing.T) {
	t.Parallel()
	r := newRun(t).epochs("val/loss", 4, 3, 2, 1)
	r.ev.ModTime = r.end
	now := r.end
	r.line(now.Add(time.Hour), "epoch.end", `"epoch":4`)
	r.end = now
	d := r.after(10 * time.Second)
	assert.Equal(t, Running, d.State)
	assert.EqualValues(t, 10, *d.Evidence.SilentS)
	assert.Equal(t, clock(now), *d.Source.LastRecordAt)
	assert.InDelta(t, 60, float64(*d.Evidence.LongestGapS), 0, "nor is the way to them a gap")
	assert.Equal(t, []string{warnFuture}, codesOf(d))
	assert.EqualValues(t, 3590, *d.Warnings[0].Seconds)
}

func TestTheFrameworksOwnSignIsAnEnd(t *testing.T) {
	t.Parallel()
	row := func(r *run, epoch string, closes bool) {
		r.raw(`{"ts":"2026-11-20T10:10:00Z","event":"phase.end","run_id":"r","phase":"test","body":{"epoch":`+epoch+`}}`, Origin{Profile: "p", EndSign: closes})
	}
	r := newRun(t).epochs("val/loss", 4, 3, 2, 1)
	row(r, "3", true)
	d := r.after(time.Second)
	assert.Equal(t, Finished, d.State)
	assert.Equal(t, Stop{At: ptr("2026-11-20T10:10:00Z"), Reason: reasonEndReported, Evidence: evidenceDerived}, *d.Stop)
	row(r, "4", false)
	assert.Equal(t, Running, r.after(time.Second).State, "it went on")
}
