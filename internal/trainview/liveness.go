package trainview

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// What the limit of silence rests on.
const (
	stallCadence = "cadence"
	stallDefault = "default"
	stallFlag    = "flag"
)

// cadence is the gaps between the records of the newest attempt.
type cadence struct {
	gaps            int
	longest, median int64 // 0 without gaps
}

func newCadence(times []timed, since, until int64) cadence {
	var gaps []float64
	before := int64(0)
	for _, t := range times {
		if t.time < since || t.time > until {
			continue
		}
		if before > 0 {
			gaps = append(gaps, float64(t.time-before))
		}
		before = t.time
	}
	if len(gaps) == 0 {
		return cadence{}
	}
	return cadence{gaps: len(gaps), longest: int64(slices.Max(gaps)), median: int64(medianOf(gaps))}
}

// stallAfter is the silence after which a run is called stalled.
func (v *view) stallAfter() (time.Duration, string) {
	switch {
	case v.ev.StallAfter > 0:
		return v.ev.StallAfter, stallFlag
	case v.cadence.gaps < gapsWanted:
		return limitDefault, stallDefault
	}
	least := limitEarly
	if v.trail.validation {
		least = limitSteady
	}
	return max(gapFactor*time.Duration(v.cadence.longest), least), stallCadence
}

// liveness finds the state: the first rule that fits.
func (v *view) liveness() {
	e := &v.doc.Evidence
	*e = Basis{Basis: BasisGrowth, Process: ProcessNotChecked}
	if v.ev.Check != nil {
		e.Process = v.ev.Check(v.st.Where, cmp.Or(v.newestSince(), v.trail.first))
	}
	silent := int64(0)
	if v.grown > 0 {
		silent = max(v.now-v.grown, 0)
		e.SilentS = ptr(silent / int64(time.Second))
	}
	if v.cadence.gaps > 0 {
		e.LongestGapS = seconds(v.cadence.longest)
	}
	var basis string
	v.limit, basis = v.stallAfter()
	if v.ended() || v.failed() || v.gone() {
		return
	}
	e.StallAfterS, e.StallBasis = seconds(v.limit.Nanoseconds()), &basis
	switch {
	case v.copied():
		v.unknown(whyCopied)
	case silent > v.limit.Nanoseconds():
		v.silent(time.Duration(silent))
	default:
		v.live()
	}
}

func (v *view) is(state string, alive bool) { v.doc.State, v.doc.Alive = state, &alive }

// ended: a record of the end, or a framework's own sign of it.
func (v *view) ended() bool {
	st := v.st
	if st.OutcomeFrom == trainrun.FromEnd || st.OutcomeFrom == trainrun.FromParts {
		state, ok := map[string]string{
			trainrecord.OutcomeSuccess: Finished, trainrecord.OutcomeFailed: Failed, trainrecord.OutcomeAborted: Aborted,
		}[st.Outcome]
		if !ok { // an outcome that is none: it ended, and nobody knows how
			state = Unknown
			v.why("state", v.whyOutcome())
		}
		v.is(state, false)
		v.doc.Evidence.Basis = BasisEnd
		v.stopByEnd()
		return true
	}
	for _, s := range v.trail.streams {
		if s.ended > s.lastProgress && s.ended > s.lastFailure {
			v.is(Finished, false)
			v.doc.Evidence.Basis = BasisEnd
			v.doc.Stop = &Stop{At: moment(s.endedAt), Reason: reasonEndReported, Evidence: evidenceDerived}
			return true
		}
	}
	return false
}

// whyOutcome tells an end without an outcome from one with a word that is none.
func (v *view) whyOutcome() string {
	if v.noted(trainrun.NoteOutcome) > 0 {
		return whyOutcome
	}
	return whyNoOutcome
}

