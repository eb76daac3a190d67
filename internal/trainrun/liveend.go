package trainrun

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func (l *Live) derivedTrace(c *Course) pcommon.TraceID {
	return trainrecord.DerivedTraceID(l.opt.Salt, c.RunID, c.Written)
}

func (l *Live) derivedRunSpan(c *Course, number int64) pcommon.SpanID {
	return trainrecord.DerivedSpanID(l.opt.Salt, c.RunID, number, trainrecord.RunSpan)
}

// fails takes a failure, of whichever rank. It ends the attempt when nothing else does.
func (l *Live) fails(c *Course, s *Sighting, primary, counts bool) {
	if primary {
		l.advance(c, s.proof(), counts)
	}
	l.blame(c, s)
}

func (l *Live) blame(c *Course, s *Sighting) {
	if c.Ended || c.failed {
		return
	}
	c.failed, c.failedAt, c.failedPart, c.failSeen = true, s.Time, s.Part, s.Arrived.Mono
	if d := s.Detail; d != nil {
		c.ErrorType, c.Message = d.ErrorType, d.Message
	}
}

// ends takes a run.end of the run itself. That of a rank whose times do not count is a failure, or counts when nothing else comes.
func (l *Live) ends(c *Course, s *Sighting, primary, counts bool, result SightResult) SightResult {
	switch {
	case !primary:
		if c.otherEnd == "" {
			c.otherEnd = s.Detail.Outcome
		}
		if s.Detail.Outcome == trainrecord.OutcomeFailed {
			l.blame(c, s)
		}
		if result == SightCounted {
			result = SightRank
		}
		return result
	case c.Ended:
		return SightLateEnd
	}
	if s.RunS >= 0 {
		c.prove(s.Time-fromSeconds(s.RunS), true)
	}
	l.advance(c, s.proof(), counts)
	c.StopReason, c.Reported, c.endedBy = s.Detail.StopReason, s.Completed, s.ID
	l.end(c, s.Detail.Outcome, s.Time, s.Arrived)
	return result
}

// fallback is the outcome of an attempt that told none.
func (c *Course) fallback() string {
	if c.failed {
		return trainrecord.OutcomeFailed
	}
	return cmp.Or(c.otherEnd, c.ofParts(), trainrecord.OutcomeUnknown)
}

// ofParts is the outcome of an attempt all parts of which ended, "" when one did not.
func (c *Course) ofParts() string {
	outcome := ""
	for i := range c.parts {
		switch p := &c.parts[i]; {
		case p.name == "":
		case p.outcome == "":
			return ""
		case outcome == "" || p.outcome != trainrecord.OutcomeSuccess:
			outcome = p.outcome
		}
	}
	return outcome
}

// end ends an attempt, whether it was announced or not.
func (l *Live) end(c *Course, outcome string, at int64, now Moment) {
	c.Ended, c.Outcome, c.End = true, outcome, at
	c.closed = moments{now.Wall, now.Mono}
	c.open = slices.DeleteFunc(c.open, func(p openPhase) bool { return l.endsByRow(c, &p, nil) })
	if outcome == trainrecord.OutcomeFailed {
		until := at
		if c.failed && c.failedAt < at {
			until = c.failedAt
		}
		for i := range c.open {
			p := &c.open[i]
			sp := p.spanWithin(p.start, until)
			sp.Error = true
			l.tell(Transition{Kind: PhaseDone, Course: c, Phase: p.phase, Span: sp})
		}
	}
	c.open = nil
	l.tell(Transition{Kind: Ended, Course: c})
}

// Tick tells what the passing of time does: silence, ends that nobody told, and that late records had their time.
func (l *Live) Tick(now Moment) []Transition {
	if l.again(); cap(l.out) > maxRoomForTransitions {
		l.out = nil
	}
	over := 0
	for id, r := range l.runs {
		for i := 0; i < len(r.courses); i++ {
			c := r.courses[i]
			l.pass(r, c, now)
			switch {
			case !c.Settled:
			case now.Mono-c.closed.mono >= l.opt.HistoryAge:
				l.bury(r, i)
				i--
			default:
				over++
			}
		}
		if len(r.courses) == 0 {
			delete(l.runs, id)
		}
	}
	l.forget(over, now)
	l.evict(now)
	slices.SortStableFunc(l.out, func(a, b Transition) int { return cmp.Compare(a.Course.RunID, b.Course.RunID) })
	return l.out
}

func (l *Live) pass(r *liveRun, c *Course, now Moment) {
	idle := now.Mono - c.seen.mono
	switch {
	case c.Ended:
	case c.failSeen != 0 && now.Mono-c.failSeen >= l.opt.FailureGrace:
		l.end(c, trainrecord.OutcomeFailed, c.failedAt, Moment{Wall: now.Wall, Mono: c.failSeen})
	case idle >= l.opt.AbandonAfter, !r.newest(c) && idle >= l.opt.LateGrace:
		l.end(c, c.fallback(), c.last, now)
	case idle >= l.opt.IdleTimeout && c.ofParts() != "":
		l.end(c, c.fallback(), c.last, now)
	case idle >= l.opt.IdleTimeout && !c.Stalled:
		c.Stalled = true
		l.tell(Transition{Kind: StateChanged, Course: c})
	}
	if c.Ended && !c.Settled && now.Mono-c.closed.mono >= l.opt.LateGrace {
		c.Settled = true
		l.tell(Transition{Kind: Settled, Course: c})
	}
}

// bury leaves only a tombstone of an attempt.
func (l *Live) bury(r *liveRun, i int) {
	c := r.courses[i]
	l.tombs.add(c)
	r.courses = append(r.courses[:i:i], r.courses[i+1:]...)
	l.kept--
}
