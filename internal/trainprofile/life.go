package trainprofile

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maxStarts is how many starts of runs a stream remembers; the oldest are forgotten.
const maxStarts = 8

// Life is what a stream remembers whether or not it was recognised. It does not change: another one takes its place.
type Life struct {
	Begun  bool    // its first line was seen, whatever that was
	Starts []Start // of runs, in the order of the stream, from the first on that was in a trace of the trainer's
}

// Start is a run.start of a stream, and the trace that it was written in.
type Start struct {
	RunID   string
	Offset  int64 // negative when it has none
	TraceID pcommon.TraceID
}

// Life gives what the stream remembers, nil for nothing. Equal pointers mean that nothing has changed.
func (s *Stream) Life() *Life { return s.life.Load() }

// RestoreLife makes the stream go on from what it remembered before.
func (s *Stream) RestoreLife(l *Life) { s.life.Store(l) }

// Begun tells whether the first line of the stream was seen.
func (s *Stream) Begun() bool {
	l := s.life.Load()
	return l != nil && l.Begun
}

// Begin tells the stream that its first line was seen.
func (s *Stream) Begin() {
	s.change(func(l *Life) bool {
		was := l.Begun
		l.Begun = true
		return !was
	})
}

// NoteStart tells the stream of a run.start and its trace. One outside a trace of the trainer's matters only after one in it.
func (s *Stream) NoteStart(next Start) {
	s.change(func(l *Life) bool {
		if slices.Contains(l.Starts, next) || next.TraceID.IsEmpty() && len(l.Starts) == 0 {
			return false
		}
		starts := slices.Clone(l.Starts)
		at := len(starts)
		for at > 0 && next.Offset >= 0 && starts[at-1].Offset > next.Offset {
			at--
		}
		starts = slices.Insert(starts, at, next)
		l.Starts = starts[max(0, len(starts)-maxStarts):]
		return true
	})
}

// TraceAt gives the trainer's trace that a run was in at a place of the stream, none when it started outside one. What is
// read again gets what it got the first time.
func (s *Stream) TraceAt(runID string, offset int64) pcommon.TraceID {
	if l := s.life.Load(); l != nil {
		for _, start := range slices.Backward(l.Starts) {
			if start.RunID == runID && covers(start.Offset, offset) {
				return start.TraceID
			}
		}
	}
	return pcommon.TraceID{}
}

// change puts another life in the place of the stream's; edit answers false for no change.
func (s *Stream) change(edit func(*Life) bool) {
	for {
		before := s.life.Load()
		next := Life{}
		if before != nil {
			next = *before
		}
		if !edit(&next) || s.life.CompareAndSwap(before, &next) {
			return
		}
	}
}