// failed: a failure and no progress after it.
func (v *view) failed() bool {
	if v.st.OutcomeFrom != trainrun.FromFailure {
		return false
	}
	if v.progressAfterFailure() {
		v.warn(Warning{Code: warnThenProgress, N: ptr(v.st.FailuresTotal)})
		return false
	}
	v.is(Failed, false)
	v.doc.Evidence.Basis = BasisFailure
	v.why("stop.end", whyNoEnd)
	v.stopByFailure()
	if at := v.st.EndedAt; at > 0 {
		v.doc.Provisional = v.now-at < provisionalFor.Nanoseconds()
	} else if v.grown > 0 {
		v.doc.Provisional = v.now-v.grown < provisionalFor.Nanoseconds()
	}
	return true
}

// progressAfterFailure looks within each stream by place, across streams by time.
func (v *view) progressAfterFailure() bool {
	failure, progress := int64(0), int64(0)
	for _, s := range v.trail.streams {
		failure, progress = max(failure, s.failureAt), max(progress, s.progressAt)
	}
	for _, s := range v.trail.streams {
		if s.lastFailure > 0 && s.lastProgress > s.lastFailure {
			return true
		}
	}
	return failure > 0 && progress > failure && len(v.trail.streams) > 1
}

// gone: the process is no more, and no record says how it ended.
func (v *view) gone() bool {
	if v.doc.Evidence.Process != ProcessGone {
		return false
	}
	v.doc.Evidence.Basis = BasisProcess
	if v.plannedReached() {
		v.inferEnd()
		return true
	}
	v.is(Unknown, false)
	v.why("state", whyNoEnd)
	v.doc.Stop = &Stop{At: moment(cmp.Or(v.last, v.grown)), Reason: reasonProcessGone, Evidence: evidenceInferred}
	return true
}

// copied: the file is newer than its records can explain.
func (v *view) copied() bool {
	if v.last == 0 || v.ev.ModTime.IsZero() || !v.ev.Grown.IsZero() || v.doc.Evidence.Process == ProcessAlive {
		return false
	}
	if s := v.trail.streams[v.ev.Newest]; s != nil && !s.lastTimed {
		return false // lines without a time came later
	}
	for _, f := range v.ev.Files {
		if f.TornBytes > 0 {
			return false
		}
	}
	return v.ev.ModTime.UnixNano()-v.last > max(copiedAfter.Nanoseconds(), copiedFactor*v.cadence.median)
}

func (v *view) silent(silent time.Duration) {
	switch {
	case v.plannedReached() && v.doc.Evidence.Process != ProcessAlive:
		v.doc.Evidence.StallAfterS, v.doc.Evidence.StallBasis = nil, nil
		v.inferEnd()
	case v.doc.Evidence.Process == ProcessAlive:
		v.is(Stalled, true)
		v.doc.Evidence.Basis = BasisProcess
	case silent > v.lostAfter():
		v.unknown(whySilentLong)
	default:
		v.doc.State = Stalled
		v.why("alive", whyUnchecked)
	}
}

// lostAfter is the silence after which nothing can be told.
func (v *view) lostAfter() time.Duration { return max(silentLost, silentFactor*v.limit) }

func (v *view) unknown(code string) {
	v.doc.State = Unknown
	v.why("state", code)
	v.why("alive", code)
}

func (v *view) live() {
	state := Running
	if !v.trail.progress {
		state = Starting
	}
	if v.grown == 0 && v.doc.Evidence.Process != ProcessAlive { // nothing at all is known of it
		v.doc.State = state
		v.why("alive", whyNotStarted)
		return
	}
	v.is(state, true)
	if v.doc.Evidence.Process == ProcessAlive {
		v.doc.Evidence.Basis = BasisProcess
	}
}

// plannedReached says whether all planned epochs were completed; steps decide where no epochs are planned.
func (v *view) plannedReached() bool {
	epochs, steps := v.st.Epochs, v.st.Steps
	if v.part != nil {
		return false // more parts may follow
	}
	if epochs.Planned != nil {
		return *epochs.Planned > 0 && epochs.Completed != nil && *epochs.Completed >= *epochs.Planned
	}
	return steps.Done()
}

func (v *view) inferEnd() {
	v.is(Finished, false)
	v.doc.Stop = &Stop{At: moment(cmp.Or(v.last, v.grown)), Reason: reasonPlanned, Evidence: evidenceInferred}
}
