package dvcresultexporter

import (
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// What an outcome rests on. The first three are the fold's.
const (
	fromEnd     = "end"
	fromFailure = "failure"
	fromParts   = "parts"
	fromSilence = "silence"
	fromRestart = "restart"
)

// judge says which result is to be written now, if any. Authority falls from a run.end over a run.failure and ended parts
// to silence. It forgets ends and failures that turned out not to decide, so that the run is not looked at for them again.
func (r *run) judge(st *trainrun.State, cfg *Config, blocked bool, now time.Time) (resultfile.Verdict, bool) {
	r.recall(st, now)
	switch {
	case st.OutcomeFrom == fromEnd && !now.Before(later(r.endSeen, r.changed).Add(cfg.LateGrace)),
		st.OutcomeFrom == fromFailure && !now.Before(r.failedAt(cfg)):
		return resultfile.Verdict{Final: true, Outcome: st.Outcome, From: st.OutcomeFrom}, true
	case st.OutcomeFrom == fromEnd || st.OutcomeFrom == fromFailure: // its grace is not over
	case r.silent:
		return r.silence(st), true
	case !blocked && !now.Before(r.quiet.Add(cfg.IdleTimeout)):
		return r.silence(st), true
	}
	if cfg.LiveInterval > 0 && r.shown != r.version && !now.Before(r.lived.Add(cfg.LiveInterval)) {
		return resultfile.Verdict{Provisional: true}, true
	}
	return resultfile.Verdict{}, false
}

// recall brings the arrival times in line with what the records say.
func (r *run) recall(st *trainrun.State, now time.Time) {
	if st.OutcomeFrom != fromEnd {
		r.endSeen = time.Time{}
	} else if r.endSeen.IsZero() { // restored
		r.endSeen = r.seen
	}
	if st.OutcomeFrom != fromFailure {
		r.failSeen = time.Time{}
	} else if r.failSeen.IsZero() {
		r.failSeen = r.seen
	}
	if st.OutcomeFrom != fromEnd && st.OutcomeFrom != fromFailure { // a later attempt reopened it
		r.settled, r.wallEnd = time.Time{}, 0
	}
	if !r.check.IsZero() && !now.Before(r.check) {
		r.check = time.Time{}
	}
}

// silence is the verdict on a run that said no end: always provisional.
func (r *run) silence(st *trainrun.State) resultfile.Verdict {
	v := resultfile.Verdict{Final: true, Provisional: true, Outcome: trainrecord.OutcomeStalled, From: fromSilence}
	switch {
	case st.OutcomeFrom == fromParts:
		v.Outcome, v.From = st.Outcome, fromParts
	case r.silent && r.verdict.From != fromSilence: // nobody watched it fall silent
		v.Outcome, v.From = trainrecord.OutcomeUnknown, fromRestart
	}
	return v
}
