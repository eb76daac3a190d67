package trainrecord

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"go.opentelemetry.io/collector/pdata/plog"
)

// record turns the head into the log record's fields; the body is there already.
func (d *Decoder) record(lr plog.LogRecord, l *Line) error {
	d.left = 0
	h, err := d.header(l)
	if err != nil {
		return err
	}
	body := d.mendBody(lr.Body(), l)
	event := eventOf(h.Event)
	if err := d.putExtra(event, body, l); err != nil {
		return err
	}
	if !fits(event, body) {
		d.mend(event, body, l)
	}
	beside(event, body, l)
	d.keepLeft(body)
	if d.into == nil {
		d.makeRoom(lr)
	}
	original := ""
	if said, ok := d.head.get(headEvent); ok && said.kind == scalarText && len(said.text) > 0 && string(said.text) != h.Event {
		text := d.scan.word(said.text)
		keep(lr, KeyEvent, text)
		original = CutText(said.text, MaxRaw)
		l.OffList++
		l.Flaw = EventMistake(text) // before any other: nothing of the record counts as what it was meant to be
	}
	if n := h.bound(lr); n > 0 {
		l.OffList += n
		l.flaw(wrongType(KeyFramework+" or "+KeyPhase, wantListed).Error())
	}
	if n := d.put(&h, original, lr); n > 0 {
		l.OffList += n
		l.flaw(wrongType(KeyBody+"."+BodyOutcome+" or ."+BodyTaskFamily, wantListed).Error())
	}
	l.RunID, l.Event = h.RunID, h.Event
	d.resource = d.resource[:0]
	d.resource = append(d.resource, d.head.resource...)
	if host, ok := d.head.get(headHost); ok && host.kind == scalarText {
		d.resource = append(append(d.resource, 0), host.text...)
	}
	l.Resource = d.resource
	if n := d.scan.vocabularyKeys(d.head.resource, body); n > 0 {
		l.FieldsDropped += n
		l.flaw(wrongType(KeyResource, "no key of the vocabulary").Error())
	}
	return nil
}

// put writes what the line says beside its body into the log record, or into the record that is wanted in its place. It counts what
// the body has off its lists.
func (d *Decoder) put(h *Header, original string, lr plog.LogRecord) (offList int) {
	if d.into != nil {
		*d.into = h.record(original, lr)
		return offListIn(d.into.Body)
	}
	putText(lr.Attributes(), AttrEventOriginal, original)
	h.put(lr)
	offList = PutBodyAttributes(lr)
	d.attributes = lr.Attributes().Len()
	return offList
}

// record is what FromLog reads from a log record that put wrote, but for the resource.
func (h *Header) record(original string, lr plog.LogRecord) Record {
	r := Record{
		Event: h.Event, RunID: h.RunID, Part: h.Part, Framework: h.Framework, Phase: h.Phase, Original: original,
		Attempt: max(h.Attempt, 1), Rank: max(h.Rank, 0), Seq: h.Seq, Offset: -1, Time: h.Time, TraceID: h.TraceID, SpanID: h.SpanID,
		Body: lr.Body().Map(),
	}
	r.Severity, _ = severity(h.Severity)
	return r
}

var errLongRunID = wrongType(KeyRunID, "at most "+strconv.Itoa(MaxRunID)+" bytes")

// header checks the types of the top-level keys. Those that identify a record must be right: without one, the record would be another's. Any other that has
// no meaning is left out and counted.
func (d *Decoder) header(l *Line) (Header, error) {
	h := NewHeader()
	for _, t := range [...]struct {
		key headKey
		dst *string
	}{{headEvent, &h.Event}, {headRunID, &h.RunID}, {headPart, &h.Part}, {headFramework, &h.Framework}, {headPhase, &h.Phase}} {
		v, ok := d.head.get(t.key)
		if ok && v.kind != scalarText {
			if t.key == headRunID || t.key == headPart {
				return h, wrongType(headNames[t.key], "a string")
			}
			d.leave(l, t.key)
			continue
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
	if h.Event == "" && d.left&(1<<headEvent) == 0 {
		l.drop(headMistakes[headEvent])
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
			d.leave(l, headTS)
		}
	}
	if v, ok := d.head.get(headSeverity); ok {
		if v.kind == scalarText && isSeverity(v.text) {
			h.Severity = d.scan.word(v.text)
		} else {
			d.leave(l, headSeverity)
		}
	}
	if v, ok := d.head.get(headTraceID); ok && !hexID(v, h.TraceID[:]) {
		d.leave(l, headTraceID)
	}
	if v, ok := d.head.get(headSpanID); ok && !hexID(v, h.SpanID[:]) {
		d.leave(l, headSpanID)
	}
	if v, ok := d.head.get(headHost); ok && v.kind != scalarText {
		d.leave(l, headHost)
	}
	if v, ok := d.head.get(headSchema); ok && v.kind != scalarText {
		d.leave(l, headSchema)
	}
	if d.head.badResource {
		l.drop(wrongType(KeyResource, wants["object"]).Error())
		d.left |= leftResource
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
