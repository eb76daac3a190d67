package trainlines

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
	reader *Reader
	data   []byte
	pieces []Piece
}

// Piece is a part of a line that is a line of its own, by its place in the line. NULs is a stretch of NUL bytes; a piece that
// is whole is not looked at again.
type Piece struct {
	From, To    int
	NULs, Whole bool
}

// split gives the pieces of a line; none when it stays what it is. Its reason may become a better one.
func (r *Reader) split(data []byte, reason trainrecord.Reason) ([]Piece, trainrecord.Reason) {
	sp := splitter{reader: r, data: data}
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
			n := LeadingNULs(data[at:])
			sp.pieces = append(sp.pieces, Piece{From: at, To: at + n, NULs: true})
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
	if len(sp.pieces) == 1 && !sp.pieces[0].NULs && sp.pieces[0].To-sp.pieces[0].From == len(data) {
		return nil, reason
	}
	return sp.pieces, reason
}

// add appends the bytes from one place of the line to another as a piece.
func (sp *splitter) add(from, to int, whole bool) {
	data := sp.data[from:to]
	if Blank(data) {
		return
	}
	if to < len(sp.data) { // the last piece is what a restart there would find
		to = from + len(bytes.TrimRight(data, " \t\r"))
	}
	sp.pieces = append(sp.pieces, Piece{From: from, To: to, Whole: whole})
}

// text takes a stretch without NUL bytes apart.
func (sp *splitter) text(from, to int) {
	data := sp.data[:to]
	for at := from; at < to; {
		if bytes.HasPrefix(data[at:], BOM) {
			at += len(BOM)
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
	rest, _ := StripPrefixes(sp.reader.prefixes, data[at:])
	n, _ := sp.reader.decoder.Extent(rest)
	if n == 0 {
		return 0, 0
	}
	end = len(data) - len(rest) + n
	behind := trimColour(data[end:])
	if len(behind) == 0 {
		return len(data), 0
	}
	next = len(data) - len(behind)
	if behind[0] == '{' || bytes.HasPrefix(behind, BOM) {
		return end, next
	}
	if rest, _ := StripPrefixes(sp.reader.prefixes, behind); len(rest) > 0 && len(rest) < len(behind) && rest[0] == '{' {
		return end, next
	}
	return end, 0
}

// search looks for the start of a line behind other text: a prefix that is a plain text, before an object; or a record of
// the vocabulary. Other objects do not count: they may as well be a part of what is before them.
func (sp *splitter) search(data []byte, from int) int {
	found := -1
	for _, p := range sp.reader.prefixes {
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
		if _, isRecord := sp.reader.decoder.Extent(data[k:]); isRecord {
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
		data = data[i+LeadingNULs(data[i:]):]
	}
	return n
}
