package trainrecord

import (
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Record is a training record read from its OpenTelemetry form. Body and Resource are views into the log data: they are
// valid as long as the data is, and must not be changed.
type Record struct {
	UID       string // log.record.uid, "" when the record has none
	RunID     string
	Event     string // as a line spells it: "epoch.end"
	Part      string
	Framework string
	Phase     string
	Host      string
	Attempt   int64             // >= 1
	Rank      int64             // >= 0
	Seq       int64             // >= 1, 0 when absent
	Time      pcommon.Timestamp // event time, 0 when the record has none
	Severity  plog.SeverityNumber
	TraceID   pcommon.TraceID
	SpanID    pcommon.SpanID
	Sampled   bool
	Original  string // the event as the trainer wrote it, where it is off the list
	Error     Reason // why the line was no record; "" for a record
	File      string
	Offset    int64 // byte offset in File, -1 when absent
	Text      int64 // of File, 0 when absent: the first
	Replaces  int64 // how many of the texts before are gone, 0 when absent
	Misfits   int   // attributes that are not of their type, which count as absent, or not of their range, which are brought into it
	Body      pcommon.Map
	Resource  pcommon.Map
}

// FromLog reads a record from a log record. It answers false when the event name is none of the vocabulary's, or the body
// is no map (an error line, whose body is its raw text, is a record of the event log without body).
func FromLog(res pcommon.Resource, lr plog.LogRecord) (Record, bool) {
	event, ok := recordEvent(lr)
	if !ok {
		return Record{}, false
	}
	r := Record{
		Event: event, Attempt: 1, Offset: -1,
		Time: lr.Timestamp(), Severity: lr.SeverityNumber(),
		TraceID: lr.TraceID(), SpanID: lr.SpanID(),
	}
	if lr.Body().Type() == pcommon.ValueTypeMap {
		r.Body = lr.Body().Map()
	} else {
		r.Body = pcommon.NewMap()
	}
	for k, v := range lr.Attributes().All() {
		r.setAttribute(k, v)
	}
	r.SetResource(res)
	return r, true
}

// SetResource sets what the resource says.
func (r *Record) SetResource(res pcommon.Resource) {
	r.Resource, r.Host = res.Attributes(), ""
	if host, ok := r.Resource.Get(AttrHostName); ok && host.Type() == pcommon.ValueTypeStr {
		r.Host = host.Str()
	}
}

// recordEvent gives the event of a record by its event name; where that belongs to another namespace, by the attribute for that case.
func recordEvent(lr plog.LogRecord) (string, bool) {
	event, ok := strings.CutPrefix(lr.EventName(), Namespace+".")
	if !ok && lr.EventName() != "" {
		if v, has := lr.Attributes().Get(AttrEventName); has && v.Type() == pcommon.ValueTypeStr {
			event, ok = strings.CutPrefix(v.Str(), Namespace+".")
		}
	}
	return event, ok && IsEvent(event)
}

func (r *Record) setAttribute(key string, v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		r.setText(key, v.Str())
	case pcommon.ValueTypeInt:
		r.setInt(key, v.Int())
	case pcommon.ValueTypeBool:
		if key == AttrRecordSampled {
			r.Sampled = v.Bool()
		} else {
			r.misfit(key)
		}
	case pcommon.ValueTypeEmpty: // absent
	default:
		r.misfit(key)
	}
}

// misfit counts an attribute that has no value of its type: all of these would make a record one of another run, part, attempt, rank or place.
func (r *Record) misfit(key string) {
	switch key {
	case AttrRunID, AttrRunPart, AttrRunAttempt, AttrRunRank, AttrRecordSeq, AttrLogRecordUID, AttrLogFilePath, AttrLogFileRecordOffset, AttrStreamText, AttrStreamReplaces,
		AttrFramework, AttrPhase, AttrRecordSampled:
		r.Misfits++
	default: // not read, or not by its type
	}
}

// atLeast brings a number into its range.
func (r *Record) atLeast(least, n int64) int64 {
	if n < least {
		r.Misfits++
	}
	return max(least, n)
}

func (r *Record) setText(key, s string) {
	switch key {
	case AttrRunID:
		r.RunID = s
	case AttrRunPart:
		r.Part = s
	case AttrFramework:
		r.Framework = s
	case AttrPhase:
		r.Phase = s
	case AttrEventOriginal:
		r.Original = s
	case AttrRecordError:
		r.Error = Reason(s)
	case AttrLogRecordUID:
		r.UID = s
	case AttrLogFilePath:
		r.File = s
	default:
		r.misfit(key)
	}
}

func (r *Record) setInt(key string, n int64) {
	switch key {
	case AttrRunAttempt:
		r.Attempt = r.atLeast(1, n)
	case AttrRunRank:
		r.Rank = r.atLeast(0, n)
	case AttrRecordSeq:
		r.Seq = r.atLeast(0, n)
	case AttrLogFileRecordOffset:
		r.Offset = r.atLeast(-1, n)
	case AttrStreamText:
		r.Text = r.atLeast(0, n)
	case AttrStreamReplaces:
		r.Replaces = r.atLeast(0, n)
	default:
		r.misfit(key)
	}
}

// Number gives the value of a number, or of one of the spellings of non-finite numbers that frameworks write as text
// ("NaN", "nan", "Infinity", "inf", "-Infinity", "-inf"). Other text is no number here: profiles decide about it.
func Number(v pcommon.Value) (float64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	case pcommon.ValueTypeDouble:
		return v.Double(), true
	case pcommon.ValueTypeStr:
		return nonFinite(v.Str())
	default:
		return 0, false
	}
}

// LargeNumber gives a number as Number does, and an integer beyond 64 bits, which the decoder keeps as its digits.
func LargeNumber(v pcommon.Value) (float64, bool) {
	if x, ok := Number(v); ok || v.Type() != pcommon.ValueTypeStr {
		return x, ok
	}
	digits := strings.TrimPrefix(v.Str(), "-")
	if len(digits) < len("9223372036854775807") || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	x, _ := strconv.ParseFloat(v.Str(), 64) // out of range: infinite
	return x, true
}

// Integer gives the value of an integer, or of a float that is one exactly.
func Integer(v pcommon.Value) (int64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int(), true
	case pcommon.ValueTypeDouble:
		f := v.Double()
		if f != math.Trunc(f) || math.Abs(f) >= 1<<63 { // beyond, a conversion means something else on each processor
			return 0, false
		}
		return int64(f), true
	default:
		return 0, false
	}
}
