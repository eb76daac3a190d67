package trainprofile

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// vocabulary makes a record of an object that is one already, apart from the envelope around it: the object is written as a
// line and decoded as the receiver decodes lines. It answers false, with lr as it was, for any other object.
func (m *Mapper) vocabulary(lr plog.LogRecord) bool {
	line := []byte(m.line)
	if m.line == "" {
		var ok bool
		if line, ok = m.asLine(); !ok {
			return false
		}
	}
	out := plog.NewLogRecord()
	if m.decoder.Decode(line, out).Kind != trainrecord.LineRecord {
		return false
	}
	h := &m.envelope.header
	if out.Timestamp() == 0 {
		out.SetTimestamp(h.Time)
	}
	if out.TraceID().IsEmpty() {
		out.SetTraceID(h.TraceID)
		out.SetSpanID(h.SpanID)
	}
	if lr.Timestamp() != 0 {
		out.SetTimestamp(lr.Timestamp())
	}
	_, named := out.Attributes().Get(trainrecord.AttrRunID)
	named = named && m.runOfPath(lr)
	for key, v := range lr.Attributes().All() { // what the log record says itself is kept
		if named && key == trainrecord.AttrRunID {
			continue
		}
		v.CopyTo(out.Attributes().PutEmpty(key))
	}
	out.SetObservedTimestamp(lr.ObservedTimestamp())
	out.SetFlags(lr.Flags())
	if lr.SeverityNumber() != plog.SeverityNumberUnspecified {
		out.SetSeverityNumber(lr.SeverityNumber())
		out.SetSeverityText(lr.SeverityText())
	}
	out.MoveTo(lr)
	return true
}

// asLine writes the open object as a line, with what the envelope knows: the time, the severity, and the event when the
// message is its name.
func (m *Mapper) asLine() ([]byte, bool) {
	has := func(key string) bool { return m.root.find(key) >= 0 }
	event := m.eventName()
	_, isObject := m.views.lookup(m.root, ref{{key: trainrecord.KeyBody}})
	if !m.saysSchema() && (event == "" || !has(trainrecord.KeyRunID) && !isObject) {
		return nil, false
	}
	h := &m.envelope.header
	line := []byte{'{'}
	put := func(key string, v pcommon.Value) {
		line = append(appendText(line, key), ':')
		line = append(appendValue(line, v), ',')
	}
	if event != "" {
		put(trainrecord.KeyEvent, pcommon.NewValueStr(event))
	}
	if h.Time != 0 && !has(trainrecord.KeyTS) {
		put(trainrecord.KeyTS, pcommon.NewValueStr(h.Time.AsTime().Format(time.RFC3339Nano)))
	}
	if h.Severity != "" && !has(trainrecord.KeySeverity) {
		put(trainrecord.KeySeverity, pcommon.NewValueStr(h.Severity))
	}
	for i := range m.root.entries {
		e := &m.root.entries[i]
		if e.hidden || e.key == trainrecord.KeyEvent && event != "" {
			continue
		}
		put(e.key, e.value)
	}
	line[len(line)-1] = '}'
	return line, len(line) <= trainrecord.MaxLine
}

// eventName gives the event that the object names, or its logger's message when that is the name of one.
func (m *Mapper) eventName() string {
	for _, key := range []string{trainrecord.KeyEvent, factMark + trainrecord.BodyMessage} {
		if i := m.root.find(key); i >= 0 && m.root.entries[i].value.Type() == pcommon.ValueTypeStr {
			if s := m.root.entries[i].value.Str(); trainrecord.IsEvent(s) {
				return s
			}
		}
	}
	return ""
}

func (m *Mapper) saysSchema() bool {
	i := m.root.find(trainrecord.KeySchema)
	return i >= 0 && strings.HasPrefix(m.root.entries[i].value.AsString(), trainrecord.SchemaName)
}

func appendText(line []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return append(line, '"', '"')
	}
	return append(line, text...)
}

// appendValue writes a value as JSON, with Python's tokens for numbers that are not finite.
func appendValue(line []byte, v pcommon.Value) []byte {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return appendText(line, v.Str())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(line, v.Int(), 10)
	case pcommon.ValueTypeDouble:
		return appendDouble(line, v.Double())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(line, v.Bool())
	case pcommon.ValueTypeMap:
		line = append(line, '{')
		for k, e := range v.Map().All() {
			line = append(appendText(line, k), ':')
			line = append(appendValue(line, e), ',')
		}
		return closed(line, '{', '}')
	case pcommon.ValueTypeSlice:
		line = append(line, '[')
		for _, e := range v.Slice().All() {
			line = append(appendValue(line, e), ',')
		}
		return closed(line, '[', ']')
	case pcommon.ValueTypeBytes:
		return appendText(line, v.AsString())
	default:
		return append(line, "null"...)
	}
}

func closed(line []byte, opening, closing byte) []byte {
	if line[len(line)-1] == opening {
		return append(line, closing)
	}
	line[len(line)-1] = closing
	return line
}

func appendDouble(line []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(line, "NaN"...)
	case math.IsInf(f, 1):
		return append(line, "Infinity"...)
	case math.IsInf(f, -1):
		return append(line, "-Infinity"...)
	}
	start := len(line)
	line = strconv.AppendFloat(line, f, 'g', -1, 64)
	for _, c := range line[start:] {
		if c == '.' || c == 'e' {
			return line
		}
	}
	return append(line, ".0"...) // an integer stays apart from a float
}
