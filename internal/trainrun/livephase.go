package trainrun

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// phaseKey names a phase of an attempt.
type phaseKey struct {
	part, phase string
	epoch       Int
}

// openPhase is a phase that goes on.
type openPhase struct {
	phaseKey

	start, seq       int64
	accounted, inner float64 // seconds that were given to it, and to what began inside it
	trace            pcommon.TraceID
	span             pcommon.SpanID

	row         int64 // time of the row of its epoch, 0 before: its end where no record of its own tells one
	counts, own bool  // the row does, and it carries the span that the start carries
}

// phaseEnd is an end whose start may come later.
type phaseEnd struct {
	phaseKey

	end    int64
	trace  pcommon.TraceID
	span   pcommon.SpanID
	counts bool
	done   bool // its own duration told all
}

func phaseOf(s *Sighting) phaseKey {
	k := phaseKey{part: s.Part, phase: s.Phase, epoch: s.Epoch}
	if k.phase == "" {
		k.phase = trainrecord.Other
	}
	return k
}

// spanWithin gives the extent of a phase; one that ends before it starts has no length.
func (k *phaseKey) spanWithin(start, end int64) *PhaseSpan {
	p := &PhaseSpan{Start: start, End: end, Epoch: k.epoch, Part: k.part, Source: trainrecord.TimeFromRecords, Anchor: start, FromStart: true}
	if end < start {
		p.Start, p.Backwards = end, true
	}
	return p
}

// innermost gives the open phase that began last. One whose epoch is over has no more time, unless a record of its own says so.
func (c *Course) innermost() *openPhase {
	var found *openPhase
	for i := range c.open {
		p := &c.open[i]
		if p.row == 0 && (found == nil || p.start > found.start || p.start == found.start && p.seq > found.seq) {
			found = p
		}
	}
	return found
}

// advance moves the mark to a time that a record proves; what passed since belongs to the innermost open phase.
func (l *Live) advance(c *Course, to int64, counts bool) {
	if c.mark == 0 || to <= c.mark {
		c.mark = max(c.mark, to)
		return
	}
	if p := c.innermost(); p != nil {
		l.spend(c, p, toSeconds(to-max(c.mark, p.start)), counts)
	}
	c.mark = to
}

// spend gives seconds to a phase; to those around it they are inner time.
func (l *Live) spend(c *Course, p *openPhase, seconds float64, counts bool) {
	if seconds <= 0 {
		return
	}
	p.accounted += seconds
	for i := range c.open {
		if o := &c.open[i]; o != p && o.start <= p.start {
			o.inner += seconds
		}
	}
	if counts {
		c.spent += seconds
		l.tell(Transition{Kind: PhaseTime, Course: c, Phase: p.phase, Seconds: seconds})
	}
}

func (l *Live) phaseStarts(c *Course, s *Sighting, counts bool) (known bool) {
	k := phaseOf(s)
	if !c.coarse.add(k.hash('s', s.Time)) {
		return true
	}
	l.advance(c, s.proof(), counts)
	if i := slices.IndexFunc(c.ended, func(e phaseEnd) bool { return e.matches(&k) && s.Time <= e.end }); i >= 0 {
		e := c.ended[i]
		c.ended = slices.Delete(c.ended, i, i+1)
		if !e.done {
			p := openPhase{phaseKey: k, start: s.Time, trace: s.Trace, span: s.Span}
			l.complete(c, &p, e.end, -1, e.trace, e.span, e.counts)
		}
		return e.done
	}
	c.byRecords(&k, 's')
	if counts {
		l.tell(Transition{Kind: PhaseStarted, Course: c, Phase: k.phase})
	}
	c.open = slices.DeleteFunc(c.open, func(p openPhase) bool { return l.endsByRow(c, &p, &k) || p.phaseKey == k }) // it never ended
	if len(c.open) >= l.opt.OpenPhases {
		c.open = slices.Delete(c.open, 0, 1)
		l.tell(Transition{Kind: PhaseLost, Course: c})
	}
	c.open = append(c.open, openPhase{phaseKey: k, start: s.Time, seq: int64(len(c.open)), trace: s.Trace, span: s.Span})
	return false
}

