package trainrecord

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// record turns the head into the log record's fields; the body is there already.
func (d *Decoder) record(lr plog.LogRecord, l *Line) error {
	h, err := d.header(l)
	if err != nil {
		return err
	}
	if d.head.badBody {
		return wrongType(KeyBody, "an object")
	}
	if lr.Body().Type() != pcommon.ValueTypeMap {
		lr.Body().SetEmptyMap()
	}
	body := lr.Body().Map()
	if err := checkBody(eventOf(h.Event), body); err != nil {
		return err
	}
	if err := d.putExtra(body); err != nil {
		return err
	}
	d.makeRoom(lr)
	if event, ok := d.head.get(headEvent); ok && len(event.text) > 0 && string(event.text) != h.Event {
		keep(lr, KeyEvent, d.scan.word(event.text))
		lr.Attributes().PutStr(AttrEventOriginal, CutText(event.text, maxOriginal))
		l.OffList++
		l.Flaw = EventMistake(CutText(event.text, maxOriginal)) // before any other: nothing of the record counts as what it was meant to be
	}
	if n := h.Put(lr); n > 0 {
		l.OffList += n
		l.flaw(KeyFramework + " or " + KeyPhase)
	}
	if n := PutBodyAttributes(lr); n > 0 {
		l.OffList += n
		l.flaw(KeyBody)
	}
	if n, first := misfits(eventOf(h.Event), body); n > 0 {
		l.FieldsDropped += n
		l.flaw(first)
	}
	l.RunID, l.Event = h.RunID, h.Event
	d.attributes = lr.Attributes().Len()
	d.resource = d.resource[:0]
	d.resource = append(d.resource, d.head.resource...)
	if host, ok := d.head.get(headHost); ok && host.kind == scalarText {
		d.resource = append(append(d.resource, 0), host.text...)
	}
	l.Resource = d.resource
	if n := d.scan.vocabularyKeys(d.head.resource); n > 0 {
		l.FieldsDropped += n
		l.flaw(KeyResource)
	}
	return nil
}

// maxOriginal bounds what is told of a value that is off its list.
const maxOriginal = 64

var errLongRunID = wrongType(KeyRunID, "at most "+strconv.Itoa(MaxRunID)+" bytes")

// header checks the types of the top-level keys. Those that identify a record must be right; a time, severity or id
// without meaning is left out and counted.
func (d *Decoder) header(l *Line) (Header, error) {
	h := NewHeader()
	for _, t := range [...]struct {
		key headKey
		dst *string
	}{{headEvent, &h.Event}, {headRunID, &h.RunID}, {headPart, &h.Part}, {headFramework, &h.Framework}, {headPhase, &h.Phase}} {
		v, ok := d.head.get(t.key)
		if ok && v.kind != scalarText {
			return h, wrongType(headNames[t.key], "a string")
		}
		if ok && t.key == headRunID && len(v.text) > MaxRunID {
			return h, errLongRunID
		}
		if ok {
			*t.dst = d.scan.word(v.text)
		}
	}
	for _, n := range [...]struct {
		key     headKey
		minimum int64
		dst     *int64
	}{{headAttempt, 1, &h.Attempt}, {headSeq, 1, &h.Seq}, {headRank, 0, &h.Rank}} {
		v, ok := d.head.get(n.key)
		if !ok {
			continue
		}
		if *n.dst, ok = v.integer(); !ok || *n.dst < n.minimum {
			return h, wrongType(headNames[n.key], "an integer of its range")
		}
	}
	if h.Event == "" {
		l.drop(KeyEvent)
	}
	if d.head.event == noEvent || h.Event == EventStreamStatus { // that one is the receiver's own: no line tells what it saw
		h.Event = EventLog
	}
	d.optional(&h, l)
	return h, nil
}

func (d *Decoder) optional(h *Header, l *Line) {
	if v, ok := d.head.get(headTS); ok {
		if h.Time, ok = v.time(d.location); !ok {
			l.drop(KeyTS)
		}
	}
	if v, ok := d.head.get(headSeverity); ok {
		if v.kind == scalarText && isSeverity(v.text) {
			h.Severity = d.scan.word(v.text)
		} else {
			l.drop(KeySeverity)
		}
	}
	if v, ok := d.head.get(headTraceID); ok && !hexID(v, h.TraceID[:]) {
		l.drop(KeyTraceID)
	}
	if v, ok := d.head.get(headSpanID); ok && !hexID(v, h.SpanID[:]) {
		l.drop(KeySpanID)
	}
	if v, ok := d.head.get(headHost); ok && v.kind != scalarText {
		l.drop(KeyHost)
	}
	if d.head.badResource {
		l.drop(KeyResource)
	}
}

// isSeverity tells the spellings of severities, in any case, from other words.
func isSeverity(text []byte) bool {
	if _, ok := severityNumber(string(text)); ok {
		return true
	}
	_, ok := severityNumber(string(bytes.ToUpper(text)))
	return ok
}

// hexID decodes an id of exactly len(dst) bytes. An id that is none leaves dst zero.
func hexID(v *scalar, dst []byte) bool {
	if v.kind != scalarText || len(v.text) != 2*len(dst) {
		return false
	}
	if _, err := hex.Decode(dst, v.text); err != nil {
		clear(dst)
		return false
	}
	return true
}
