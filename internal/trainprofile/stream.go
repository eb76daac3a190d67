package trainprofile

import (
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Stream remembers which profile a stream was recognised as; the first decision stays until a surer one revises it. It is
// all that mapping an object needs of the objects before it, beside its life. The zero value knows nothing.
type Stream struct {
	decision atomic.Pointer[Decision]
	life     atomic.Pointer[Life]
}

// Decision says which profile a stream was recognised as, and by which object.
type Decision struct {
	Profile *Profile
	Offset  int64      // of the object in its file; negative when it has none
	Sure    bool       // nothing revises it
	Likely  bool       // by a weak condition, kept for what the stream remembers; a strong one revises it
	Before  *Decision  // the one that it revised, likely or strong; objects between the two stay what they were
	Base    *EpochBase // how the stream counts epochs, when an object told
	Partial *int64     // where an epoch was a fraction first: floats are numbers of finished epochs from there on
}

// EpochBase is the number of a stream's first epoch.
type EpochBase struct {
	First  int64
	Offset int64 // of the object that told; negative when it has none
}

// Decision gives what was decided; ok is false before.
func (s *Stream) Decision() (d Decision, ok bool) {
	if p := s.decision.Load(); p != nil {
		return *p, true
	}
	return Decision{}, false
}

// Latest gives what was decided without a copy, nil before. Equal pointers mean that nothing has changed.
func (s *Stream) Latest() *Decision { return s.decision.Load() }

// Profile is the one that was decided on, nil before.
func (s *Stream) Profile() *Profile {
	d, _ := s.Decision()
	return d.Profile
}

// Restore makes the stream go on from a decision; one without a profile is none.
func (s *Stream) Restore(d Decision) {
	if d.Profile == nil {
		s.Forget()
		return
	}
	if d.Before != nil && d.Before.Profile == nil {
		d.Before = nil
	}
	s.decision.Store(&d)
}

// Forget makes the next object decide anew: a stream of the same name begins again.
func (s *Stream) Forget() {
	s.decision.Store(nil)
	s.life.Store(nil)
}

// covers tells whether something that was learnt at one place of a file holds at another. Objects may be read again, after a
// refusal or a restart: those before the one that told are mapped as they were the first time.
func covers(learnt, offset int64) bool { return learnt <= 0 || offset < 0 || offset >= learnt }

// decisionAt gives what was decided on the object at an offset or before it, nil for nothing.
func (s *Stream) decisionAt(offset int64) *Decision {
	for d := s.decision.Load(); d != nil; d = d.Before {
		if covers(d.Offset, offset) {
			return d
		}
	}
	return nil
}

// decide keeps a decision for the stream, unless one that is as sure holds already. It gives the profile that holds.
func (s *Stream) decide(next Decision) (p *Profile, decided, revised bool) {
	for {
		latest, before := s.decision.Load(), s.decisionAt(next.Offset)
		d := next
		switch {
		case before == nil:
			decided, revised = true, false
		case before.Sure || !next.Sure && !before.Likely:
			return before.Profile, false, false
		case before.Profile == next.Profile: // the same, and surer now
			d = *before
			d.Sure, d.Likely = next.Sure, false
			decided, revised = before.Likely, false
		default:
			d.Before = &Decision{
				Profile: before.Profile, Offset: before.Offset, Likely: before.Likely, Base: before.Base, Partial: before.Partial,
				Before: before.Before,
			}
			decided, revised = true, true
		}
		if s.decision.CompareAndSwap(latest, &d) {
			return d.Profile, decided, revised
		}
	}
}

// remember keeps the number of the first epoch; the first object that tells counts.
func (s *Stream) remember(p *Profile, first, offset int64, likely bool) {
	s.learn(p, offset, likely, func(d *Decision) bool {
		if d.Base != nil && covers(d.Base.Offset, offset) {
			return false
		}
		d.Base = &EpochBase{First: first, Offset: offset}
		return true
	})
}

// rememberPartial keeps that an epoch was a fraction.
func (s *Stream) rememberPartial(p *Profile, offset int64, likely bool) {
	s.learn(p, offset, likely, func(d *Decision) bool {
		if d.Partial != nil && covers(*d.Partial, offset) {
			return false
		}
		d.Partial = &offset
		return true
	})
}

// learn adds to the decision what an object tells of those after it. A stream of which nothing was decided is the profile's
// from now on: somebody named its framework, or it is likely.
func (s *Stream) learn(p *Profile, offset int64, likely bool, add func(*Decision) bool) {
	for {
		before := s.decision.Load()
		d := Decision{Profile: p, Offset: offset, Likely: likely}
		if before != nil {
			if s.decisionAt(offset) != before { // read again: what it told was kept when it was read first
				return
			}
			d = *before
		}
		if !add(&d) || s.decision.CompareAndSwap(before, &d) {
			return
		}
	}
}

// epochBase gives the number of the first epoch; ok is false as far as it is not known at an offset.
func (s *Stream) epochBase(offset int64) (first int64, ok bool) {
	if s == nil {
		return 0, false
	}
	if d := s.decisionAt(offset); d != nil && d.Base != nil && covers(d.Base.Offset, offset) {
		return d.Base.First, true
	}
	return 0, false
}

// isPartial tells whether an epoch was a fraction, as far as it is known at an offset.
func (s *Stream) isPartial(offset int64) bool {
	if s == nil {
		return false
	}
	d := s.decisionAt(offset)
	return d != nil && d.Partial != nil && covers(*d.Partial, offset)
}

// fromStart tells whether the stream is known from its first line on. It is a function of what the storage keeps, so that
// a kill changes nothing. Objects without a place come as they were written.
func (s *Stream) fromStart(offset int64) bool {
	if s == nil {
		return false
	}
	d := s.decision.Load()
	return unplacedOrFirst(offset) || s.Begun() || d != nil && unplacedOrFirst(d.Offset)
}

// unplacedOrFirst tells that nothing of its file is known to stand before an object.
func unplacedOrFirst(offset int64) bool { return offset < 0 || trainrecord.AtStart(offset) }

// begin has a stream whose first object tells no epoch be known from there on.
func (s *Stream) begin(p *Profile, offset int64, likely bool) {
	if s != nil && p.countsFromFirst && unplacedOrFirst(offset) && s.decision.Load() == nil {
		s.decision.CompareAndSwap(nil, &Decision{Profile: p, Offset: offset, Likely: likely})
	}
}

// OffsetOf gives the place of an object in its file, -1 when that is not known.
func OffsetOf(lr plog.LogRecord) int64 {
	v, ok := lr.Attributes().Get(trainrecord.AttrLogFileRecordOffset)
	if !ok || v.Type() != pcommon.ValueTypeInt {
		return -1
	}
	return v.Int()
}
