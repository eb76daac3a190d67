package trainjsonlreceiver

import (
	"bytes"
	"hash/crc32"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const minHole = trainlines.MinHole

var (
	bom        = trainlines.BOM
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// line is one line of a file, a part of one that is a line of its own, or the part of it that is kept.
type line struct {
	offset int64  // of its first byte
	end    int64  // of the byte after its newline, or where the rest of the file's line begins
	data   []byte // without newline; of a line that is not decoded, its first bytes
	crc    uint32
	reason trainrecord.Reason // why it is not decoded; "" when it is
	whole  bool               // it was split already, what is bad about it stays bad
	run    string             // the run it was delivered under, once that is known
	last   string             // the run that a record named last, up to this line
	ended  int8               // 1: run.end was the last word up to this line, -1: work was, as records or rows, 0: neither was there
}

// cut appends the whole lines of chunk, which begins at offset, to dst, until there are most of them or one more; consumed is
// the number of bytes up to the newline of the last. Blank lines, and a byte order mark at the start of the file, are passed
// over.
func cut(dst []line, chunk []byte, offset int64, maxLine, most int) (lines []line, consumed int) {
	for len(dst) < most {
		n := bytes.IndexByte(chunk[consumed:], '\n')
		if n < 0 {
			return dst, consumed
		}
		l := line{offset: offset + int64(consumed), end: offset + int64(consumed) + int64(n) + 1}
		data := chunk[consumed : consumed+n]
		consumed += n + 1
		mark, nuls := trainlines.Before(data, l.offset == 0)
		data = data[mark:]
		l.offset += int64(mark)
		if nuls > 0 {
			dst = append(dst, hole(data[:nuls], l.offset))
			data = data[nuls:]
			l.offset += int64(nuls)
		}
		l.data = bytes.TrimSuffix(data, []byte{'\r'})
		if blank(l.data) {
			continue
		}
		l.crc = trainrecord.LineCRC(l.data)
		if len(l.data) > maxLine {
			l.reason = trainrecord.ReasonTooLong
			l.data = l.data[:min(len(l.data), trainrecord.MaxRaw)]
		}
		dst = append(dst, l)
	}
	return dst, consumed
}

func blank(data []byte) bool { return trainlines.Blank(data) }

// hole is a run of NUL bytes as a line of its own.
func hole(nuls []byte, offset int64) line {
	return line{offset: offset, end: offset + int64(len(nuls)), crc: trainrecord.LineCRC(nuls), reason: trainrecord.ReasonNULBytes}
}

func (l *line) isHole() bool { return l.reason == trainrecord.ReasonNULBytes }

func leadingNULs(data []byte) int { return trainlines.LeadingNULs(data) }

// nearBytes at the end of a tail tell whether it was rewritten.
const nearBytes = 64

// tail is what is known of the bytes after the last newline: they are looked at once and not kept.
type tail struct {
	scanned int64 // bytes looked at, without finding a newline
	mark    int64 // of these, the byte order mark
	nuls    int64 // and the NUL bytes before all others
	text    bool  // there is more than blanks and those
	crc     uint32
	before  uint32 // crc without the last byte
	last    byte
	near    [nearBytes]byte // the last bytes looked at, at its end: they tell whether the tail was rewritten
	holeCRC uint32          // of the NUL bytes before all others
}

// add takes further bytes, which have no newline. offset is that of the tail's first byte.
func (t *tail) add(chunk []byte, offset int64) {
	first := t.scanned == 0
	t.scanned += int64(len(chunk))
	copy(t.near[:], t.near[min(len(chunk), nearBytes):])
	copy(t.near[max(nearBytes-len(chunk), 0):], chunk[max(len(chunk)-nearBytes, 0):])
	if first && offset == 0 && bytes.HasPrefix(chunk, bom) {
		t.mark = int64(len(bom))
		chunk = chunk[len(bom):]
	}
	if t.last == 0 && !t.text { // only NUL bytes so far
		n := leadingNULs(chunk)
		t.nuls += int64(n)
		t.holeCRC = crc32.Update(t.holeCRC, castagnoli, chunk[:n])
		if n == len(chunk) {
			return
		}
		chunk = chunk[n:]
		if t.hole() == 0 {
			t.crc = t.holeCRC // they belong to the line
		}
	}
	t.text = t.text || !blank(chunk)
	if len(chunk) == 0 {
		return
	}
	t.before = crc32.Update(t.crc, castagnoli, chunk[:len(chunk)-1])
	t.last = chunk[len(chunk)-1]
	t.crc = crc32.Update(t.before, castagnoli, chunk[len(chunk)-1:])
}

// hole is the number of bytes before the line that are a line of their own.
func (t *tail) hole() int64 {
	if t.nuls < minHole {
		return 0
	}
	return t.nuls
}

// skipped is where the line begins, counted from the tail's first byte.
func (t *tail) skipped() int64 { return t.mark + t.hole() }

// length is that of the line, were a newline to follow.
func (t *tail) length() int64 {
	n := t.scanned - t.skipped()
	if t.last == '\r' {
		n--
	}
	return n
}

// sum is the crc32c of the line, were a newline to follow.
func (t *tail) sum() uint32 {
	switch {
	case t.last == '\r':
		return t.before
	case t.last == 0 && !t.text && t.hole() == 0:
		return t.holeCRC
	default:
		return t.crc
	}
}
