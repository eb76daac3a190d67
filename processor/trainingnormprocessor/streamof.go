package trainingnormprocessor

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// streamOf gives the memory of a record's stream, nil when it belongs to none that is known. A record at the beginning of
// a file begins a stream anew: the file may have been written again.
func (n *logNormalizer) streamOf(w *worker, lr plog.LogRecord) *trainprofile.Stream {
	stream := n.streamAt(w, lr.Attributes())
	if stream != nil && isFirst(lr) {
		stream.Forget()
	}
	return stream
}

// isFirst tells whether a record stands at the beginning of its file, maybe behind a byte order mark or blank lines: that is
// for records whose uid names the first line, by whom offsets are counted as the receiver does.
func isFirst(lr plog.LogRecord) bool {
	offset := trainprofile.OffsetOf(lr)
	return offset == 0 || trainrecord.AtStart(offset) && firstLine(text(lr.Attributes(), trainrecord.AttrLogRecordUID)) != ""
}

// beginAnew forgets the streams of a record's file, when it is a hole of NUL bytes: the line behind it may be the first one of
// any of them, and does not stand at the beginning.
func (n *logNormalizer) beginAnew(w *worker, attrs pcommon.Map) {
	if text(attrs, trainrecord.AttrRecordError) != string(trainrecord.ReasonNULBytes) {
		return
	}
	for _, entry := range n.streams.ofFile(text(attrs, trainrecord.AttrLogFilePath)) {
		entry.stream.Forget()
		if n.storage != nil {
			w.touched = append(w.touched, entry)
		}
	}
}

// streamAt gives the memory of a record's stream.
func (n *logNormalizer) streamAt(w *worker, attrs pcommon.Map) *trainprofile.Stream {
	file, run := text(attrs, trainrecord.AttrLogFilePath), ""
	if file == "" {
		run = text(attrs, trainrecord.AttrRunID)
	}
	if w.entry == nil || file != w.file || run != w.run {
		w.file, w.run = file, run
		w.entry = n.stream(w, attrs)
	}
	if w.entry == nil {
		return nil
	}
	return &w.entry.stream
}

func (n *logNormalizer) stream(w *worker, attrs pcommon.Map) *streamEntry {
	uid := text(attrs, trainrecord.AttrLogRecordUID)
	id := streamID{file: w.file, run: w.run, first: firstLine(uid)}
	if w.file == "" {
		id.scope = w.scope
	}
	entry := n.streams.find(id)
	if entry == nil {
		if entry = n.newStream(w, attrs, id, uid); entry == nil {
			return nil
		}
	}
	if n.storage != nil {
		w.touched = append(w.touched, entry)
	}
	return entry
}

func (n *logNormalizer) newStream(w *worker, attrs pcommon.Map, id streamID, uid string) *streamEntry {
	key := streamKey(attrs, w.scope)
	if key == "" {
		return nil
	}
	alias, middle := "", false
	if u, ok := trainrecord.ParseUID(uid); ok {
		alias, middle = fmt.Sprintf("%s\x00%08x", u.RunID, u.File), !trainrecord.AtStart(u.Offset)
	}
	entry, forgotten := n.streams.add(id, key, alias, middle)
	if forgotten != "" {
		w.counts[count{what: "forgotten"}]++
		if n.storage != nil {
			w.keys = append(w.keys, forgotten)
		}
	}
	return entry
}

// firstLine gives the part of a uid up to its hash of the file's first line, "" when it has none.
func firstLine(uid string) string {
	end := strings.LastIndexByte(uid, '/')
	if end < 0 || end-strings.LastIndexByte(uid[:end], '/') != firstLineLen+1 {
		return ""
	}
	return uid[:end]
}

// firstLineLen is the length of that hash in a uid.
const firstLineLen = 8

// streamKey names the stream of a record: its file, else its run and scope, and the first line when that is known. It is empty
// when there is none, or when its name is out of bounds.
func streamKey(attrs pcommon.Map, scope string) string {
	key := ""
	if file := text(attrs, trainrecord.AttrLogFilePath); file != "" {
		key = "f" + file
	} else if run := text(attrs, trainrecord.AttrRunID); run != "" {
		key = "r" + run + "\x00" + scope
	}
	if key == "" || len(key) > maxStreamKey {
		return ""
	}
	if u, ok := trainrecord.ParseUID(text(attrs, trainrecord.AttrLogRecordUID)); ok {
		key += fmt.Sprintf("\x00%08x", u.File)
	}
	return key
}
