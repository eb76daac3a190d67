package trainjsonlreceiver

import (
	"bytes"
	"errors"
	"slices"
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

// batch is the records of consecutive lines of one file and one run.
type batch struct {
	logs    plog.Logs
	lines   []line // that it took; where a line of the file was split, its pieces
	rest    []line // those that it did not take
	run     string // of all its records
	last    string // that the last record named
	ended   int    // 1: run.end was the last word, -1: work was, as records or rows, 0: neither was there
	records int
	objects int
	bad     []badLine

	byFolder bool // the folder names the run of a line that names none
	odd      oddities
	flawed   flaw // the first, when there is one
	clock    flaw // the first line whose time cannot be right
}

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
	reader   *trainlines.Reader
	scratch  plog.LogRecord
	resource []byte
}

// builders lends builders.
type builders struct{ pool sync.Pool }

func newBuilders(o trainlines.Options) *builders {
	return &builders{pool: sync.Pool{New: func() any {
		return &builder{scratch: plog.NewLogRecord(), reader: trainlines.NewReader(o)}
	}}}
}

func (b *builders) build(src source, lines []line) batch {
	one := b.pool.Get().(*builder)
	defer b.pool.Put(one)
	return one.build(src, lines)
}

// build takes lines up to the first of another run. It notes in each line the run it belongs to, so that a later build of
// some of them says the same.
func (b *builder) build(src source, lines []line) batch {
	out := batch{logs: plog.NewLogs(), last: src.run}
	now := pcommon.NewTimestampFromTime(time.Now())
	var records plog.LogRecordSlice
	i := 0
	for ; i < min(len(lines), maxBatch); i++ {
		before := out
		d := b.decode(&lines[i], src, &out)
		if len(d.pieces) > 0 {
			lines = slices.Replace(lines, i, i+1, d.pieces...)
			out = before
			i--
			continue
		}
		if i > 0 && d.run != out.run {
			out = before
			break
		}
		if i == 0 || !bytes.Equal(d.resource, b.resource) {
			records = b.open(out.logs, d.resource)
			records.EnsureCapacity(min(len(lines)-i, maxBatch))
		}
		out.run = d.run
		lines[i].run = d.run
		b.scratch.SetObservedTimestamp(now)
		b.scratch.MoveTo(records.AppendEmpty())
	}
	out.lines, out.rest = lines[:i:i], lines[i:]
	return out
}

// open begins the records of one resource.
func (b *builder) open(logs plog.Logs, resource []byte) plog.LogRecordSlice {
	b.resource = append(b.resource[:0], resource...)
	rl := logs.ResourceLogs().AppendEmpty()
	if len(resource) > 0 {
		b.reader.Decoder().PutResource(rl.Resource().Attributes())
	}
	rl.SetSchemaUrl(trainrecord.SchemaURL)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.SetSchemaUrl(trainrecord.SchemaURL)
	sl.Scope().SetName(trainrecord.ScopeName)
	sl.Scope().SetVersion(trainrecord.SchemaVersion)
	return sl.LogRecords()
}

// decoded is what a line became, beside the scratch record; or the pieces it falls into.
type decoded struct {
	run      string
	resource []byte
	pieces   []line
}

func (b *builder) decode(l *line, src source, out *batch) decoded {
	if l.reason != "" {
		return b.bad(l, src, out, trainlines.Prefixed{Rank: -1}, l.reason, nil)
	}
	read := b.reader.Read(l.data, l.whole, b.scratch)
	if len(read.Pieces) > 0 {
		return decoded{pieces: l.fallApart(read.Pieces)}
	}
	got, found := read.Line, read.Found
	if got.Kind == trainrecord.LineError {
		return b.bad(l, src, out, found, got.Reason, got.Err)
	}
	run := got.RunID
	if run == "" {
		run = src.id.run
	}
	if run == "" {
		return b.bad(l, src, out, found, trainrecord.ReasonNoRunID, errNoRunID)
	}
	attrs := b.scratch.Attributes()
	if got.RunID == "" {
		attrs.PutStr(trainrecord.AttrRunID, run)
		out.byFolder = src.id.folder
	} else {
		out.last = got.RunID
	}
	b.common(l, src, run, found, out)
	out.odd.add(got)
	if got.Flaw != "" && out.flawed.key == "" {
		out.flawed = flaw{key: got.Flaw, offset: l.offset}
	}
	if got.Kind == trainrecord.LineObject {
		out.objects++
		out.ended = -1
		return decoded{run: run}
	}
	out.records++
	switch got.Event {
	case trainrecord.EventRunEnd:
		out.ended = 1
	case trainrecord.EventRunStart, trainrecord.EventEpochEnd, trainrecord.EventStepEnd, trainrecord.EventPhaseStart, trainrecord.EventHeartbeat:
		out.ended = -1
	default: // may come last
	}
	return decoded{run: run, resource: got.Resource}
}

// bad makes the scratch record out of a line that is none. Such a line cannot name its run: it belongs to the one that the
// last record named, else to that of the path.
func (b *builder) bad(l *line, src source, out *batch, found trainlines.Prefixed, reason trainrecord.Reason, err error) decoded {
	run := l.run
	if run == "" {
		run = out.last
	}
	if run == "" {
		run = src.id.run
	}
	b.scratch = plog.NewLogRecord()
	trainrecord.PutErrorLog(b.scratch, reason, trainlines.Shown(l.data, reason))
	if run != "" {
		b.scratch.Attributes().PutStr(trainrecord.AttrRunID, run)
	}
	b.common(l, src, run, found, out)
	out.bad = append(out.bad, badLine{offset: l.offset, reason: reason, err: err})
	return decoded{run: run}
}

// common adds what every record gets: place, identity, and what prefix and path say beside the line.
func (b *builder) common(l *line, src source, run string, found trainlines.Prefixed, out *batch) {
	attrs := b.scratch.Attributes()
	trainlines.PutRank(attrs, found.Rank)
	src.id.put(attrs)
	src.putFile(attrs)
	attrs.PutInt(trainrecord.AttrLogFileRecordOffset, l.offset)
	var short [128]byte
	attrs.PutStr(trainrecord.AttrLogRecordUID, b.reader.Decoder().Text(uidOf(run, src.file, l).Append(short[:0])))
	b.reader.PutTime(b.scratch, found)
	if src.doubtsClock(b.scratch.Timestamp(), l.end) {
		if out.odd.clock == 0 {
			out.clock = flaw{key: trainrecord.KeyTS, offset: l.offset}
		}
		out.odd.clock++
	}
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
