package trainingsignalsconnector

import (
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

var (
	outcomes = trainrecord.OnMetrics("outcome")
	states   = trainrecord.Load().Values["run_state"]
)

// take counts what happened to an attempt.
func (t *table) take(tr *trainrun.Transition) {
	c := tr.Course
	switch tr.Kind {
	case trainrun.Opened:
		h := t.handle(c)
		h.group.used = t.now
		for _, state := range states {
			t.series(h, runActive, state)
		}
		for _, outcome := range outcomes {
			t.series(h, runOutcomes, outcome)
		}
	case trainrun.PhaseStarted:
		h := t.handle(c)
		t.series(h, phaseTime, tr.Phase)
		t.series(h, phaseDuration, tr.Phase)
	case trainrun.PhaseTime:
		t.count(t.handle(c), phaseTime, tr.Phase, tr.Seconds, 0)
	case trainrun.PhaseDone:
		if tr.Counts {
			t.series(t.handle(c), phaseTime, tr.Phase)
			t.count(t.handle(c), phaseDuration, tr.Phase, tr.Seconds, 0)
		}
	case trainrun.Batch:
		t.count(t.handle(c), batchDuration, "", tr.Seconds, 0)
	case trainrun.DataWait:
		t.count(t.handle(c), dataWaitDuration, "", tr.Seconds, 0)
	case trainrun.DataWaitTime:
		t.count(t.handle(c), dataWaitTime, "", tr.Seconds, 0)
	case trainrun.Samples:
		t.count(t.handle(c), sampleProcessed, tr.Phase, 0, tr.Count)
	case trainrun.Ended:
		t.ended(c)
	default: // no metric
	}
}

// ended accounts for an attempt that was announced.
func (t *table) ended(c *trainrun.Course) {
	if !c.Opened {
		return
	}
	h := t.handle(c)
	h.group.used = t.now
	t.count(h, runOutcomes, c.Outcome, 0, 1)
	if start, end := c.Began, c.End; start != 0 && end >= start && c.Outcome != trainrecord.OutcomeUnknown && !c.Silent() {
		t.count(h, runDuration, c.Outcome, float64(end-start)/1e9, 0)
	}
}

// look brings in line what shows a state: attempts that go on, and how far the only one of its kind came.
func (t *table) look(live *trainrun.Live) (ambiguous int64) {
	for _, g := range t.order {
		g.open = 0
		for _, s := range g.order {
			if t.kinds[s.instrument].atOnce {
				s.value.n, s.gone = 0, t.kinds[s.instrument].kind == kindGauge
			}
		}
	}
	shared := map[*series]int{}
	live.Courses(func(c *trainrun.Course) {
		if !c.Opened || c.Ended {
			return
		}
		h := t.handle(c)
		h.group.open++
		h.group.used = t.now
		state := trainrecord.StateRunning
		if c.Stalled {
			state = trainrecord.StateStalled
		}
		t.series(h, runActive, state).value.n++
		if t.cfg.Progress && !c.Silent() {
			t.progress(h, c, shared)
		}
	})
	for s, n := range shared {
		if n > 1 {
			s.gone = true
			ambiguous++
		}
	}
	return ambiguous
}

// progress shows the last completed epoch, unless parts or another attempt would share the series.
func (t *table) progress(h *handle, c *trainrun.Course, shared map[*series]int) {
	s := t.series(h, epochLastCompleted, "")
	if shared[s]++; c.HasParts() {
		shared[s]++
	}
	if c.LastEpoch.Set && shared[s] == 1 {
		s.value.n, s.gone = c.LastEpoch.V, false
	} else {
		s.gone = true
	}
}
