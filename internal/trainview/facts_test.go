package trainview

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Ranks that write into one stream have each a clock of its own.
func TestClocksAreThoseOfRanks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		ranks  []int
		times  []int // s
		want   int64
	}{
		"in turn, one is behind": {nil, []int{0, 1, 0, 1}, []int{60, 0, 70, 10}, 0},
		"one falls back":         {nil, []int{0, 1, 0, 1}, []int{60, 30, 70, 20}, 1},
		"both fall back":         {nil, []int{0, 1, 0, 1, 0}, []int{60, 30, 50, 20, 40}, 3},
		"a start":                {[]string{"run.start"}, []int{0, 0, 0}, []int{60, 0, 10}, 0},
	} {
		r := newRun(t)
		for i, rank := range c.ranks {
			event := "step.end"
			if i == 1 && len(c.events) > 0 {
				event = c.events[0]
			}
			r.line(start.Add(time.Duration(c.times[i])*time.Second), event, fmt.Sprintf(`"step":%d`, i), fmt.Sprintf(`"rank":%d`, rank))
		}
		assert.Equal(t, c.want, r.trail.backwards, name)
	}
	many := newRun(t)
	for _, at := range []int{60, 0} {
		for rank := range maxClocks + 1 {
			many.line(start.Add(time.Duration(at)*time.Second), "step.end", fmt.Sprintf(`"step":%d`, at), fmt.Sprintf(`"rank":%d`, rank))
		}
	}
	assert.EqualValues(t, maxClocks, many.trail.backwards, "beyond the bound nobody looks")
}

func TestTwoHostsAtOnceAreAConflict(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	for i := range 6 {
		at := start.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		for k, host := range []string{"a", "b"} {
			r.raw(fmt.Sprintf(`{"ts":%q,"event":"epoch.end","run_id":"r","host":%q,"body":{"epoch":%d,"measurements":{"val/loss":1}}}`, at, host, i), Origin{Stream: k})
		}
	}
	d := r.after(time.Second)
	assert.Contains(t, codesOf(d), warnConflict)
	for _, w := range d.Warnings {
		if w.Code == warnConflict {
			assert.EqualValues(t, 2, *w.N)
		}
	}
}

func TestNoEtaWithoutALength(t *testing.T) {
	t.Parallel()
	d := newRun(t).line(start, "run.start", `"planned_epochs":9`).line(start.Add(time.Minute), "epoch.end", `"epoch":0`).after(time.Second)
	assert.Nil(t, d.Progress.EtaS)
	assert.Equal(t, whyNoDurations, d.Why["progress.eta_s"])
	assert.NotContains(t, d.Why, "progress.epochs_planned")
}

// TestAnEpochFarBehindAllOthersIsWarnedOf: it counts as completed, and the warning says why.
func TestAnEpochFarBehindAllOthersIsWarnedOf(t *testing.T) {
	t.Parallel()
	r := newRun(t).epochs("val/loss", 3, 2, 1)
	assert.NotContains(t, codesOf(r.after(time.Second)), warnJump)
	d := r.line(start.Add(time.Hour), "epoch.end", `"epoch":1000,"measurements":{"val/loss":0.5}`).after(time.Second)
	assert.Contains(t, codesOf(d), warnJump)
	assert.Equal(t, ptr(int64(1001)), d.Progress.EpochsCompleted)
}

// TestWarningsOfALossSayWhere, with the fields that the contract names, and none of a curve without a goal.
func TestWarningsOfALossSayWhere(t *testing.T) {
	t.Parallel()
	find := func(d *Document, code string) *Warning {
		for i := range d.Warnings {
			if d.Warnings[i].Code == code {
				return &d.Warnings[i]
			}
		}
		return nil
	}
	values := []float64{3, 2, 1, 1, 1, 9, 1, 2, 2.5, 3}
	d := newRun(t).epochs("val/loss", values...).after(time.Second)
	assert.Equal(t, &Warning{Code: warnSpike, Metric: "val/loss", N: ptr(int64(3)), LastAt: ptr(int64(8))}, find(d, warnSpike))
	assert.Equal(t, &Warning{Code: warnDiverging, Metric: "val/loss", SinceBest: ptr(int64(7))}, find(d, warnDiverging))
	d = newRun(t).epochs("val/something", values...).after(time.Second)
	assert.Empty(t, d.Warnings)
	d = newRun(t).epochs("val/accuracy", 0.1, 0.8, 0.8, 0.8, 0.4, 0.39, 0.2).after(time.Second)
	assert.Nil(t, find(d, warnSpike), "no loss")
	assert.Equal(t, &Warning{Code: warnDiverging, Metric: "val/accuracy", SinceBest: ptr(int64(5))}, find(d, warnDiverging))
}

// TestOnlyAFailureWasRecorded: the document says that the end is not.
func TestOnlyAFailureWasRecorded(t *testing.T) {
	t.Parallel()
	r := newRun(t).epochs("val/loss", 1).line(start.Add(time.Hour), "run.failure", `"error_type":"ValueError","message":"m"`)
	assert.Equal(t, whyNoEnd, r.after(time.Second).Why["stop.end"])
	assert.NotContains(t, r.line(start.Add(time.Hour), "run.end", `"outcome":"failed"`).after(time.Second).Why, "stop.end")
}
