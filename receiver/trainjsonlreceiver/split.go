package trainjsonlreceiver

import (
	"bytes"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	maxPieces   = 1024 // of one line of a file
	maxNULRuns  = 16   // more of them in a line are binary data
	maxSearches = 64   // for a record behind other text
)

// ansiEnd is what a coloured line may have behind its object.
var ansiEnd = []byte("\x1b[")

// splitter takes a line apart that is no object alone: objects that writers glued together, NUL bytes, a record behind a
// torn line or behind other text. Each piece is a line of its own, with its own offset. What is in doubt stays together.
type splitter struct {
	builder *builder
	line    *line
	pieces  []line
}

// split gives the pieces of a line; none when it stays what it is. Its reason may become a better one.
func (b *builder) split(l *line, reason trainrecord.Reason) ([]line, trainrecord.Reason) {
	sp := splitter{builder: b, line: l}
	data := l.data
	nuls := bytes.IndexByte(data, 0) >= 0
	if !nuls && bytes.IndexByte(data, '{') < 0 {
		return nil, reason
	}
	if nuls {
		if isUTF16(data) {
			return nil, trainrecord.ReasonUTF16
		}
		if nulRuns(data) > maxNULRuns {
			return nil, trainrecord.ReasonNULBytes
		}
	}
	for at := 0; at < len(data); {
		if data[at] == 0 {
			n := leadingNULs(data[at:])
			sp.pieces = append(sp.pieces, hole(data[at:at+n], l.offset+int64(at)))
			at += n
			continue
		}
		n := bytes.IndexByte(data[at:], 0)
		if n < 0 {
			n = len(data) - at
		}
		sp.text(at, at+n)
		at += n
	}
	if len(sp.pieces) == 1 && len(sp.pieces[0].data) == len(data) {
		return nil, reason
	}
	return sp.finish(), reason
}

// finish makes each piece end where the next begins, the last one where the line ends.
func (sp *splitter) finish() []line {
	for i := range sp.pieces {
		p := &sp.pieces[i]
		if i+1 < len(sp.pieces) {
			p.end = sp.pieces[i+1].offset
		} else {
			p.end = sp.line.end
		}
	}
	return sp.pieces
}

// add appends the bytes from one place of the line to another as a piece. One that is whole is not looked at again.
func (sp *splitter) add(from, to int, whole bool) {
	data := sp.line.data[from:to]
	if blank(data) {
		return
	}
	if to < len(sp.line.data) { // the last piece is what a restart there would find
		data = bytes.TrimRight(data, " \t\r")
	}
	sp.pieces = append(sp.pieces, line{
		offset: sp.line.offset + int64(from), data: data, crc: trainrecord.LineCRC(data), whole: whole,
	})
}

// text takes a stretch without NUL bytes apart.
func (sp *splitter) text(from, to int) {
	data := sp.line.data[:to]
	for at := from; at < to; {
		if bytes.HasPrefix(data[at:], bom) {
			at += len(bom)
			continue
		}
		if len(sp.pieces) >= maxPieces {
			sp.add(at, to, true)
			return
		}
		end, next := sp.object(data, at)
		if end > 0 && (end == to || next > 0) { // and then nothing, or the start of another line
			sp.add(at, end, false)
			at = max(end, next)
			continue
		}
		// Text, a torn object, or an object with other text behind it, which is in doubt.
		k := sp.search(data, max(at+1, end))
		if k < 0 {
			k = to
		}
		sp.add(at, k, true)
		at = k
	}
}

// object reads the object at a place, behind its prefixes: where it ends, 0 when there is none, and where the next line
// begins behind it, 0 when there is no such. What colours the text belongs to the object before it.
func (sp *splitter) object(data []byte, at int) (end, next int) {
	rest, _ := stripPrefixes(sp.builder.prefixes, data[at:])
	n, _ := sp.builder.decoder.Extent(rest)
	if n == 0 {
		return 0, 0
	}
	end = len(data) - len(rest) + n
	behind := trimColour(data[end:])
	if len(behind) == 0 {
		return len(data), 0
	}
	next = len(data) - len(behind)
	if behind[0] == '{' || bytes.HasPrefix(behind, bom) {
		return end, next
	}
	if rest, _ := stripPrefixes(sp.builder.prefixes, behind); len(rest) > 0 && len(rest) < len(behind) && rest[0] == '{' {
		return end, next
	}
	return end, 0
}

// search looks for the start of a line behind other text: a prefix that is a plain text, before an object; or a record of
// the vocabulary. Other objects do not count: they may as well be a part of what is before them.
func (sp *splitter) search(data []byte, from int) int {
	found := -1
	for _, p := range sp.builder.prefixes {
		if p.re != nil {
			continue
		}
		if i := bytes.Index(data[from:], p.literal); i >= 0 {
			k := from + i
			if (found < 0 || k < found) && bytes.HasPrefix(bytes.TrimLeft(data[k+len(p.literal):], " \t"), []byte("{")) {
				found = k
			}
		}
	}
	limit := len(data)
	if found >= 0 {
		limit = found
	}
	searches := max(maxSearches/(1+len(data)>>18), 2) // the longer the line, the dearer each
	for k := from; searches > 0; searches-- {
		i := bytes.Index(data[k:limit], []byte(`{"`))
		if i < 0 {
			break
		}
		k += i
		if _, isRecord := sp.builder.decoder.Extent(data[k:]); isRecord {
			return k
		}
		k++
	}
	return found
}

// trimColour takes blanks and the sequences that end a colour off the start of a text.
func trimColour(text []byte) []byte {
	for {
		text = bytes.TrimLeft(text, " \t\r")
		if !bytes.HasPrefix(text, ansiEnd) {
			return text
		}
		n := len(ansiEnd)
		for n < len(text) && (text[n] == ';' || text[n] >= '0' && text[n] <= '9') {
			n++
		}
		if n == len(text) || text[n] != 'm' && text[n] != 'K' {
			return text
		}
		text = text[n+1:]
	}
}

func nulRuns(data []byte) (n int) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, 0)
		if i < 0 {
			return n
		}
		n++
		data = data[i+leadingNULs(data[i:]):]
	}
	return n
}
