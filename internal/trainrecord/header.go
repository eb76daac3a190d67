package trainrecord

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// MaxRaw is the number of bytes of a bad line's text, and of a text under the key event, that are kept. Who masks secrets knows that a text of this length may
// have been cut in one; at no other length is a text cut before that.
const MaxRaw = 4096

// MaxRunID is the length of the longest run id, in bytes: every record, label and file name of a run carries it.
const MaxRunID = 1024

// Header identifies and classifies a record: what a line says beside its body.
type Header struct {
	Event     string
	RunID     string
	Part      string
	Framework string
	Phase     string
	Severity  string            // "" is INFO
	Attempt   int64             // 0 = absent
	Rank      int64             // -1 = absent
	Seq       int64             // 0 = absent
	Time      pcommon.Timestamp // 0 = none
	TraceID   pcommon.TraceID
	SpanID    pcommon.SpanID
}

// NewHeader gives a header with nothing in it.
func NewHeader() Header { return Header{Rank: -1} }

// Put writes the header into a log record. A framework or phase off its list becomes "other"; the original is kept under the
// body's framework key, if the body is a map, and counted. Attributes that the record has already keep their value where the
// header has none.
func (h Header) Put(lr plog.LogRecord) (offList int) {
	offList = h.bound(lr)
	h.put(lr)
	return offList
}

// bound brings framework and phase onto their lists.
func (h *Header) bound(lr plog.LogRecord) (offList int) {
	framework, onList := bounded(frameworks, h.Framework)
	if !onList {
		keep(lr, KeyFramework, h.Framework)
		offList++
	}
	phase, onList := bounded(phases, h.Phase)
	if !onList {
		keep(lr, KeyPhase, h.Phase)
		offList++
	}
	h.Framework, h.Phase = framework, phase
	return offList
}

func (h *Header) put(lr plog.LogRecord) {
	lr.SetEventName(otelName(h.Event))
	lr.SetTimestamp(h.Time)
	number, text := severity(h.Severity)
	lr.SetSeverityNumber(number)
	lr.SetSeverityText(text)
	lr.SetTraceID(h.TraceID)
	lr.SetSpanID(h.SpanID)
	attrs := lr.Attributes()
	putText(attrs, AttrRunID, h.RunID)
	putText(attrs, AttrRunPart, h.Part)
	putText(attrs, AttrFramework, h.Framework)
	putText(attrs, AttrPhase, h.Phase)
	if h.Attempt > 0 {
		attrs.PutInt(AttrRunAttempt, h.Attempt)
	}
	if h.Rank >= 0 {
		attrs.PutInt(AttrRunRank, h.Rank)
	}
	if h.Seq > 0 {
		attrs.PutInt(AttrRecordSeq, h.Seq)
	}
}

func putText(m pcommon.Map, key, value string) {
	if value != "" {
		m.PutStr(key, value)
	}
}

// valueSet is one of the registry's bounded sets, by the length of the values: few have the same.
type valueSet [][]string

func setOf(name string) valueSet { return newValueSet(Load().Values[name]) }

func newValueSet(values []string) (s valueSet) {
	for _, v := range values {
		for len(s) <= len(v) {
			s = append(s, nil)
		}
		s[len(v)] = append(s[len(v)], v)
	}
	return s
}

func (s valueSet) has(value string) bool {
	return len(value) < len(s) && slices.Contains(s[len(value)], value)
}

var (
	frameworks   = setOf("framework")
	phases       = setOf("phase")
	taskFamilies = setOf("task_family")
	outcomes     = setOf("reported_outcome")
)

// bounded gives a value of a set as it is, and "other" for one that is not on it. No value is on every list.
func bounded(set valueSet, value string) (text string, on bool) {
	if value == "" {
		return "", true
	}
	if on = set.has(value); on {
		return value, true
	}
	return Other, value == Other
}

// putEpochs writes an attribute from a value of the body, which may be any where the registry does not give the key to the event.
func putEpochs(attrs pcommon.Map, key string, v pcommon.Value) {
	if n, ok := Integer(v); ok && n >= 0 && n <= MaxEpochs {
		attrs.PutInt(key, n)
	}
}

