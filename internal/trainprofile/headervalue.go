package trainprofile

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// header gives what all records of an object have in common: what its log record says already, then what the object says.
func (m *Mapper) header(p *Profile, lr plog.LogRecord, framework string) {
	h := &m.carried
	*h = trainrecord.NewHeader()
	h.Framework = framework
	h.Time, h.TraceID, h.SpanID = lr.Timestamp(), lr.TraceID(), lr.SpanID()
	if v, ok := lr.Attributes().Get(trainrecord.AttrPhase); ok && v.Type() == pcommon.ValueTypeStr {
		h.Phase = v.Str()
	}
	for i := range p.recordKeys {
		if !m.recordKeys {
			break
		}
		m.recordKey(&p.recordKeys[i], h, lr)
	}
	if h.Time == 0 {
		h.Time = m.time(p)
	}
	if m.envelope.profile != nil {
		m.envelopeHeader(h, lr)
	}
}

// envelopeHeader fills in what the envelope says and neither the log record nor the object does.
func (m *Mapper) envelopeHeader(h *trainrecord.Header, lr plog.LogRecord) {
	e := &m.envelope.header
	has := func(key string) bool {
		_, ok := lr.Attributes().Get(headerAttributes[key])
		return ok
	}
	if h.Time == 0 {
		h.Time = e.Time
	}
	if h.TraceID.IsEmpty() {
		h.TraceID, h.SpanID = e.TraceID, e.SpanID
	}
	if h.Severity == "" {
		h.Severity = e.Severity
	}
	if h.RunID == "" && e.RunID != "" && (!has(trainrecord.KeyRunID) || m.runOfPath(lr)) {
		h.RunID = e.RunID
	}
	if h.Rank < 0 && !has(trainrecord.KeyRank) {
		h.Rank = e.Rank
	}
	if h.Attempt == 0 && !has(trainrecord.KeyAttempt) {
		h.Attempt = e.Attempt
	}
}

// recordKey reads a top-level key of a record that stands beside the framework's own keys. One of the wrong type is the
// framework's: it stays, and is no error.
func (m *Mapper) recordKey(step *setStep, h *trainrecord.Header, lr plog.LogRecord) {
	c, at, ok := m.fetch(&step.source)
	if !ok {
		return
	}
	switch step.target.name {
	case trainrecord.KeyTS:
		if ts, ok := trainrecord.TimeFromValue(c.v, m.location); ok && h.Time == 0 {
			h.Time = ts
			use(at)
		}
	case trainrecord.KeyFramework:
		if c.typ == pcommon.ValueTypeStr && (c.s == h.Framework || c.s == m.said) {
			use(at)
		}
	default:
		if step.target.kind == kindString && c.typ != pcommon.ValueTypeStr {
			return
		}
		if out, _, ok := c.convert(&step.target, &step.source, numbers{}); ok && m.setHeader(h, step, out, lr) {
			use(at)
		}
	}
}

// setHeader sets a field of the header unless the log record says it already; then only an equal value counts as read.
func (m *Mapper) setHeader(h *trainrecord.Header, step *setStep, c scalar, lr plog.LogRecord) bool {
	switch key := step.target.name; key {
	case trainrecord.KeySeverity:
		if !knownSeverity(c.s) {
			return false
		}
		step.target.headerSetter(h, c)
		return true
	case trainrecord.KeyTraceID:
		if !h.TraceID.IsEmpty() {
			return false
		}
		step.target.headerSetter(h, c)
		return !h.TraceID.IsEmpty()
	case trainrecord.KeySpanID:
		if !h.SpanID.IsEmpty() {
			return false
		}
		step.target.headerSetter(h, c)
		return !h.SpanID.IsEmpty()
	default:
		if v, ok := lr.Attributes().Get(headerAttributes[key]); ok {
			text, _ := c.text()
			if v.AsString() == text {
				return true
			}
			if key != trainrecord.KeyRunID || !m.runOfPath(lr) {
				return false
			}
		}
		if key == trainrecord.KeyRunID && (c.s == "" || len(c.s) > trainrecord.MaxRunID) {
			return false
		}
		step.target.headerSetter(h, c)
		return true
	}
}

// runOfPath tells whether the receiver took the log record's run from the path of its file: the uid names the same run, and no
// key of the line does. Then what the line says of its run in other words goes first.
func (m *Mapper) runOfPath(lr plog.LogRecord) bool {
	run, _ := lr.Attributes().Get(trainrecord.AttrRunID)
	uid, ok := lr.Attributes().Get(trainrecord.AttrLogRecordUID)
	if !ok || uid.Type() != pcommon.ValueTypeStr {
		return false
	}
	if u, ok := trainrecord.ParseUID(uid.Str()); !ok || u.RunID != run.AsString() {
		return false
	}
	i := m.base.find(trainrecord.KeyRunID)
	return i < 0 || m.base.entries[i].value.Type() != pcommon.ValueTypeStr
}

// knownSeverity tells whether a word is a severity: the vocabulary reads all others as INFO.
func knownSeverity(word string) bool {
	lr := plog.NewLogRecord()
	trainrecord.Header{Event: trainrecord.EventLog, Severity: word, Rank: -1}.Put(lr)
	return lr.SeverityNumber() != plog.SeverityNumberInfo || strings.EqualFold(word, lr.SeverityText())
}

// headerAttributes are the attributes in which a log record may say a field of the header already.
var headerAttributes = map[string]string{
	trainrecord.KeyRunID: trainrecord.AttrRunID, trainrecord.KeyPart: trainrecord.AttrRunPart,
	trainrecord.KeyAttempt: trainrecord.AttrRunAttempt, trainrecord.KeyRank: trainrecord.AttrRunRank,
	trainrecord.KeySeq: trainrecord.AttrRecordSeq, trainrecord.KeyPhase: trainrecord.AttrPhase,
}
