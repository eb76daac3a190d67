package trainview

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestEtaBySteps(t *testing.T) {
	t.Parallel()
	r := newRun(t).line(start, "run.start", `"planned_steps":100`)
	for i := 1; i <= 4; i++ {
		r.line(start.Add(time.Duration(10*i)*time.Second), "step.end", fmt.Sprintf(`"step":%d`, 5*i))
	}
	d := r.after(4 * time.Second)
	assert.Equal(t, etaSteps, *d.Progress.EtaMethod)
	assert.EqualValues(t, 160, *d.Progress.EtaS, "2 s a step, 80 left")
	assert.InDelta(t, 0.2, float64(*d.Progress.Fraction), 1e-9)
	assert.Equal(t, whyNoEpoch, d.Why["progress.epochs_completed"])
}

func TestEtaAsTheFrameworkReportsIt(t *testing.T) {
	t.Parallel()
	r := newRun(t).line(start, "step.end", `"step":5,"framework":{"remaining_time":"0:02:35"}`)
	d := r.after(5 * time.Second)
	assert.Equal(t, etaReported, *d.Progress.EtaMethod)
	assert.EqualValues(t, 155, *d.Progress.EtaS)
	for text, want := range map[string]float64{"1 day, 2:03:04": 93784, "0:31": 31, "2 days, 0:00:00": 172800, "12": -1, "x:y": -1, "": -1, "1:2:3:4": -1, "-1:00": -1} {
		got, ok := clockSeconds(text)
		if !ok {
			got = -1
		}
		assert.InDelta(t, want, got, 0, text)
	}
}

func TestANewAttemptSupersedes(t *testing.T) {
	t.Parallel()
	r := newRun(t).line(start, "run.start", `"planned_epochs":10`).epochs("val/loss", 5, 4, 1, 3)
	again := start.Add(time.Hour)
	r.line(again, "run.start", `"planned_epochs":10,"resumed_from":{"epoch":2}`, `"attempt":2`)
	r.line(again.Add(30*time.Second), "epoch.end", `"epoch":2,"measurements":{"val/loss":3.5}`, `"attempt":2`)
	r.line(again.Add(60*time.Second), "epoch.end", `"epoch":3,"measurements":{"val/loss":3.4}`, `"attempt":2`)
	d := r.after(time.Second)
	assert.EqualValues(t, 4, *d.Progress.EpochsCompleted)
	assert.InDelta(t, 30, float64(*d.Progress.EpochS), 0, "of the newest attempt")
	assert.EqualValues(t, 3.4, d.Best.Value, "the 1 was of a model that is no more")
	assert.EqualValues(t, 2, d.Run.Attempt)
	assert.Equal(t, []string{warnRestarts, warnSuperseded}, codesOf(d))
	assert.EqualValues(t, 2, *d.Warnings[1].N)
	assert.EqualValues(t, 179, *d.Progress.EtaS)
}

func TestEpochsOfAnAttemptWithoutANumberAreMeasured(t *testing.T) {
	t.Parallel()
	again := start.Add(time.Hour)
	for name, r := range map[string]*run{
		"after an end":   newRun(t).line(start, "run.start", `"planned_epochs":9`).epochs("val/loss", 5, 4, 3).line(start.Add(4*time.Minute), "run.end", `"outcome":"success"`),
		"after a crash":  newRun(t).line(start, "run.start", `"planned_epochs":9`).epochs("val/loss", 5, 4, 3),
		"after sign off": newRun(t).epochs("val/loss", 5, 4, 3).line(start.Add(4*time.Minute), "run.end", `"outcome":"success"`),
	} {
		if name != "after sign off" {
			r.line(again, "run.start", `"planned_epochs":9`)
		}
		for e := range 3 {
			r.line(again.Add(time.Duration(30*(e+1))*time.Second), "epoch.end", fmt.Sprintf(`"epoch":%d,"planned_epochs":9,"measurements":{"val/loss":2}`, e))
		}
		d := r.after(10 * time.Second)
		assert.EqualValues(t, 2, d.Run.Attempt, name)
		if assert.NotNil(t, d.Progress.EpochS, name) {
			assert.InDelta(t, 30, float64(*d.Progress.EpochS), 0, name)
			assert.EqualValues(t, 170, *d.Progress.EtaS, name)
		}
	}
}

