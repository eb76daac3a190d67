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
	Kind      Kind
	Profile   *Profile     // the profile that was applied, nil when there was none
	Envelope  *Profile     // the envelope that was opened last, nil when there was none
	Detected  bool         // the object was recognised by a strong condition; its stream, if known, keeps that
	Revised   bool         // the stream was taken for something else before
	Weak      bool         // the object, or one before it that the stream remembers something of, met a weak condition only
	Alone     bool         // the object stands in the middle of a stream of which nothing is known: its own keys decided
	Closes    bool         // by the framework's habit the training is over, though none of the records is its end
	AsWritten bool         // its epoch is taken for an index because nothing tells whether the stream counts from 0 or from 1
	Ambiguous bool         // two profiles claim the object with equal right, so none has it
	Errors    []FieldError // valid until the mapper's next use
}

// Process maps a log record whose body is a framework's object, or text beside attributes that carry one. stream is the memory of the object's stream, nil when the
// stream is not known; then every object is recognised by its own keys. more gives log records for the further ones that an
// object may be turned into; they are ready when Process returns.
//
// Envelopes are opened first. What decides then, in this order: the framework that the log record or the object names, the
// set's framework, the decision made for the stream by an earlier object, the conditions of profiles. A strong one is kept
// for the stream, a sure one also where a strong one was kept; a weak one is for this object only. An object in an envelope
// that no rule of its profile maps is tried with the weak conditions.
func (m *Mapper) Process(set *Set, stream *Stream, lr plog.LogRecord, more func() plog.LogRecord) Outcome {
	switch {
	case lr.EventName() != "":
		return Outcome{Kind: Untouched}
	case lr.Body().Type() == pcommon.ValueTypeStr:
		return m.processText(set, stream, lr, more)
	case lr.Body().Type() != pcommon.ValueTypeMap:
		return Outcome{Kind: Untouched}
	}
	return m.processObject(set, stream, lr, more)
}

func (m *Mapper) processObject(set *Set, stream *Stream, lr plog.LogRecord, more func() plog.LogRecord) Outcome {
	m.open(lr.Body().Map())
	if m.forget(set); !m.texts {
		m.shape = m.shapeOf(m.base)
	}
	defer m.views.reset() // keep nothing of the data
	m.unwrapAll(set)
	m.candidates(set)
	out := Outcome{Kind: Unmapped, Envelope: m.envelope.profile}
	m.stream, m.offset, m.weak, m.asWritten = stream, OffsetOf(lr), false, false
	if m.envelope.profile != nil && m.vocabulary(lr) {
		if stream != nil && trainrecord.AtStart(m.offset) {
			stream.Begin()
		}
		out.Kind, out.Profile = Mapped, m.envelope.profile
		return out
	}
	out.Alone = stream != nil && !unplacedOrFirst(m.offset) && !stream.Begun()
	m.choose(set, lr, &out)
	if out.Profile != nil {
		stream.begin(out.Profile, m.offset, m.weak)
	}
	out.Ambiguous = m.ambiguous && out.Profile == nil
	m.closes = false
	if stream != nil && trainrecord.AtStart(m.offset) {
		stream.Begin()
	}
	if m.meantAsRecord(out.Profile) {
		return out
	}
	if out.Profile != nil && (m.applyBeside(set, out.Profile, lr, more) || m.apply(out.Profile, lr, more)) {
		out.Kind, out.Errors, out.Closes, out.AsWritten = Mapped, m.errs, m.closes, m.asWritten
	} else if out.Profile != nil && out.Envelope != nil && !m.weak {
		if p := m.recognise(set, levelWeak); p != nil && m.applyWithin(out.Profile, p, lr, more) {
			out.Kind, out.Errors, out.Profile, out.Weak = Mapped, m.errs, p, true
		}
	}
	return out
}

// meantAsRecord tells whether the open object was meant to be a record and is none: it has no time, or its event is off the list and
// the profile takes any loop's rows. What its body says, how the run ended above all, no rule of a framework reads, so none has it.
func (m *Mapper) meantAsRecord(p *Profile) bool {
	event, body := m.root.find(trainrecord.KeyEvent), m.root.find(trainrecord.KeyBody)
	if event < 0 || body < 0 || m.root.entries[body].value.Type() != pcommon.ValueTypeMap {
		return false
	}
	v := m.root.entries[event].value
	switch {
	case v.Type() != pcommon.ValueTypeStr:
		return false
	case trainrecord.IsEvent(v.Str()):
		ts := m.root.find(trainrecord.KeyTS)
		return ts < 0 || m.root.entries[ts].value.Type() == pcommon.ValueTypeEmpty // null is absent
	default:
		return p != nil && p.condition(levelWeak) != nil && p.condition(levelStrong) == nil && p.condition(levelSure) == nil
	}
}

// applyWithin maps by a second profile what the framework's own has no rule for: text that its program logs beside its rows.
// The records are the framework's all the same.
func (m *Mapper) applyWithin(own, p *Profile, lr plog.LogRecord, more func() plog.LogRecord) bool {
	m.within = own
	defer func() { m.within = nil }()
	return m.apply(p, lr, more)
}

// choose finds the profile of the open object.
func (m *Mapper) choose(set *Set, lr plog.LogRecord, out *Outcome) {
	for _, name := range [...]string{m.nameIn(lr), set.framework} {
		if candidates := set.named(name); len(candidates) > 0 {
			out.Profile, out.Alone = m.among(candidates), false
			return
		}
	}
	var before *Decision
	if m.stream != nil {
		before = m.stream.decisionAt(m.offset)
	}
	if before != nil {
		out.Profile, out.Weak, out.Alone = before.Profile, before.Likely, false
		if before.Sure || !set.hasSure && !before.Likely {
			return
		}
	}
	if p := m.recognise(set, levelSure); p != nil {
		out.keep(m.stream, p, m.offset, true)
		return
	}
	if before != nil && !before.Likely {
		return
	}
	if p := m.recognise(set, levelStrong); p != nil {
		out.keep(m.stream, p, m.offset, false)
		return
	}
	if before != nil {
		return
	}
	if p := m.recognise(set, levelWeak); p != nil {
		out.Profile, out.Weak, m.weak = p, true, true
	}
}

// keep takes a profile for the object and for its stream.
func (out *Outcome) keep(stream *Stream, p *Profile, offset int64, sure bool) {
	out.Detected, out.Weak, out.Profile = true, false, p
	if stream != nil {
		out.Profile, out.Detected, out.Revised = stream.decide(Decision{Profile: p, Offset: offset, Sure: sure})
		out.Alone = out.Alone && out.Detected // else another batch decided meanwhile
	}
}

// among picks one of the profiles of a framework that was named: the one that recognises the object, else the first that has
// a rule for it.
func (m *Mapper) among(candidates []*Profile) *Profile {
	if len(candidates) == 1 {
		return candidates[0]
	}
	for _, l := range [...]level{levelSure, levelStrong, levelWeak} {
		for _, p := range candidates {
			if c := p.condition(l); c != nil && c.met(&m.views, m.root) {
				return p
			}
		}
	}
	for _, p := range candidates {
		for _, r := range p.rules {
			if r.when.met(&m.views, m.root) {
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
	if m.within != nil {
		p = m.within
	}
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

// Knows tells whether a profile, or a framework of one, has this name.
func (s *Set) Knows(name string) bool { return len(s.byName[name]) > 0 }
