package trainrecord

import (
	"bytes"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// headKey numbers the top-level keys whose value is a scalar.
type headKey int

const (
	headSchema headKey = iota
	headEvent
	headRunID
	headPart
	headHost
	headFramework
	headPhase
	headSeverity
	headTraceID
	headSpanID
	headTS
	headAttempt
	headSeq
	headRank
	headKeys
)

var headNames = [headKeys]string{
	KeySchema, KeyEvent, KeyRunID, KeyPart, KeyHost, KeyFramework, KeyPhase, KeySeverity, KeyTraceID, KeySpanID,
	KeyTS, KeyAttempt, KeySeq, KeyRank,
}

// headKeyOf looks only at names of the key's length, of which there are few.
func headKeyOf(key []byte) (headKey, bool) {
	if len(key) >= len(headKeysByLength) {
		return 0, false
	}
	for _, k := range headKeysByLength[len(key)] {
		if string(key) == headNames[k] {
			return k, true
		}
	}
	return 0, false
}

var headKeysByLength = func() (by [16][]headKey) {
	for k, name := range headNames {
		by[len(name)] = append(by[len(name)], headKey(k))
	}
	return by
}()

// lineHead holds the top level of a line as it came.
type lineHead struct {
	scalars     [headKeys]scalar
	event       eventKind // of the list; set by isRecord
	hasBody     bool      // the body is an object
	badBody     bool      // it is something else, and not null
	resource    []byte
	badResource bool
	extra       []extraKey
	filled      bool // something of it may be set
}

// empty forgets a line. Most lines that are no records come after such a line.
func (h *lineHead) empty() {
	if h.filled {
		*h = lineHead{extra: h.extra[:0]}
	}
}

// extraKey is a top-level key that the vocabulary does not know, with the bytes of its value.
type extraKey struct {
	key   string
	value []byte
}

// get gives the value of a key that is there and not null.
func (h *lineHead) get(key headKey) (*scalar, bool) {
	v := &h.scalars[key]
	return v, v.kind != scalarNone
}

// isRecord is the rule of the record contract: a schema of the vocabulary; or an event of the list, a time, and a run id
// or a body.
func (h *lineHead) isRecord() bool {
	h.event = noEvent
	if v := &h.scalars[headEvent]; v.kind == scalarText {
		h.event = eventOf(v.text)
	}
	if v := &h.scalars[headSchema]; v.kind == scalarText && bytes.HasPrefix(v.text, schemaName) {
		return true
	}
	if h.event == noEvent {
		return false
	}
	_, hasTime := h.get(headTS)
	_, hasRun := h.get(headRunID)
	return hasTime && (hasRun || h.hasBody)
}

// read reads the object that the scanner stands before; the body goes to its place at once. A nil place checks it only.
func (h *lineHead) read(s *scanner, body *pcommon.Value) error {
	h.empty()
	h.filled = true
	if err := s.open(0); err != nil {
		return err
	}
	for n := 0; ; n++ {
		key, more, err := s.nextKey(n)
		if err != nil || !more {
			return err
		}
		if err := h.member(s, key, body); err != nil {
			return err
		}
	}
}

func (h *lineHead) member(s *scanner, key []byte, body *pcommon.Value) error {
	if k, ok := headKeyOf(key); ok {
		if _, again := h.get(k); again {
			s.duplicateKeys++
		}
		return h.scalars[k].read(s)
	}
	switch string(key) {
	case KeyBody:
		c := s.peek()
		h.hasBody, h.badBody = c == '{', c != '{' && c != 'n'
		return s.valueUnder(&s.body, body, 1)
	case KeyResource:
		raw, isObject, err := skip(s)
		h.resource, h.badResource = nil, !isObject && raw[0] != 'n'
		if isObject {
			h.resource = raw
		}
		return err
	default:
		name := string(key)
		raw, _, err := skip(s)
		h.extra = append(h.extra, extraKey{key: name, value: raw})
		return err
	}
}

// skip checks a value and gives its bytes, which are at least one unless err says more.
func skip(s *scanner) (raw []byte, isObject bool, err error) {
	c := s.peek()
	start := s.pos
	if err := s.value(nil, 1); err != nil {
		return []byte{c}, false, err
	}
	return s.buf[start:s.pos], c == '{', nil
}