func TestRatesThatFellToZero(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	for i, lr := range []string{"0.1", "0", "0"} {
		r.line(start.Add(time.Duration(i)*time.Second), "step.end", fmt.Sprintf(`"step":%d,"learning_rate":{"0":%s}`, i, lr))
	}
	assert.Equal(t, []string{warnRateZero}, codesOf(r.after(time.Second)))
	assert.Empty(t, codesOf(r.after(time.Hour)), "not while it is silent")
	assert.Empty(t, codesOf(newRun(t).line(start, "step.end", `"step":0,"learning_rate":{"0":0}`).after(time.Second)), "a warm-up begins so")
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		saves  []string
		found  Found
		path   string
		exists string
		why    map[string]string
		codes  []string
	}{
		"none":          {nil, FoundThere, "", "", map[string]string{"best.checkpoint": whyNoCheckpoint}, nil},
		"elsewhere":     {[]string{`"epoch":0,"path":"a","kind":"last"`}, FoundThere, "", "", map[string]string{"best.checkpoint": whyNoneAtBest}, nil},
		"last at best":  {[]string{`"epoch":1,"path":"a","kind":"last"`}, FoundThere, "a", "true", nil, nil},
		"best goes":     {[]string{`"epoch":1,"path":"b","kind":"best"`, `"epoch":1,"path":"a","kind":"last"`}, FoundThere, "b", "true", nil, nil},
		"outside":       {[]string{`"epoch":1,"path":"/x/a"`}, FoundOutside, "/x/a", "", map[string]string{"best.checkpoint.exists": whyOutside}, nil},
		"missing":       {[]string{`"epoch":1,"path":"a"`}, FoundMissing, "a", "false", nil, []string{warnMissing}},
		"empty":         {[]string{`"epoch":1,"path":"a"`}, FoundEmpty, "a", "true", nil, []string{warnEmpty}},
		"other is best": {[]string{`"epoch":2,"path":"c","kind":"best"`}, FoundThere, "", "", map[string]string{"best.checkpoint": whyNoneAtBest}, []string{warnMismatch}},
	} {
		r := newRun(t).line(start, "run.start", `"planned_epochs":9`).epochs("val/loss", 3, 1, 2)
		for i, s := range c.saves {
			r.line(start.Add(4*time.Minute+time.Duration(i)*time.Second), "checkpoint.save", s)
		}
		r.ev.Look = func(string) Found { return c.found }
		d := r.after(time.Second)
		assert.Equal(t, c.codes, codesOf(d), name)
		assert.Len(t, d.Why, len(c.why), name)
		for k, v := range c.why {
			assert.Equal(t, v, d.Why[k], name)
		}
		got, exists := "", ""
		if k := d.Best.Checkpoint; k != nil {
			got = k.Path
			if k.Exists != nil {
				exists = fmt.Sprint(*k.Exists)
			}
		}
		assert.Equal(t, c.path, got, name)
		assert.Equal(t, c.exists, exists, name)
	}
}

func TestObjectives(t *testing.T) {
	t.Parallel()
	for measured, want := range map[string]string{
		`"train/loss":1`:                  whyNoValMetric,
		`"val/a_loss":1,"val/b_loss":2`:   whySeveral,
		`"val/speed":1`:                   whyNoGoal,
		`"speed":1`:                       whyNoValMetric,
		`"val/f1":1`:                      "val/f1 max inferred",
		`"val/loss":1,"val/f1":1`:         "val/loss min inferred",
		`"val/speed":3,"val/dice_loss":1`: "val/dice_loss min inferred",
	} {
		d := newRun(t).line(start, "epoch.end", `"epoch":0,"measurements":{`+measured+`}`).after(time.Second)
		got := d.Why["objective"]
		if o := d.Objective; o != nil {
			got = o.Metric + " " + o.Goal + " " + o.From
		} else {
			assert.Equal(t, whyNoObjective, d.Why["best"])
		}
		assert.Equal(t, want, got, measured)
	}
	assert.Equal(t, whyNotStarted, newRun(t).after(0).Why["objective"])
}

