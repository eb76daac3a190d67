package trainprofile

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Kind says what became of a log record.
type Kind int

// Kinds of outcome.
const (
	Untouched Kind = iota // it has an event name or is no object: a record already, or none of ours
	Mapped                // it is a record now
	Unmapped              // no profile, or no rule of the profile, matches; it is unchanged
)

// Outcome is the result of Process.
type Outcome struct {
	Kind     Kind
	Profile  *Profile     // the profile that was applied, nil when there was none
	Detected bool         // the object was recognised by a strong condition; its stream, if known, keeps that
	Weak     bool         // the object met a weak condition only, and nothing else is known of its stream
	Errors   []FieldError // valid until the mapper's next use
}

// Process maps a log record whose body is a framework's object. stream is the memory of the object's stream, nil when the
// stream is not known; then every object is recognised by its own keys. more gives log records for the further ones that an
// object may be turned into; they are ready when Process returns.
//
// What decides, in this order: the framework that the log record or the object names, the set's framework, the decision
// made for the stream by an earlier object, the strong condition of a profile (the stream keeps that decision), the weak
// condition of a profile (for this object only).
func (m *Mapper) Process(set *Set, stream *Stream, lr plog.LogRecord, more func() plog.LogRecord) Outcome {
	if lr.EventName() != "" || lr.Body().Type() != pcommon.ValueTypeMap {
		return Outcome{Kind: Untouched}
	}
	m.open(lr.Body().Map())
	defer m.views.reset() // keep nothing of the data
	p, why := m.choose(set, stream, lr)
	if p == nil {
		return Outcome{Kind: Unmapped}
	}
	out := Outcome{Kind: Unmapped, Profile: p, Detected: why == recognised, Weak: why == guessed}
	if m.apply(p, lr, more) {
		out.Kind, out.Errors = Mapped, m.errs
	}
	return out
}

// basis says why a profile was chosen.
type basis int

const (
	named basis = iota
	decided
	recognised
	guessed
)

func (m *Mapper) choose(set *Set, stream *Stream, lr plog.LogRecord) (*Profile, basis) {
	if candidates := set.named(m.nameIn(lr)); len(candidates) > 0 {
		return m.among(candidates), named
	}
	if candidates := set.named(set.framework); len(candidates) > 0 {
		return m.among(candidates), named
	}
	if stream != nil {
		if d := stream.decision.Load(); d != nil && d.covers(lr) {
			return d.Profile, decided
		}
	}
	for _, p := range set.profiles {
		if p.strong != nil && p.strong.met(&m.views, m.root) {
			return stream.decide(p, lr)
		}
	}
	for _, p := range set.profiles {
		if p.weak != nil && p.weak.met(&m.views, m.root) {
			return p, guessed
		}
	}
	return nil, guessed
}

// among picks one of the profiles of a framework that was named: the one that recognises the object, else the first.
func (m *Mapper) among(candidates []*Profile) *Profile {
	if len(candidates) > 1 {
		for _, p := range candidates {
			if p.strong != nil && p.strong.met(&m.views, m.root) {
				return p
			}
		}
	}
	return candidates[0]
}

// nameIn gives the framework that the log record or its object names.
func (m *Mapper) nameIn(lr plog.LogRecord) string {
	if v, ok := lr.Attributes().Get(trainrecord.AttrFramework); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	if i := m.root.find(trainrecord.KeyFramework); i >= 0 && m.root.entries[i].value.Type() == pcommon.ValueTypeStr {
		return m.root.entries[i].value.Str()
	}
	return ""
}

// frameworkOf gives the framework of the records: what was named when the registry knows it, else the profile's. What was
// named and is lost by that is kept; it is an error unless it is the profile's own name.
func (m *Mapper) frameworkOf(p *Profile, lr plog.LogRecord) string {
	m.said = ""
	name := m.nameIn(lr)
	switch {
	case name == "" || name == p.framework:
		return p.framework
	case name != p.name && trainrecord.Load().Bounded("framework", name) == name:
		return name
	case name != p.name:
		m.errs = append(m.errs, FieldError{Field: trainrecord.KeyFramework, Reason: ReasonOffList})
	}
	m.said = name
	return p.framework
}
