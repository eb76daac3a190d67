package trainjsonlreceiver

import (
	"bytes"
	"hash/crc32"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

var (
	bom        = []byte("\xef\xbb\xbf")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// line is one line of a file, or the part of it that is kept.
type line struct {
	offset int64  // of its first byte
	end    int64  // of the byte after its newline
	data   []byte // without newline; of a line that is not decoded, its first bytes
	crc    uint32
	reason trainrecord.Reason // why it is not decoded; "" when it is
	run    string             // the run it was delivered under, once that is known
}

// cut appends the whole lines of chunk, which begins at offset, to dst; consumed is the number of bytes up to the last
// newline. Blank lines, and a byte order mark at the start of the file, are passed over.
func cut(dst []line, chunk []byte, offset int64, maxLine int) (lines []line, consumed int) {
	for {
		n := bytes.IndexByte(chunk[consumed:], '\n')
		if n < 0 {
			return dst, consumed
		}
		l := line{offset: offset + int64(consumed), end: offset + int64(consumed) + int64(n) + 1}
		data := chunk[consumed : consumed+n]
		consumed += n + 1
		if l.offset == 0 && bytes.HasPrefix(data, bom) {
			data = data[len(bom):]
			l.offset = int64(len(bom))
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
}

func blank(data []byte) bool {
	for _, c := range data {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// tail is what is known of the bytes after the last newline: they are looked at once and not kept.
type tail struct {
	scanned int64 // bytes looked at, without finding a newline
	skipped int64 // of these, the byte order mark
	text    bool  // there is more than blanks
	crc     uint32
	before  uint32 // crc without the last byte
	last    byte
	near    [beforeBytes]byte // the last bytes looked at, at its end: they tell whether the tail was rewritten
}

// add takes further bytes, which have no newline. offset is that of the tail's first byte.
func (t *tail) add(chunk []byte, offset int64) {
	t.scanned += int64(len(chunk))
	copy(t.near[:], t.near[min(len(chunk), beforeBytes):])
	copy(t.near[max(beforeBytes-len(chunk), 0):], chunk[max(len(chunk)-beforeBytes, 0):])
	if offset == 0 && t.scanned == int64(len(chunk)) && bytes.HasPrefix(chunk, bom) {
		t.skipped = int64(len(bom))
		chunk = chunk[len(bom):]
	}
	if len(chunk) == 0 {
		return
	}
	t.text = t.text || !blank(chunk)
	t.before = crc32.Update(t.crc, castagnoli, chunk[:len(chunk)-1])
	t.last = chunk[len(chunk)-1]
	t.crc = crc32.Update(t.before, castagnoli, chunk[len(chunk)-1:])
}

// length is that of the line, were a newline to follow.
func (t *tail) length() int64 {
	n := t.scanned - t.skipped
	if t.last == '\r' {
		n--
	}
	return n
}

// sum is the crc32c of the line, were a newline to follow.
func (t *tail) sum() uint32 {
	if t.last == '\r' {
		return t.before
	}
	return t.crc
}
