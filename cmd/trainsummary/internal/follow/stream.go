package follow

import (
	"bytes"
	"hash/maphash"
	"path/filepath"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// seed is of this process: sums of lines are not kept.
var seed = maphash.MakeSeed()

// Stream is one file.
type Stream struct {
	Ref    source.Ref
	Number int
	Err    error // why it cannot be read

	file   file
	fileID uint32
	begun  bool
	memory trainprofile.Stream
	last   Key      // the run that the last record named
	run    *Run     // that one
	runs   []*Run   // all that it tells of
	named  []string // the first two ids that its records gave
	bare   bool     // some lines name no run
	owner  string   // the id that lines without one belong to
	folder Key
	name   string
}

func newStream(ref source.Ref, n int) *Stream {
	folder := ref.Folder()
	name := trainlines.ValidText(trainlines.ParentFolder(filepath.Join(folder, "x")))
	return &Stream{Ref: ref, Number: n, file: file{ref: ref}, folder: Key{Folder: folder}, name: name}
}

// Whose is the run that the stream's path names: the only one that it tells of, else that of the lines that name none. It may be nil.
func (s *Stream) Whose() *Run {
	if len(s.runs) == 1 {
		return s.runs[0]
	}
	for _, r := range s.runs {
		if r.Key.ID == "" {
			return r
		}
	}
	return nil
}

// File says how far the stream was read.
func (s *Stream) File() trainview.File {
	return trainview.File{Path: s.Ref.Path, Bytes: s.file.offset + s.file.torn, Offset: s.file.offset, TornBytes: s.file.torn}
}

// reader turns lines into records and folds them.
type reader struct {
	session *Session
	lines   *trainlines.Reader
	mapper  *trainprofile.Mapper
	scratch plog.LogRecord
	record  trainrecord.Record // that is read; its body is that of scratch, or of one of more
	reducer trainrun.Reducer
	entry   trainrun.Entry // of it
	more    []plog.LogRecord

	none     pcommon.Resource
	resource pcommon.Resource // of the last record that had one
	raw      []byte           // as its line spells it
}

// resourceOf gives the resource of the record that was read last. Records of one trainer say the same.
func (r *reader) resourceOf(raw []byte) pcommon.Resource {
	if len(raw) == 0 {
		return r.none
	}
	if !bytes.Equal(raw, r.raw) {
		r.raw = append(r.raw[:0], raw...)
		r.resource = pcommon.NewResource()
		r.lines.Decoder().PutResource(r.resource.Attributes())
	}
	return r.resource
}

func (r *reader) further() plog.LogRecord {
	lr := plog.NewLogRecord()
	r.more = append(r.more, lr)
	return lr
}

// line takes a line of a stream.
func (r *reader) line(s *Stream, offset int64, data []byte, tooLong bool) {
	if trainrecord.AtStart(offset) && (tooLong || !trainlines.Blank(data)) {
		s.memory.Begin() // also when it is no row
	}
	if tooLong { // only its end is there
		r.bad(s)
		return
	}
	mark, hole := trainlines.Before(data, offset == 0)
	data, offset = data[mark:], offset+int64(mark)
	if hole > 0 {
		r.bad(s)
		data, offset = data[hole:], offset+int64(hole)
	}
	if n := len(data); n > 0 && data[n-1] == '\r' {
		data = data[:n-1]
	}
	if trainlines.Blank(data) {
		return
	}
	if !s.begun {
		s.begun, s.fileID = true, trainrecord.FileID(data[:min(len(data), trainrecord.MaxRaw)])
	}
	if len(data) > trainrecord.MaxLine {
		r.bad(s)
		return
	}
	r.text(s, offset, data, false)
}

// text takes a line, or a piece of one. The last piece of a line may fall apart as the line did.
func (r *reader) text(s *Stream, offset int64, data []byte, whole bool) {
	read := r.lines.ReadRecord(data, whole, r.scratch, &r.record)
	for n := len(read.Pieces); n > 0; n = len(read.Pieces) {
		for _, p := range read.Pieces[:n-1] {
			r.piece(s, offset, data, p)
		}
		last := read.Pieces[n-1]
		if last.NULs {
			r.bad(s)
			return
		}
		offset, data, whole = offset+int64(last.From), data[last.From:last.To], last.Whole
		read = r.lines.ReadRecord(data, whole, r.scratch, &r.record)
	}
	if read.Line.Kind == trainrecord.LineError {
		r.bad(s)
		return
	}
	run := r.runOf(s, read.Line.RunID)
	l := lineOf{stream: s, run: run, uid: trainrecord.UID{RunID: run.Name, File: s.fileID, Offset: offset, CRC: trainrecord.LineCRC(data)}}
	l.sum = maphash.Bytes(seed, data)
	if read.Line.Kind == trainrecord.LineRecord {
		l.flaws, l.flaw = read.Line.FieldsDropped+read.Line.OffList, read.Line.Flaw
		r.record.SetResource(r.resourceOf(read.Line.Resource))
		r.add(&l)
		return
	}
	r.object(&l)
}

// piece takes one of the pieces of a line.
func (r *reader) piece(s *Stream, offset int64, line []byte, p trainlines.Piece) {
	if p.NULs {
		r.bad(s)
		return
	}
	r.text(s, offset+int64(p.From), line[p.From:p.To], p.Whole)
}

// bad counts a line that is no record for the run that the last record named, else for that of the folder.
func (r *reader) bad(s *Stream) {
	k := s.last
	if k == (Key{}) {
		s.bare, k = true, s.ownKey()
	}
	run := r.session.run(k, s)
	run.Trail.Bad(s.Number)
	run.Changed = true
}

// ownKey is the run of lines that name none.
func (s *Stream) ownKey() Key {
	if s.owner != "" {
		return Key{ID: s.owner}
	}
	return s.folder
}

func (r *reader) runOf(s *Stream, id string) *Run {
	if id == "" {
		s.bare = true
		return r.session.run(s.ownKey(), s)
	}
	if s.last.ID == id && s.run != nil {
		return s.run
	}
	if len(s.named) < 2 && (len(s.named) == 0 || s.named[0] != id) {
		s.named = append(s.named, id)
	}
	s.last = Key{ID: id}
	s.run = r.session.run(s.last, s)
	return s.run
}

// lineOf is a line on its way into its run.
type lineOf struct {
	stream  *Stream
	run     *Run
	uid     trainrecord.UID
	sum     uint64
	profile string
	closes  bool
	seen    bool // the line was written before, as far as its records tell one from another
	flaws   int  // values without meaning
	flaw    string
}

// object maps a row of a framework.
func (r *reader) object(l *lineOf) {
	r.scratch.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, l.uid.Offset)
	r.more = r.more[:0]
	l.run.Changed = true
	set, err := r.session.profiles()
	if err != nil {
		l.run.Trail.Unknown(l.stream.Number)
		return
	}
	out := r.mapper.Process(set, &l.stream.memory, r.scratch, r.further)
	if out.Kind != trainprofile.Mapped {
		l.run.Trail.Unknown(l.stream.Number)
		return
	}
	l.closes = out.Closes
	if out.Profile != nil && out.Profile != out.Envelope {
		l.profile = out.Profile.Name()
	}
	if l.flaws = len(out.Errors); l.flaws > 0 {
		l.flaw = out.Errors[0].Field + ": " + out.Errors[0].Reason
	}
	if run := r.named(l); run != nil {
		l.run = run
	}
	r.addLog(l, r.scratch)
	for i, lr := range r.more {
		l.uid.Index = i + 1
		r.addLog(l, lr)
	}
}

