package dvcresultexporter

import (
	"math"
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// nothingShown is the version of no result.
const nothingShown = math.MaxUint64

// side is one result of a run, with its own verdict and directory: the run's only one, or that of a host in conflict. Times
// are those of arrival, on the monotonic clock.
type side struct {
	run  *run
	host string // "" for the owner, whoever that is, and for work that nobody can be told to have done
	dir  string

	version uint64 // grows with each record and each change of what the side is made of
	shape   string // what the side was made of when that was last looked at
	gone    bool   // there is no conflict with this host any more

	seen     time.Time // the last new record, or the start
	wallSeen int64     // the last new record, in Unix nanoseconds, for the next start
	quiet    time.Time // silence is counted from here: the last new record, also one from before the start
	endSeen  time.Time // a run.end that may decide the outcome; zero for none
	failSeen time.Time // the same for a run.failure
	changed  time.Time // the first record that is not in the result on disk; zero for none
	lived    time.Time // the last result of a running run, or its first record
	shown    uint64    // the version that the result on disk shows
	check    time.Time // after a start: when the result on disk is to be held against the state
	silent   bool      // restored, and older than idle_timeout already at the start

	verdict resultfile.Verdict // of the last result written
	told    int64              // wallSeen of the last final one
	own     bool               // the last one was of this state alone; before, the disk may have one of a state that was lost
	wrote   int64              // the newest attempt that a result was to tell of; stored before there is a result
	attempt int64              // that was judged last, whose what follows is
	settled time.Time          // when the outcome was first written; zero while it is open
	wallEnd int64              // the same, in Unix nanoseconds

	writing  bool
	again    bool      // the directory was replaced while its writer was at work
	failures int       // failed attempts to write in a row
	retry    time.Time // of the next attempt after a failed one
	hold     time.Time // until when its final result waits for digests
	asks     bool      // for digests, when the queue has room

	due   time.Time // when the engine looks at it; zero for never
	index int       // in the schedule, -1 when it is not there
}

// touch notes a new record.
func (s *side) touch(e *trainrun.Entry, now time.Time) {
	s.version++
	s.seen, s.quiet, s.wallSeen, s.silent = now, now, now.UnixNano(), false
	if s.changed.IsZero() {
		s.changed = now
	}
	if s.lived.IsZero() {
		s.lived = now
	}
	switch e.Event {
	case trainrun.EventRunEnd:
		if s.endSeen.Before(s.changed) { // the one before is in the result on disk
			s.endSeen = now
		}
	case trainrun.EventRunFailure:
		s.failSeen = now
	}
}

// isLate says whether the time for late records is over. A run that failed or fell silent is never too late: an attempt
// may follow.
func (s *side) isLate(late time.Duration, now time.Time) bool {
	return s.mayClose() && !now.Before(s.settled.Add(late))
}

func (s *side) mayClose() bool { return !s.settled.IsZero() && s.verdict.From == fromEnd }

// isSettled says whether the outcome stands on a record.
func (s *side) isSettled() bool { return !s.settled.IsZero() }

// isReopened says that records came after a result that says final. When they are the run's end or failure, these decide.
func (s *side) isReopened() bool { return s.verdict.Final && s.wallSeen != s.told }

// next says when the side needs a look.
func (s *side) next(cfg *Config, blocked bool) time.Time {
	if s.run.closed || s.gone {
		return time.Time{}
	}
	if !s.retry.IsZero() {
		return s.retry
	}
	var due time.Time
	at := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if !s.check.IsZero() {
		at(s.check)
	}
	if s.changed.IsZero() {
		if s.run.mayClose() {
			at(s.run.lastSettled().Add(cfg.LateWindow))
		}
		return due
	}
	if !s.endSeen.IsZero() {
		at(s.endedAt(cfg))
	}
	if !s.failSeen.IsZero() {
		at(s.failedAt(cfg))
	}
	if !blocked && s.endSeen.IsZero() && s.failSeen.IsZero() { // silence does not count before these turned out not to decide
		at(s.quiet.Add(cfg.IdleTimeout))
	}
	if s.isReopened() {
		at(s.changed.Add(cfg.LateGrace))
	}
	if s.isLive(cfg) {
		at(s.lived.Add(cfg.LiveInterval))
	}
	return due
}

// isLive says that the result on disk is to show how far the run is. A final one stays until a record comes.
func (s *side) isLive(cfg *Config) bool {
	return cfg.LiveInterval > 0 && s.shown != s.version && (!s.verdict.Final || s.isReopened())
}

// endedAt is when an end counts: after its own late_grace the first time in an attempt, like any late record once the result says so.
func (s *side) endedAt(cfg *Config) time.Time {
	if s.isSettled() {
		return s.changed.Add(cfg.LateGrace)
	}
	return later(s.endSeen, s.changed).Add(cfg.LateGrace)
}

// failedAt is the same for a failure, and its failure_grace.
func (s *side) failedAt(cfg *Config) time.Time {
	if s.isSettled() {
		return s.changed.Add(cfg.LateGrace)
	}
	return s.failSeen.Add(cfg.FailureGrace)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
