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
	fromRestart = resultfile.FromRestart
)

// judge says which result is to be written now, if any. Authority falls from a run.end over a run.failure and ended parts
// to silence. It forgets ends and failures that turned out not to decide, so that the run is not looked at for them again.
func (s *side) judge(st *trainrun.State, cfg *Config, blocked bool, now time.Time) (resultfile.Verdict, bool) {
	s.recall(st, now)
	switch {
	case st.OutcomeFrom == fromEnd && !now.Before(s.endedAt(cfg)),
		st.OutcomeFrom == fromFailure && !now.Before(s.failedAt(cfg)):
		return resultfile.Verdict{Final: true, Outcome: st.Outcome, From: st.OutcomeFrom}, true
	case st.OutcomeFrom == fromEnd || st.OutcomeFrom == fromFailure: // its grace is not over
	case s.silent:
		return s.silence(st), true
	case !blocked && !now.Before(s.quiet.Add(cfg.IdleTimeout)):
		return s.silence(st), true
	}
	if s.isReopened() && !now.Before(s.changed.Add(cfg.LateGrace)) {
		return resultfile.Verdict{Provisional: true}, true
	}
	if s.isLive(cfg) && !now.Before(s.lived.Add(cfg.LiveInterval)) {
		return resultfile.Verdict{Provisional: true}, true
	}
	return resultfile.Verdict{}, false
}

// recall brings the arrival times in line with what the records say.
func (s *side) recall(st *trainrun.State, now time.Time) {
	if st.OutcomeFrom != fromEnd {
		s.endSeen = time.Time{}
	} else if s.endSeen.IsZero() { // restored
		s.endSeen = s.seen
	}
	if st.OutcomeFrom != fromFailure {
		s.failSeen = time.Time{}
	} else if s.failSeen.IsZero() {
		s.failSeen = s.seen
	}
	if s.attempt != 0 && st.Attempt != s.attempt { // reopened
		s.settled, s.wallEnd = time.Time{}, 0
	}
	s.attempt = st.Attempt
	if !s.check.IsZero() && !now.Before(s.check) {
		s.check = time.Time{}
	}
}

// silence is the verdict on a run that said no end: always provisional.
func (s *side) silence(st *trainrun.State) resultfile.Verdict {
	v := resultfile.Verdict{Final: true, Provisional: true, Outcome: trainrecord.OutcomeStalled, From: fromSilence}
	switch {
	case st.OutcomeFrom == fromParts:
		v.Outcome, v.From = st.Outcome, fromParts
	case s.silent && s.verdict.From != fromSilence: // nobody watched it fall silent
		v.Outcome, v.From = trainrecord.OutcomeUnknown, fromRestart
	}
	return v
}
