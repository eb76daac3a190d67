package trainrecord

import (
	"bytes"
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// LineKind says what a line is.
type LineKind int

// Kinds of lines.
const (
	LineError  LineKind = iota // no JSON object, or a record with a wrong type: Line.Reason says which
	LineObject                 // any other JSON object: the whole object is the body; its run_id counts as a record's does
	LineRecord                 // a record of the vocabulary
)

// Line is what Decode found beside what it wrote into the log record.
type Line struct {
	Kind   LineKind
	Reason Reason // LineError: why
	Err    error  // LineError: where and what
	End    int    // ReasonTrailingData: where the line goes on after its object
	RunID  string // "" when the line names none
	Event  string // LineRecord
	// Resource holds the raw bytes of the line's resource and host: equal bytes mean equal resources. It is valid until
	// the next Decode; empty when the line has neither.
	Resource []byte
	// Counted oddities of an accepted line.
	BadUTF8       int    // byte sequences that became U+FFFD
	DuplicateKeys int    // keys that came twice in an object; the last value won
	ArraysCut     int    // arrays cut to MaxElements
	FieldsDropped int    // values of a record that have no meaning, or are not of their type, range or list: left out, and kept under the body's framework key
	Flaw          string // the first key of a record that was left out or whose value was off its list, and what is wanted there; "" for none
	OffList       int    // values off their list (event, framework, phase, task family, outcome): replaced, and kept in the body
}

// DecoderOptions configure a Decoder.
type DecoderOptions struct {
	Location  *time.Location // of times without a zone; nil is UTC
	NonFinite NonFinite      // what becomes of NaN and the infinities
}

// Decoder decodes lines. It is not safe for concurrent use.
type Decoder struct {
	location *time.Location
	scan     scanner
	head     lineHead
	resource []byte
	empty    plog.LogRecord

	into       *Record // of DecodeRecord
	attributes int     // of the record before
	left       uint32  // a bit for each top-level key of the record whose value is left out
}

// callersAttributes is how many attributes a caller adds to most records: file, offset, uid.
const callersAttributes = 3

// objectsAttributes is how many an object has room for, beside those of the caller: run, and what mapping adds to a row.
const objectsAttributes = 4

// NewDecoder makes a decoder.
func NewDecoder(o DecoderOptions) *Decoder {
	if o.Location == nil {
		o.Location = time.UTC
	}
	return &Decoder{location: o.Location, scan: newScanner(o.NonFinite), empty: plog.NewLogRecord()}
}

func (l *Line) drop(key string) {
	l.FieldsDropped++
	l.flaw(key)
}

func (l *Line) flaw(key string) {
	if l.Flaw == "" {
		l.Flaw = key
	}
}

// Decode reads a line, given without its newline, into lr, which it clears first. See Line for the outcomes; a LineError
// leaves lr empty. Only what the line says is written: run id from elsewhere, file, offset, uid and observed time are the
// caller's.
func (d *Decoder) Decode(line []byte, lr plog.LogRecord) Line {
	d.empty.CopyTo(lr)
	d.scan.reset(line)
	if len(line) > MaxLine {
		return d.refuse(lr, d.scan.fail(ReasonTooLong, "line longer than 16 MiB"))
	}
	if d.scan.peek() != '{' {
		return d.refuse(lr, d.noObject())
	}
	start := d.scan.pos
	if !mayBeRecord(line) {
		d.head.empty()
		return d.object(start, lr)
	}
	body := lr.Body()
	if err := d.head.read(&d.scan, &body); err != nil {
		return d.refuse(lr, err)
	}
	if !d.atEnd() {
		return d.trailing(lr)
	}
	if !d.head.isRecord() {
		return d.object(start, lr)
	}
	l := Line{Kind: LineRecord}
	if err := d.record(lr, &l); err != nil {
		return d.refuse(lr, err)
	}
	d.counts(&l, lr)
	return l
}

// DecodeRecord is Decode for whoever wants the record of a LineRecord itself and no log record of it: lr has its body then, and nothing
// else that counts. The record's resource is the caller's.
func (d *Decoder) DecodeRecord(line []byte, lr plog.LogRecord, into *Record) Line {
	d.into = into
	l := d.Decode(line, lr)
	d.into = nil
	return l
}

func (d *Decoder) refuse(lr plog.LogRecord, err error) Line {
	d.empty.CopyTo(lr)
	l := Line{Kind: LineError, Reason: ReasonNotJSON, Err: err}
	var le *lineError
	var te *typeError
	switch {
	case errors.As(err, &le):
		l.Reason = le.reason
		if le.reason == ReasonNotJSON && le.offset >= len(d.scan.buf) && d.scan.opened() {
			le.what = "the object does not end on its line: want one object a line, without line breaks in it"
		}
		if le.reason == ReasonNotJSON && isPythonRepr(d.scan.buf, le.offset) {
			l.Reason = ReasonPythonRepr
		}
	case errors.As(err, &te):
		l.Reason = ReasonWrongType
	}
	return l
}

// opened says that the line begins with an object.
func (s *scanner) opened() bool {
	trimmed := bytes.TrimLeft(s.buf, " \t\r")
	return len(trimmed) > 0 && trimmed[0] == '{'
}

// noObject tells JSON that is no object from what is no JSON.
func (d *Decoder) noObject() error {
	at := d.scan.pos
	if err := d.scan.value(nil, 0); err == nil && d.scan.peek() == 0 && d.scan.pos == len(d.scan.buf) {
		d.scan.pos = at
		return d.scan.fail(ReasonNotObject, "want an object, one a line")
	}
	d.scan.pos = at
	return d.scan.fail(ReasonNotJSON, "want a JSON object, one a line")
}

// atEnd says whether nothing but blanks follows the object.
func (d *Decoder) atEnd() bool { return d.scan.peek() == 0 && d.scan.pos == len(d.scan.buf) }

func (d *Decoder) trailing(lr plog.LogRecord) Line {
	l := d.refuse(lr, d.scan.fail(ReasonTrailingData, "data after the object"))
	l.End = d.scan.pos
	return l
}

// Keys without which no line is a record, as nearly all write them.
var (
	quotedSchema = []byte(`"` + KeySchema + `"`)
	quotedEvent  = []byte(`"` + KeyEvent + `"`)
)

// mayBeRecord spares the rows of frameworks a second reading. An escape may hide a key. The end of a key is looked for first:
// a search is quick where its first byte is rare, and a quotation mark is not.
func mayBeRecord(line []byte) bool {
	return bytes.Contains(line, quotedEvent[2:]) && bytes.Contains(line, quotedEvent) ||
		bytes.Contains(line, quotedSchema[3:]) && bytes.Contains(line, quotedSchema) || bytes.IndexByte(line, '\\') >= 0
}

// object decodes the line as an object that is no record.
func (d *Decoder) object(start int, lr plog.LogRecord) Line {
	d.scan.reset(d.scan.buf)
	d.scan.pos = start
	body := lr.Body()
	if err := d.scan.valueUnder(&d.scan.row, &body, 0); err != nil {
		return d.refuse(lr, err)
	}
	if !d.atEnd() {
		return d.trailing(lr)
	}
	l := Line{Kind: LineObject}
	lr.Attributes().EnsureCapacity(objectsAttributes + callersAttributes)
	if v, ok := body.Map().Get(KeyRunID); ok && v.Type() == pcommon.ValueTypeStr {
		if len(v.Str()) > MaxRunID {
			return d.refuse(lr, errLongRunID)
		}
		l.RunID = v.Str()
		putText(lr.Attributes(), AttrRunID, l.RunID)
	}
	d.counts(&l, lr)
	return l
}

// makeRoom makes room for as many attributes as the record before had, and for those of the caller.
func (d *Decoder) makeRoom(lr plog.LogRecord) {
	lr.Attributes().EnsureCapacity(d.attributes + callersAttributes)
}

func (d *Decoder) counts(l *Line, lr plog.LogRecord) {
	l.BadUTF8, l.DuplicateKeys, l.ArraysCut = d.scan.badUTF8, d.scan.duplicateKeys, d.scan.arraysCut
	if l.ArraysCut > 0 {
		lr.Attributes().PutInt(AttrRecordArraysCut, int64(l.ArraysCut))
	}
}

// Text gives b as a string that shares its memory with other texts of the same time, so that most cost no allocation.
func (d *Decoder) Text(b []byte) string { return d.scan.arena.text(b) }
