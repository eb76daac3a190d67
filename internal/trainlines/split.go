package trainlines

import (
	"bytes"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	maxPieces   = 1 << 14 // at once; what is behind them is split when they are done
	maxNULRuns  = 16      // more of them in a line are binary data
	maxSearches = 64      // for a record behind other text
)

// ansiEnd is what a coloured line may have behind its object.
var ansiEnd = []byte("\x1b[")

// splitter takes a line apart that is no object alone: objects that writers glued together, NUL bytes, a record behind a
// torn line or behind other text. Each piece is a line of its own, with its own offset. What is in doubt stays together.
// What is found at a place depends on the bytes from there on alone: whoever begins there, after a restart, finds the same.
type splitter struct {
	reader   *Reader
	data     []byte
	pieces   []Piece
	lastNUL  int   // where it is, -1 = nowhere
	literals []int // where each prefix that is a plain text comes next in the stretch; set for one that was searched for
}

// Piece is a part of a line that is a line of its own, by its place in the line. NULs is a stretch of NUL bytes; a piece that
// is whole is not looked at again.
type Piece struct {
	From, To    int
	NULs, Whole bool
}

// split gives the pieces of a line; none when it stays what it is. Its reason may become a better one.
func (r *Reader) split(data []byte, reason trainrecord.Reason) ([]Piece, trainrecord.Reason) {
	sp := splitter{reader: r, data: data, lastNUL: -1}
	if bytes.IndexByte(data, 0) >= 0 { // far cheaper than to look for the last one
		sp.lastNUL = bytes.LastIndexByte(data, 0)
	}
	if sp.lastNUL < 0 && bytes.IndexByte(data, '{') < 0 {
		return nil, reason
	}
	if sp.utf16(0) {
		return nil, trainrecord.ReasonUTF16
	}
	if sp.lastNUL >= 0 && nulRuns(data) > maxNULRuns {
		return nil, trainrecord.ReasonNULBytes
	}
	for at := 0; at < len(data); {
		switch {
		case len(sp.pieces) >= maxPieces, sp.utf16(at):
			sp.add(at, len(data), false)
			at = len(data)
		case data[at] == 0:
			n := LeadingNULs(data[at:])
			sp.pieces = append(sp.pieces, Piece{From: at, To: at + n, NULs: true})
			at += n
		default:
			to := len(data)
			if n := bytes.IndexByte(data[at:], 0); n >= 0 {
				to = at + n
			}
			at = sp.text(at, to)
		}
	}
	if len(sp.pieces) == 1 && !sp.pieces[0].NULs && sp.pieces[0].To-sp.pieces[0].From == len(data) {
		return nil, reason
	}
	return sp.pieces, reason
}

// utf16 says whether what is left of the line is UTF-16.
func (sp *splitter) utf16(at int) bool { return at <= sp.lastNUL && isUTF16(sp.data[at:]) }

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

// text takes a stretch without NUL bytes apart, and says up to where.
func (sp *splitter) text(from, to int) int {
	data := sp.data[:to]
	sp.literals = make([]int, len(sp.reader.prefixes))
	for at := from; at < to; {
		if bytes.HasPrefix(data[at:], BOM) && sp.begins(data[at+len(BOM):]) {
			at += len(BOM)
			continue
		}
		if len(sp.pieces) >= maxPieces || sp.utf16(at) {
			return at
		}
		end, next := sp.object(data, at)
		if end > 0 && (end == to || next > 0) { // and then nothing, or the start of another line
			sp.add(at, end, false)
			at = max(end, next)
			continue
		}
		if end == 0 && !sp.fallsApart(at) {
			sp.add(at, len(sp.data), true)
			return len(sp.data)
		}
		// Text, a torn object, or an object with other text behind it, which is in doubt.
		k := sp.search(data, at, max(at+1, end))
		if k < 0 {
			k = to
		}
		sp.add(at, k, true)
		at = k
	}
	return to
}

// begins says whether an object begins a text, maybe behind prefixes. A byte order mark before anything else is text.
func (sp *splitter) begins(text []byte) bool {
	rest, _ := StripPrefixes(sp.reader.prefixes, text)
	return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("{"))
}

// fallsApart says whether a line that began at a place, where no object is, would be taken apart.
func (sp *splitter) fallsApart(at int) bool {
	rest, _ := StripPrefixes(sp.reader.prefixes, sp.data[at:])
	return mayFallApart(sp.reader.decoder.Refusal(rest))
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

// search looks for the start of a line behind other text that begins at a place: a prefix that is a plain text, before an
// object; or a record of the vocabulary. Other objects do not count: they may as well be a part of what is before them.
func (sp *splitter) search(data []byte, at, from int) int {
	found := sp.literal(data, from)
	limit := len(data)
	if found >= 0 {
		limit = found
	}
	searches := max(maxSearches/(1+(len(data)-at)>>18), 2) // the longer the line, the dearer each
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

// literal looks for a prefix that is a plain text, before an object: the next one of each. Where that is, is searched for
// once, or a line of many texts would be read as often.
func (sp *splitter) literal(data []byte, from int) int {
	found := -1
	for n, p := range sp.reader.prefixes {
		if p.re != nil {
			continue
		}
		if sp.literals[n] < from {
			sp.literals[n] = len(data)
			if i := bytes.Index(data[from:], p.literal); i >= 0 {
				sp.literals[n] = from + i
			}
		}
		k := sp.literals[n]
		if k < len(data) && (found < 0 || k < found) && bytes.HasPrefix(bytes.TrimLeft(data[k+len(p.literal):], " \t"), []byte("{")) {
			found = k
		}
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
