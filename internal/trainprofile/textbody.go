package trainprofile

import (
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Keys of the object that a log record with a text as body is read as. The envelope otlp_text opens it.
const (
	textBody       = factMark + "body"
	textTime       = factMark + "time"
	textAttributes = "attributes"
)

// standardAttributes begin the keys of attributes that say where a log line comes from; they are no row.
var standardAttributes = [...]string{trainrecord.Namespace + ".", "log.", "code.", "thread.", "process.", "otel.", "exception."}

const exceptionAttributes = "exception."

// processText maps a log record whose body is text, if its attributes or its text carry a row. What was read leaves the
// attributes; one that carries none is untouched.
func (m *Mapper) processText(set *Set, stream *Stream, lr plog.LogRecord, more func() plog.LogRecord) Outcome {
	if !set.hasEnvelopes || !MayHoldRow(lr) {
		return Outcome{Kind: Untouched}
	}
	text := lr.Body().Str()
	fields := pcommon.NewMap()
	for key, v := range lr.Attributes().All() {
		if !isStandard(key) || strings.HasPrefix(key, exceptionAttributes) {
			v.CopyTo(fields.PutEmpty(key))
		}
	}
	body := lr.Body().SetEmptyMap()
	body.PutStr(textBody, text)
	if lr.Timestamp() != 0 {
		body.PutStr(textTime, lr.Timestamp().AsTime().Format(time.RFC3339Nano))
	}
	fields.CopyTo(body.PutEmptyMap(textAttributes))
	m.texts = true
	out := m.processObject(set, stream, lr, more)
	m.texts = false
	if out.Kind != Mapped {
		lr.Body().SetStr(text)
		return Outcome{Kind: Untouched}
	}
	if out.Profile != out.Envelope { // a record of the vocabulary has no details of a framework
		left := settleFields(lr.Body().Map())
		for _, r := range append([]plog.LogRecord{lr}, m.further...) {
			r.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool {
				_, carried := fields.Get(key)
				return carried && !slices.Contains(left, key)
			})
		}
	}
	return out
}

// textFacts makes facts of what an object says of the text that it was made of.
func (w *view) textFacts() {
	for i := range w.entries {
		if e := &w.entries[i]; e.key == textBody || e.key == textTime {
			e.fact = true
			w.facts = append(w.facts, i)
		}
	}
}

// MayHoldRow tells whether Process looks into a log record at all: it is no event yet, and has an object as body, or text
// that, or whose attributes, may carry a row.
func MayHoldRow(lr plog.LogRecord) bool {
	if lr.EventName() != "" {
		return false
	}
	switch lr.Body().Type() {
	case pcommon.ValueTypeMap:
		return true
	case pcommon.ValueTypeStr:
		if strings.ContainsAny(lr.Body().Str(), "{=") {
			return true
		}
		for key := range lr.Attributes().All() {
			if !isStandard(key) {
				return true
			}
		}
	default:
	}
	return false
}

func isStandard(key string) bool {
	return slices.ContainsFunc(standardAttributes[:], func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// settleFields takes out of the framework's details what stays an attribute, and gives its keys. The text keeps its name.
func settleFields(body pcommon.Map) (left []string) {
	v, ok := body.Get(trainrecord.BodyFramework)
	if !ok || v.Type() != pcommon.ValueTypeMap {
		return nil
	}
	details := v.Map()
	if fields, ok := details.Get(textAttributes); ok && fields.Type() == pcommon.ValueTypeMap {
		for key := range fields.Map().All() {
			left = append(left, key)
		}
		details.Remove(textAttributes)
	}
	details.Remove(textTime)
	if text, ok := details.Get(textBody); ok {
		text.CopyTo(details.PutEmpty(trainrecord.KeyBody))
		details.Remove(textBody)
	}
	if details.Len() == 0 {
		body.Remove(trainrecord.BodyFramework)
	}
	return left
}
