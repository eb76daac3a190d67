package trainjsonlreceiver

import (
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// maxBatch is the number of records of one call.
const maxBatch = 1000

var errNoRunID = errors.New("neither the line nor the path names a run: give each run a folder of its own, or set run_id.path_regex")

// source is what the records of one batch share.
type source struct {
	path     string
	origin   string
	nameless bool // the path is no attribute
	named    bool // its last element is one
	id       pathID
	file     uint32
	text     int64  // number of the text that the file has
	replaces int64  // how many of those before are gone
	run      string // that the last record named

	written time.Time // when the file was written last
	size    int64     // of the file then
}

// clockTolerance is how far the time of a record may be from that of its file.
const clockTolerance = 24 * time.Hour

// doubtsClock says whether a line's time cannot be right. Times before the file's last change are, as far as it goes; but
// not that of the line that was the last change.
func (s *source) doubtsClock(ts pcommon.Timestamp, end int64) bool {
	if ts == 0 || s.written.IsZero() {
		return false
	}
	ahead := ts.AsTime().Sub(s.written)
	return ahead > clockTolerance || ahead < -clockTolerance && end == s.size
}

// badLine is a line that is no record.
type badLine struct {
	offset int64
	reason trainrecord.Reason
	err    error
}

// batch is the records of lines of one file and one run.
type batch struct {
	logs    plog.Logs
	lines   []line // in the order of the file; where a line of the file was split, its pieces
	run     string // of all its records
	records int
	objects int
	bad     []badLine

	byFolder bool // the folder names the run of a line that names none
	odd      oddities
	flawed   flaw // the first, when there is one
	clock    flaw // the first line whose time cannot be right

	resource []byte // of the record before
	slice    plog.LogRecordSlice
}

// letGo forgets the records, which are many times as large as their lines, while the lines wait for another attempt.
func (b *batch) letGo() { b.logs, b.slice = plog.Logs{}, plog.LogRecordSlice{} }

// flaw is a key of a record that was left out or replaced.
type flaw struct {
	key    string
	offset int64
}

// oddities are counted flaws of accepted lines.
type oddities struct{ badUTF8, duplicateKeys, arraysCut, fieldsDropped, offList, clock int }

func (o *oddities) add(l trainrecord.Line) {
	o.badUTF8 += l.BadUTF8
	o.duplicateKeys += l.DuplicateKeys
	o.arraysCut += l.ArraysCut
	o.fieldsDropped += l.FieldsDropped
	o.offList += l.OffList
}

// builder turns lines into batches. It is used by one goroutine at a time.
type builder struct {
	reader  *trainlines.Reader
	scratch plog.LogRecord
}

// builders lends builders.
type builders struct{ pool sync.Pool }

func newBuilders(o trainlines.Options) *builders {
	return &builders{pool: sync.Pool{New: func() any {
		return &builder{scratch: plog.NewLogRecord(), reader: trainlines.NewReader(o)}
	}}}
}

func (b *builders) build(src source, lines []line) built {
	one := b.pool.Get().(*builder)
	defer b.pool.Put(one)
	return one.build(src, lines)
}

// decoded is what a line became, beside the scratch record; or the pieces it falls into.
type decoded struct {
	run    string
	named  string // by the record itself
	folder bool   // the folder named it
	pieces []line
	line   trainrecord.Line // when it is no bad one
	bad    *badLine
	clock  bool // its time cannot be right
}

// decode reads a line into the scratch record and the rest into d; last is the run that a record before it named.
func (b *builder) decode(l *line, src *source, last string, d *decoded) {
	*d = decoded{}
	if l.reason != "" {
		b.bad(l, src, last, trainlines.Prefixed{Rank: -1}, l.reason, nil, d)
		return
	}
	read := b.reader.Read(l.data, l.whole, b.scratch)
	if len(read.Pieces) > 0 {
		d.pieces = l.fallApart(read.Pieces)
		return
	}
	got := &read.Line
	if got.Kind == trainrecord.LineError {
		b.bad(l, src, last, read.Found, got.Reason, got.Err, d)
		return
	}
	d.named, d.run = got.RunID, got.RunID
	if d.run == "" {
		d.run = src.id.run
	}
	if d.run == "" {
		b.bad(l, src, last, read.Found, trainrecord.ReasonNoRunID, errNoRunID, d)
		return
	}
	if got.RunID == "" {
		b.scratch.Attributes().PutStr(trainrecord.AttrRunID, d.run)
		d.folder = src.id.folder
	}
	d.line = *got
	d.clock = b.common(l, src, d.run, read.Found)
}

// bad makes the scratch record out of a line that is none. Such a line cannot name its run: it belongs to the one that the
// last record named, else to that of the path.
func (b *builder) bad(l *line, src *source, last string, found trainlines.Prefixed, reason trainrecord.Reason, err error, d *decoded) {
	run := l.run
	if run == "" {
		run = last
	}
	if run == "" {
		run = src.id.run
	}
	b.scratch = plog.NewLogRecord()
	trainrecord.PutErrorLog(b.scratch, reason, trainlines.Shown(l.data, reason))
	if run != "" {
		b.scratch.Attributes().PutStr(trainrecord.AttrRunID, run)
	}
	d.run, d.bad = run, &badLine{offset: l.offset, reason: reason, err: err}
	d.clock = b.common(l, src, run, found)
}

// common adds what every record gets: place, identity, and what prefix and path say beside the line. It says whether the
// time cannot be right.
func (b *builder) common(l *line, src *source, run string, found trainlines.Prefixed) (clock bool) {
	attrs := b.scratch.Attributes()
	trainlines.PutRank(attrs, found.Rank)
	src.id.put(attrs)
	src.putFile(attrs)
	attrs.PutInt(trainrecord.AttrLogFileRecordOffset, l.offset)
	if src.text > 0 {
		attrs.PutInt(trainrecord.AttrStreamText, src.text)
		attrs.PutInt(trainrecord.AttrStreamReplaces, src.replaces)
	}
	var short [128]byte
	attrs.PutStr(trainrecord.AttrLogRecordUID, b.reader.Decoder().Text(uidOf(run, src.file, l).Append(short[:0])))
	b.reader.PutTime(b.scratch, found)
	return src.doubtsClock(b.scratch.Timestamp(), l.end)
}

// fallApart makes lines of the pieces of a line. Each ends where the next begins, the last one where the line ends.
func (l *line) fallApart(pieces []trainlines.Piece) []line {
	lines := make([]line, len(pieces))
	for i, p := range pieces {
		data := l.data[p.From:p.To]
		lines[i] = line{offset: l.offset + int64(p.From), end: l.end, data: data, crc: trainrecord.LineCRC(data), whole: p.Whole}
		if p.NULs {
			lines[i] = hole(data, lines[i].offset)
			lines[i].end = l.end
		}
		if i > 0 {
			lines[i-1].end = lines[i].offset
		}
	}
	return lines
}

func uidOf(run string, file uint32, l *line) trainrecord.UID {
	if l.isHole() {
		file = 0 // NUL bytes may come before the stream's first line is known
	}
	return trainrecord.UID{RunID: run, File: file, Offset: l.offset, CRC: l.crc}
}