// addLog folds a mapped record.
func (r *reader) addLog(l *lineOf, lr plog.LogRecord) {
	var ok bool
	if r.record, ok = trainrecord.FromLog(r.none, lr); ok {
		r.add(l)
	}
}

// named gives the run that the mapped record names, whoever its line was given to: whom a stream's other lines are for must not depend on that.
func (r *reader) named(l *lineOf) *Run {
	v, ok := r.scratch.Attributes().Get(trainrecord.AttrRunID)
	if !ok || v.Str() == "" {
		return nil
	}
	return r.runOf(l.stream, v.Str())
}

// add folds the record.
func (r *reader) add(l *lineOf) {
	rec, e := &r.record, &r.entry
	rec.RunID = l.run.Name
	if !r.reducer.At(e, rec, l.uid) {
		return
	}
	l.run.Changed = true
	if l.uid.Index == 0 && (e.Time != 0 || e.Seq > 0 || e.Step.Set || e.Epoch.Set || e.Progress >= 0) {
		l.seen = l.run.lines.seen(l.sum, e.Time)
	}
	if l.seen || !l.run.Fold.Add(e) {
		if l.uid.Index == 0 {
			l.run.Trail.Duplicates++
		}
		return
	}
	if l.uid.Index == 0 {
		l.run.Trail.Flawed(int64(l.flaws), l.flaw)
	}
	l.run.Trail.Add(rec, e, trainview.Origin{Stream: l.stream.Number, Profile: l.profile, EndSign: l.closes, Further: l.uid.Index > 0})
}