// matches says that an end and a start are of one phase. Either may leave out the epoch.
func (k *phaseKey) matches(o *phaseKey) bool {
	return k.part == o.part && k.phase == o.phase && (k.epoch == o.epoch || !k.epoch.Set || !o.epoch.Set)
}

// byRecords notes that an epoch has phases of its own records; what its row tells of them is known.
func (c *Course) byRecords(k *phaseKey, kind byte) {
	if !k.epoch.Set {
		return
	}
	if kind == 'p' {
		c.coarse.add(k.hash('p', 0))
	}
	c.coarse.add(phaseKey{part: k.part, epoch: k.epoch}.hash('q', 0))
}

func (c *Course) findOpen(k *phaseKey, end int64) int {
	found := -1
	for i := range c.open {
		p := &c.open[i]
		if p.phaseKey == *k {
			return i
		}
		if p.matches(k) && p.start <= end && (found < 0 || p.start >= c.open[found].start) {
			found = i
		}
	}
	return found
}

func (l *Live) phaseEnds(c *Course, s *Sighting, counts bool) (known bool) {
	k := phaseOf(s)
	again := !c.coarse.add(k.hash('e', s.Time))
	if further := s.Step.Set && c.coarse.add(k.hash('n', s.Step.V)); again {
		l.advance(c, s.proof(), counts)
		if !further || s.PhaseS < 0 {
			return true
		}
		c.reaches(s)
		l.lump(c, &k, s.Time-fromSeconds(s.PhaseS), s.Time, s.PhaseS, noSpan, counts) // one of several without a time that were read at once
		return false
	}
	l.waits(c, s, k.phase, counts)
	c.reaches(s)
	i := c.findOpen(&k, s.Time)
	if c.coarse.take(k.hash('r', 0)) { // the row of the epoch told it
		l.advance(c, s.proof(), counts)
		if i >= 0 {
			c.open = slices.Delete(c.open, i, i+1)
		}
		return true
	}
	c.byRecords(&k, 'p')
	switch {
	case i >= 0:
		l.advance(c, s.proof(), counts)
		p := c.open[i]
		c.open = slices.Delete(c.open, i, i+1)
		l.complete(c, &p, s.Time, s.PhaseS, s.Trace, s.Span, counts)
		return false
	case s.PhaseS >= 0:
		l.lump(c, &k, s.Time-fromSeconds(s.PhaseS), s.Time, s.PhaseS, s.Time, counts)
		l.advance(c, s.proof(), counts)
	default:
		l.advance(c, s.proof(), counts)
	}
	if len(c.ended) >= maxPendingEnds {
		c.ended = slices.Delete(c.ended, 0, 1)
	}
	c.ended = append(c.ended, phaseEnd{phaseKey: k, end: s.Time, trace: s.Trace, span: s.Span, counts: counts, done: s.PhaseS >= 0})
	return false
}

// complete ends a phase whose start is known. reported is the duration that its end tells, negative when it tells none.
func (l *Live) complete(c *Course, p *openPhase, end int64, reported float64, trace pcommon.TraceID, span pcommon.SpanID, counts bool) {
	sp := p.spanWithin(p.start, end)
	took := toSeconds(sp.End - sp.Start)
	if missing := min(took-p.inner-p.accounted, c.room(p.part)); missing > 0 {
		l.spend(c, p, missing, counts)
	}
	if reported >= 0 {
		took = reported
	}
	t := Transition{Kind: PhaseDone, Course: c, Phase: p.phase, Seconds: took, Counts: counts, Span: sp}
	if l.foreign(c, trace) && trace == p.trace && span == p.span && l.ownSpan(c, span) {
		t.Span = nil
	}
	l.tell(t)
}

// ownSpan says that a span is the trainer's own, and not the one around the whole run: that of its run.start, or what records without one
// were given by the number that they carry.
func (l *Live) ownSpan(c *Course, span pcommon.SpanID) bool {
	return !span.IsEmpty() && span != c.Parent && span != l.derivedRunSpan(c, c.Number) && span != l.derivedRunSpan(c, c.Written)
}
