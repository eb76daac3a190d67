package trainprofile

import (
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Stream remembers which profile a stream was recognised as; the first decision stays. It is all that mapping an object
// needs of the objects before it. The zero value knows nothing.
type Stream struct{ decision atomic.Pointer[Decision] }

// Decision says which profile a stream was recognised as, and by which object.
type Decision struct {
	Profile *Profile
	Offset  int64 // of the object in its file; negative when it has none
}

// Decision gives what was decided; ok is false before.
func (s *Stream) Decision() (d Decision, ok bool) {
	if p := s.decision.Load(); p != nil {
		return *p, true
	}
	return Decision{}, false
}

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
	s.decision.Store(&d)
}

// Forget makes the next object decide anew: a stream of the same name begins again.
func (s *Stream) Forget() { s.decision.Store(nil) }

// covers tells whether the decision was made on the object or before it. Objects may be read again, after a refusal or a
// restart: those before the one that decided are mapped as they were the first time.
func (d *Decision) covers(lr plog.LogRecord) bool {
	if d.Offset <= 0 {
		return true
	}
	offset := offsetOf(lr)
	return offset < 0 || offset >= d.Offset
}

// decide keeps a profile for the stream, unless another object did so in the meantime.
func (s *Stream) decide(p *Profile, lr plog.LogRecord) (*Profile, basis) {
	if s == nil {
		return p, recognised
	}
	next := &Decision{Profile: p, Offset: offsetOf(lr)}
	for {
		before := s.decision.Load()
		if before != nil && before.covers(lr) {
			return before.Profile, decided
		}
		if s.decision.CompareAndSwap(before, next) {
			return p, recognised
		}
	}
}

// offsetOf gives the place of an object in its file, -1 when that is not known.
func offsetOf(lr plog.LogRecord) int64 {
	v, ok := lr.Attributes().Get(trainrecord.AttrLogFileRecordOffset)
	if !ok || v.Type() != pcommon.ValueTypeInt {
		return -1
	}
	return v.Int()
}
