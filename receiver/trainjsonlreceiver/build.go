package trainjsonlreceiver

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// maxBatch is the number of records of one call.
const maxBatch = 1000

var errNoRunID = errors.New("neither the line nor the path names a run: give each run a folder of its own, or set run_id.path_regex")

// source is what the records of one batch share.
type source struct {
	path     string
	nameless bool // the path is no attribute
	named    bool // its last element is one
	id       pathID
	file     uint32
	run      string // that the last record named
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
	lines   int    // how many lines it took
	run     string // of all its records
	last    string // that the last record named
	ended   int    // 1: run.end was the last word, -1: run.start was, 0: neither was there
	records int
	objects int
	bad     []badLine
	odd     oddities
	flawed  flaw // the first, when there is one
}

// flaw is a key of a record that was left out or replaced.
type flaw struct {
	key    string
	offset int64
}

// oddities are counted flaws of accepted lines.
type oddities struct{ badUTF8, duplicateKeys, arraysCut, fieldsDropped, offList int }

func (o *oddities) add(l trainrecord.Line) {
	o.badUTF8 += l.BadUTF8
	o.duplicateKeys += l.DuplicateKeys
	o.arraysCut += l.ArraysCut
	o.fieldsDropped += l.FieldsDropped
	o.offList += l.OffList
}

// builder turns lines into batches. It is used by one goroutine at a time.
type builder struct {
	decoder  *trainrecord.Decoder
	location *time.Location
	prefixes []prefix
	scratch  plog.LogRecord
	resource []byte
}

// builders lends builders.
type builders struct{ pool sync.Pool }

func newBuilders(location *time.Location, prefixes []prefix) *builders {
	return &builders{pool: sync.Pool{New: func() any {
		return &builder{
			decoder:  trainrecord.NewDecoder(trainrecord.DecoderOptions{Location: location}),
			location: location, prefixes: prefixes, scratch: plog.NewLogRecord(),
		}
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
	for i := range lines[:min(len(lines), maxBatch)] {
		before := out
		d := b.decode(&lines[i], src, &out)
		if i > 0 && d.run != out.run {
			out.last, out.ended, out.records, out.objects, out.bad, out.odd, out.flawed =
				before.last, before.ended, before.records, before.objects, before.bad, before.odd, before.flawed
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
		out.lines++
	}
	return out
}

// open begins the records of one resource.
func (b *builder) open(logs plog.Logs, resource []byte) plog.LogRecordSlice {
	b.resource = append(b.resource[:0], resource...)
	rl := logs.ResourceLogs().AppendEmpty()
	if len(resource) > 0 {
		b.decoder.PutResource(rl.Resource().Attributes())
	}
	rl.SetSchemaUrl(trainrecord.SchemaURL)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.SetSchemaUrl(trainrecord.SchemaURL)
	sl.Scope().SetName(trainrecord.ScopeName)
	sl.Scope().SetVersion(trainrecord.SchemaVersion)
	return sl.LogRecords()
}

// decoded is what a line became, beside the scratch record.
type decoded struct {
	run      string
	resource []byte
}

func (b *builder) decode(l *line, src source, out *batch) decoded {
	if l.reason != "" {
		return b.bad(l, src, out, prefixed{rank: -1}, l.reason, nil)
	}
	data, found := stripPrefixes(b.prefixes, l.data)
	got := b.decoder.Decode(data, b.scratch)
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
	} else {
		out.last = got.RunID
	}
	b.common(l, src, run, found)
	out.odd.add(got)
	if got.Flaw != "" && out.flawed.key == "" {
		out.flawed = flaw{key: got.Flaw, offset: l.offset}
	}
	if got.Kind == trainrecord.LineObject {
		out.objects++
		return decoded{run: run}
	}
	out.records++
	switch got.Event {
	case trainrecord.EventRunEnd:
		out.ended = 1
	case trainrecord.EventRunStart:
		out.ended = -1
	default:
	}
	return decoded{run: run, resource: got.Resource}
}

// bad makes the scratch record out of a line that is none. Such a line cannot name its run: it belongs to the one that the
// last record named, else to that of the path.
func (b *builder) bad(l *line, src source, out *batch, found prefixed, reason trainrecord.Reason, err error) decoded {
	run := l.run
	if run == "" {
		run = out.last
	}
	if run == "" {
		run = src.id.run
	}
	b.scratch = plog.NewLogRecord()
	trainrecord.PutErrorLog(b.scratch, reason, l.data)
	if run != "" {
		b.scratch.Attributes().PutStr(trainrecord.AttrRunID, run)
	}
	b.common(l, src, run, found)
	out.bad = append(out.bad, badLine{offset: l.offset, reason: reason, err: err})
	return decoded{run: run}
}

// common adds what every record gets: place, identity, and what prefix and path say beside the line.
func (b *builder) common(l *line, src source, run string, found prefixed) {
	attrs := b.scratch.Attributes()
	putRank(attrs, found.rank)
	src.id.put(attrs)
	src.putFile(attrs)
	attrs.PutInt(trainrecord.AttrLogFileRecordOffset, l.offset)
	attrs.PutStr(trainrecord.AttrLogRecordUID, uidOf(run, src.file, l))
	if found.time != "" && b.scratch.Timestamp() == 0 {
		if ts, ok := trainrecord.ParseTime(found.time, b.location); ok {
			b.scratch.SetTimestamp(ts)
		}
	}
}

func uidOf(run string, file uint32, l *line) string {
	return trainrecord.UID{RunID: run, File: file, Offset: l.offset, CRC: l.crc}.String()
}
