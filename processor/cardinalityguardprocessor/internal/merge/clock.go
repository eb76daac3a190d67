package merge

import (
	"cmp"
	"math"
)

// A source is judged by its own clock: what it sent before, a start that moved, a repeat. That clock may be ahead of the guard's, all the time or for
// a while. What it sent is no later than it arrived, so a point behind that is an older one. One that is newer than that, but not than all that was
// sent, is of a clock that was set back, or a repeat: then it did not grow.

// sane gives a time that can be compared as a signed number. Those beyond keep their order.
func sane(t uint64) int64 {
	if t > math.MaxInt64 {
		return int64(t >> 1)
	}
	return int64(t)
}

// fixTime says when a point counts: at its time, or at its arrival, when it has none or one from the future.
func (b *Batch) fixTime(it *item) {
	if it.time == 0 {
		it.time = b.now
	}
	it.at = it.time
	it.ahead = it.time > b.now
	if it.future = it.time > b.now+int64(b.engine.cfg.MaxFutureSkew); it.future {
		it.at = b.now
	}
}

// begin is the start of a point by the guard's clock; 0: none.
func (it *item) begin(now int64) int64 {
	if it.future && it.start > now {
		return max(it.start-(it.time-it.at), 1)
	}
	return it.start
}

// born is the latest moment, by the guard's clock, at which the source of a point can have begun. Where its clock is known to be wrong, it is as old
// as the point says, and the point is no newer than its arrival.
func (it *item) born(now int64) int64 {
	if it.future {
		return it.start - (it.time - now)
	}
	return it.start
}

// order compares a point with the last one of its source: below zero it is older, at zero of the same time.
func (s *source) order(it *item) int {
	switch {
	case !s.known:
		return 1
	case s.fast && it.time == s.ahead:
		return 0
	}
	return cmp.Compare(it.time, s.time)
}

// unclear says whether a newer point has a time that the source was ahead of once: its clock was set back, or the point is an old one.
func (s *source) unclear(it *item) bool { return it.time <= s.ahead && (s.fast || it.ahead) }

// note makes a point the last one of its source.
func (s *source) note(it *item, now int64) {
	s.start, s.time, s.known, s.fast = it.start, min(it.time, now), true, it.ahead
	if it.ahead {
		s.ahead = max(s.ahead, it.time)
	}
}

// at is when the last value of a source counts.
func (s *source) at(skew int64) int64 {
	if s.fast && s.ahead-s.time <= skew {
		return s.ahead
	}
	return s.time
}

// restarted says whether a point of a source has a start that came after the last point.
func (s *source) restarted(it *item, now int64) bool {
	start := it.begin(now)
	switch {
	case it.start == s.start:
		return false
	case s.unclear(it) && it.start >= it.time: // it began before the clock was set back
		return s.fast && it.start >= s.ahead
	case it.start >= it.time:
		return false
	case s.unclear(it):
		return start >= s.time
	case it.start < s.start: // unless that was of a clock that was ahead
		return s.start > s.time && start >= s.time
	case s.fast:
		return it.start >= s.ahead
	}
	return start >= s.time
}

// unsure says whether a value that fell may be an older one.
func (s *source) unsure(it *item, now int64) bool {
	if it.start > s.start {
		return false
	}
	inBatch := it.future && !s.fast && s.seen == now // where the clock was set within a batch
	return s.unclear(it) || inBatch
}

// alive notes that a source sent a value.
func (b *Batch) alive(it *item, s *source) {
	if it.time > s.ended || s.ended > b.now {
		b.setLive(s, true)
	}
}