// What was asked for and is not there: the document says so, and names what there is.
func TestWhatIsMeasuredIsNamedWhereTheObjectiveIsNot(t *testing.T) {
	t.Parallel()
	const elbo, both = `"val/elbo":1,"train/elbo":2`, `"val/loss":1,"train/loss":2`
	asked := func(metric string) Options { return Options{Objective: &Objective{Metric: metric, Goal: "min"}} }
	for name, c := range map[string]struct {
		start, measured string
		o               Options
		best            string // why
		want            []string
	}{
		"no goal":          {"", elbo, Options{}, whyNoObjective, []string{"train/elbo", "val/elbo"}},
		"no validation":    {"", `"train/loss":1`, Options{}, whyNoObjective, []string{"train/loss"}},
		"several":          {"", `"val/a_loss":1,"val/b_loss":1`, Options{}, whyNoObjective, nil},
		"found":            {"", both, Options{}, "", nil},
		"asked for":        {"", elbo, asked("val/elbo"), "", nil},
		"asked, absent":    {"", both, asked("loss"), whyAbsent, []string{"train/loss", "val/loss"}},
		"named, absent":    {`"objective":{"metric":"val/f1","mode":"max"}`, both, Options{}, whyNoFinite, []string{"train/loss", "val/loss"}},
		"asked, no number": {"", `"val/loss":NaN,"train/loss":2`, asked("val/loss"), whyNoFinite, nil},
		"no such metric":   {"", both, Options{Metrics: []string{"val/f1"}}, "", []string{"train/loss", "val/loss"}},
	} {
		r := newRun(t).line(start, "run.start", c.start).line(start.Add(time.Second), "epoch.end", `"epoch":0,"learning_rate":{"pg0":1},"measurements":{`+c.measured+`}`)
		r.o = c.o
		d := r.after(time.Second)
		assert.Equal(t, c.best, d.Why["best"], name)
		assert.Equal(t, c.want, d.Measured, name)
	}
	r := newRun(t)
	r.o = asked("val/loss")
	d := r.after(0)
	assert.Equal(t, whyNotStarted, d.Why["best"])
	assert.Empty(t, d.Measured)
}

func TestMetricsAreChosen(t *testing.T) {
	t.Parallel()
	r := newRun(t).line(start, "epoch.end", `"epoch":0,"measurements":{"zeta_loss":1,"train/loss":1,"val/loss":1,"val/acc":1,"val/f1":1,"alpha_acc":1,"val/b_acc":1,"speed":9}`)
	names := func(d *Document) (out []string) {
		for _, m := range d.Metrics {
			out = append(out, m.Name)
		}
		return out
	}
	d := r.after(time.Second)
	assert.Equal(t, []string{"val/loss", "train/loss", "val/acc", "val/b_acc", "val/f1", "alpha_acc"}, names(d))
	assert.Equal(t, 2, d.MetricsOmitted)
	r.o = Options{Objective: &Objective{Metric: "val/f1", Goal: "max"}, MaxMetrics: 2}
	assert.Equal(t, []string{"val/f1", "val/loss"}, names(r.after(time.Second)))
	r.o = Options{Metrics: []string{"spe*", "val/*_acc"}}
	d = r.after(time.Second)
	assert.Equal(t, []string{"val/b_acc", "speed"}, names(d))
	assert.Nil(t, d.Metrics[1].Goal)
	assert.Nil(t, d.Metrics[1].Best)
}

func TestPartsHaveTheirOwnCurves(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	for i, part := range []string{"fold=0", "fold=0", "fold=1"} {
		r.line(start.Add(time.Duration(i)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%d}`, i%2, 3-i), fmt.Sprintf(`"part":%q`, part))
	}
	d := r.after(time.Second)
	assert.Equal(t, "fold=1", d.Progress.Part)
	assert.EqualValues(t, 1, *d.Progress.EpochsCompleted)
	assert.Equal(t, "fold=1", d.Best.Part)
	assert.Equal(t, []string{"fold=0", "fold=1"}, []string{d.Metrics[0].Part, d.Metrics[1].Part})
}

func TestAWarningThatNeedsFacts(t *testing.T) {
	t.Parallel()
	r := newRun(t).epochs("val/loss", 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r.trail.Bad(0)
	r.trail.Unknown(0)
	r.trail.Duplicates = 3
	r.ev.Files = []File{{Path: "x", TornBytes: 7}}
	assert.Equal(t, []string{warnBadLines, warnDuplicates, warnPlateau, warnUnmapped}, codesOf(r.after(time.Second)))
	d := r.after(time.Hour)
	assert.Equal(t, []string{warnBadLines, warnDuplicates, warnPlateau, warnTorn, warnUnmapped}, codesOf(d))
	assert.EqualValues(t, 7, *d.Warnings[3].Bytes)
	back := newRun(t).line(start.Add(time.Minute), "epoch.end", `"epoch":0`).line(start, "epoch.end", `"epoch":1`)
	assert.Equal(t, []string{warnBackwards}, codesOf(back.after(time.Minute)))
}

func TestRemainingReadsNumbersToo(t *testing.T) {
	t.Parallel()
	body := pcommon.NewMap()
	body.PutEmptyMap(trainrecord.BodyFramework).PutDouble("eta_seconds", 12.5)
	got, ok := remaining(body)
	assert.True(t, ok)
	assert.InDelta(t, 12.5, got, 0)
}