// putBounded writes an attribute from a value of the body, which keeps the original; it gives 1 for one off its list.
func putBounded(attrs pcommon.Map, key string, set valueSet, v pcommon.Value) (offList int) {
	if v.Type() != pcommon.ValueTypeStr {
		return 0
	}
	text, on := bounded(set, v.Str())
	putText(attrs, key, text)
	if on {
		return 0
	}
	return 1
}

// severityNumber knows the spellings that loggers use beside those of the vocabulary, in capitals.
func severityNumber(s string) (n plog.SeverityNumber, ok bool) {
	switch s {
	case "TRACE":
		return plog.SeverityNumberTrace, true
	case "DEBUG":
		return plog.SeverityNumberDebug, true
	case "INFO":
		return plog.SeverityNumberInfo, true
	case "NOTICE", "SUCCESS":
		return plog.SeverityNumberInfo2, true
	case "WARN", "WARNING":
		return plog.SeverityNumberWarn, true
	case "ERROR":
		return plog.SeverityNumberError, true
	case "CRITICAL", "FATAL":
		return plog.SeverityNumberFatal, true
	default:
		return 0, false
	}
}

// severity gives number and text of a severity; an unknown or empty one is INFO. The text is one of the vocabulary's.
func severity(s string) (plog.SeverityNumber, string) {
	n, ok := severityNumber(s)
	if !ok {
		if n, ok = severityNumber(strings.ToUpper(s)); !ok {
			n = plog.SeverityNumberInfo
		}
	}
	switch {
	case n >= plog.SeverityNumberFatal:
		return n, "FATAL"
	case n >= plog.SeverityNumberError:
		return n, "ERROR"
	case n >= plog.SeverityNumberWarn:
		return n, "WARN"
	case n >= plog.SeverityNumberInfo:
		return n, "INFO"
	case n >= plog.SeverityNumberDebug:
		return n, "DEBUG"
	default:
		return n, "TRACE"
	}
}

// PutBodyAttributes copies the keys of the body that are attributes too: current and planned epoch, task family, outcome. It
// counts the values off their lists; the body keeps them as they are.
func PutBodyAttributes(lr plog.LogRecord) (offList int) {
	if lr.Body().Type() != pcommon.ValueTypeMap {
		return 0
	}
	attrs := lr.Attributes()
	for k, v := range lr.Body().Map().All() {
		switch k {
		case BodyEpoch:
			putEpochs(attrs, AttrEpochCurrent, v)
		case BodyPlannedEpochs:
			putEpochs(attrs, AttrEpochPlanned, v)
		case BodyTaskFamily:
			offList += putBounded(attrs, AttrTaskFamily, taskFamilies, v)
		case BodyOutcome:
			offList += putBounded(attrs, AttrRunOutcome, outcomes, v)
		default:
		}
	}
	return offList
}

// offListIn counts what PutBodyAttributes counts.
func offListIn(body pcommon.Map) (n int) {
	for k, v := range body.All() {
		if (k == BodyTaskFamily || k == BodyOutcome) && v.Type() == pcommon.ValueTypeStr {
			set := taskFamilies
			if k == BodyOutcome {
				set = outcomes
			}
			if _, on := bounded(set, v.Str()); !on {
				n++
			}
		}
	}
	return n
}

// PutErrorLog makes a log record of the event log out of a line that is no record: its text, cut, and the reason.
func PutErrorLog(lr plog.LogRecord, reason Reason, raw []byte) {
	lr.SetEventName(otelName(EventLog))
	lr.SetSeverityNumber(plog.SeverityNumberWarn)
	lr.SetSeverityText("WARN")
	lr.Attributes().PutStr(AttrRecordError, string(reason))
	lr.Body().SetEmptyMap().PutStr(BodyMessage, CutText(raw, MaxRaw))
}

// CutText gives at most n bytes of b as valid UTF-8: what is no UTF-8 becomes U+FFFD, no rune is cut in two.
func CutText(b []byte, n int) string {
	if len(b) > n {
		b = b[:n]
		for i := 0; i < utf8.UTFMax-1 && len(b) > 0 && !utf8.FullRune(lastRune(b)); i++ {
			b = b[:len(b)-1]
		}
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// lastRune gives the bytes of b from the start of its last rune on.
func lastRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b[len(b)-1:]
}
