package dvcresultexporter

import (
	"math"
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// nothingShown is the version of no result.
const nothingShown = math.MaxUint64

// run is what the exporter knows of a run. Times are those of arrival, on the monotonic clock. The engine's lock guards it.
type run struct {
	id  string
	dir string
	key string // of its values in the storage

	fold    *trainrun.Fold // nil while the state is parked
	packed  []byte         // the parked state, when there is no storage
	size    int64          // memory that fold or packed takes
	stored  int64          // bytes of its snapshot in the storage
	version uint64         // grows with each record
	saved   uint64         // the version that the storage has a snapshot of
	sparse  bool           // points were given up for memory
	thin    bool           // nothing more can be given up until the next record

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
	settled time.Time          // when the outcome was first written; zero while it is open
	wallEnd int64              // the same, in Unix nanoseconds
	closed  bool               // late records are counted only; there is no state any more

	writing  bool
	again    bool      // the directory was replaced while its writer was at work
	failures int       // failed attempts to write in a row
	retry    time.Time // of the next attempt after a failed one

	due   time.Time // when the engine looks at it; zero for never
	index int       // in the schedule, -1 when it is not there
}

// touch notes a new record.
func (r *run) touch(e *trainrun.Entry, now time.Time) {
	r.version++
	r.seen, r.quiet, r.wallSeen, r.silent, r.thin = now, now, now.UnixNano(), false, false
	if r.changed.IsZero() {
		r.changed = now
	}
	if r.lived.IsZero() {
		r.lived = now
	}
	switch e.Event {
	case trainrun.EventRunEnd:
		if r.endSeen.IsZero() {
			r.endSeen = now
		}
	case trainrun.EventRunFailure:
		r.failSeen = now
	}
}

// isLate says whether the time for late records is over. A run that failed or fell silent is never too late: an attempt
// may follow.
func (r *run) isLate(cfg *Config, now time.Time) bool {
	return r.closed || r.mayClose() && !now.Before(r.settled.Add(cfg.LateWindow))
}

func (r *run) mayClose() bool { return !r.settled.IsZero() && r.verdict.From == fromEnd }

// isSettled says whether the outcome stands on a record.
func (r *run) isSettled() bool { return !r.settled.IsZero() }

// next says when the run needs a look.
func (r *run) next(cfg *Config, blocked bool) time.Time {
	if r.closed {
		return time.Time{}
	}
	if !r.retry.IsZero() {
		return r.retry
	}
	var due time.Time
	at := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if !r.check.IsZero() {
		at(r.check)
	}
	if r.changed.IsZero() {
		if r.mayClose() {
			at(r.settled.Add(cfg.LateWindow))
		}
		return due
	}
	if !r.endSeen.IsZero() {
		at(later(r.endSeen, r.changed).Add(cfg.LateGrace))
	}
	if !r.failSeen.IsZero() {
		at(r.failedAt(cfg))
	}
	if !blocked {
		at(r.quiet.Add(cfg.IdleTimeout))
	}
	if cfg.LiveInterval > 0 && r.shown != r.version {
		at(r.lived.Add(cfg.LiveInterval))
	}
	return due
}

// failedAt is when a failure counts: after failure_grace the first time, like any late record once the result says so.
func (r *run) failedAt(cfg *Config) time.Time {
	if r.isSettled() {
		return r.changed.Add(cfg.LateGrace)
	}
	return r.failSeen.Add(cfg.FailureGrace)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
