package trainrun

import (
	"cmp"
	"slices"
	"unsafe"
)

// A file that is written anew is a further text of its stream: its lines are newer than all of the text before, wherever they
// stand. So a place in a stream is the number of the text, and the offset in it.
const (
	offsetBits = 41 // 2 TiB; what lies beyond is at the last place
	maxOffset  = 1<<offsetBits - 1
	maxText    = 1<<(63-offsetBits) - 1

	indexBits = 10 // of a record among those of its line, beside the number of a text
	maxIndex  = 1<<indexBits - 1
)

func placeIn(text, offset int64) int64 { return text<<offsetBits | min(offset, maxOffset) }

// textAt gives the text that a place is in.
func textAt(pos int64) int64 { return pos >> offsetBits }

// offsetAt gives the offset of a place in its text.
func offsetAt(pos int64) int64 { return pos & maxOffset }

// head is where a text begins to tell something new. It took the place of the texts from one on, behind that.
type head struct{ text, from, offset int64 }

func compareHead(h head, text int64) int { return cmp.Compare(h.text, text) }

// textsOf are the texts of a file but the first. It is named by its path: others of its run may have the same first line, and a text may have
// another one than that before.
type textsOf struct {
	path  uint32
	heads []head    // by text
	lows  []head    // those that no newer one is before that took the place of the same texts
	odd   bool      // some text took the place of older ones than that before
	own   placeList // what each text told anew; the index of a place has the text in it
}

// textTable holds files that were written anew.
type textTable struct {
	items []textsOf
	hosts fileHosts
}

func (t *textTable) search(path uint32) (int, bool) {
	return slices.BinarySearchFunc(t.items, path, func(s textsOf, path uint32) int { return cmp.Compare(s.path, path) })
}

// find gives an empty one for a file that was never written anew.
func (t *textTable) find(path uint32) *textsOf {
	if i, ok := t.search(path); ok {
		return &t.items[i]
	}
	return &textsOf{}
}

func (t *textTable) of(path uint32) *textsOf {
	i, ok := t.search(path)
	if !ok {
		t.items = slices.Insert(t.items, i, textsOf{path: path})
	}
	return &t.items[i]
}

// fileTexts are the texts of a file: by the records that name its host, and by those that name none.
type fileTexts [2]*textsOf

// all gives the texts of the file of a record.
func (t *textTable) all(path uint32) fileTexts {
	bare := t.hosts.same(path)
	out := fileTexts{t.find(bare), &textsOf{}}
	if host := t.hosts.only[bare]; host != 0 {
		out[1] = t.find(host)
	}
	return out
}

// admits says whether a record is one that its text tells: one that was not seen before, or the line of an older text that the one before had
// not any more at its place, be it by chance or because an older text is back.
func (t *textTable) admits(e *Entry, seen bool) bool {
	path := e.path()
	if !seen || e.Text == 0 || path == 0 {
		return !seen
	}
	s, l := t.all(path), e.line()
	latest := max(s[0].latest(l, e.Text), s[1].latest(l, e.Text))
	return latest < e.Text && s.differ(latest, e.Text, l.offset)
}

// take notes a record of a text that was admitted.
func (t *textTable) take(e *Entry, own bool) {
	s := t.of(e.path())
	s.add(e.head())
	if l := e.line(); own {
		l.index |= uint32(e.Text) << indexBits
		s.own.add(l)
	}
}

// line is the place of a record in its text. Ranks and parts whose files have one path each have their equal lines, as in what was seen.
func (e *Entry) line() place {
	return place{min(e.ID.Place, maxOffset), e.ID.CRC ^ streamOf(e) ^ writerOf(e), min(e.ID.Index, maxIndex)}
}

func (e *Entry) head() head {
	return head{e.Text, e.Text - e.Replaces, min(e.ID.Place, maxOffset)}
}

// latest gives the newest text up to one that told a line anew, 0 for the first.
func (s *textsOf) latest(l place, upTo int64) (text int64) {
	s.own.at(l.offset, l.crc, func(index uint32) {
		if t := int64(index >> indexBits); index&maxIndex == l.index && t <= upTo {
			text = max(text, t)
		}
	})
	return text
}

// add takes the place of a record of a text.
func (s *textsOf) add(h head) {
	at, found := slices.BinarySearchFunc(s.heads, h.text, compareHead)
	if !found {
		s.heads = slices.Insert(s.heads, at, h)
	}
	was := s.heads[at]
	h.from, h.offset = min(h.from, was.from), min(h.offset, was.offset)
	s.heads[at] = h
	if at > 0 && s.heads[at-1].from > h.from || at+1 < len(s.heads) && s.heads[at+1].from < h.from || h.from < was.from {
		s.odd = true // no reader counts so
	}
	if !s.odd {
		s.lower(h)
		return
	}
	s.lows = nil
	for _, h := range s.heads {
		s.lower(h)
	}
}

func (s *textsOf) lower(h head) {
	at, found := slices.BinarySearchFunc(s.lows, h.text, compareHead)
	if at < len(s.lows) && s.lows[at].from == h.from && s.lows[at].offset <= h.offset {
		return
	}
	from, to := at, at
	if found {
		to++
	}
	for from > 0 && s.lows[from-1].from == h.from && s.lows[from-1].offset >= h.offset {
		from--
	}
	s.lows = slices.Replace(s.lows, from, to, h)
}

// begin is that of fileTexts, by the records of one of its two alone.
func (s *textsOf) begin(text, offset int64) (place, from int64) {
	if at, found := slices.BinarySearchFunc(s.heads, text, compareHead); found {
		return s.heads[at].offset, s.heads[at].from
	}
	return offset, text
}

// differ says that a text, or one between it and an older one whose place they took, differs from the older one at a place or before.
func (s *textsOf) differ(older, text, offset int64) bool {
	at, _ := slices.BinarySearchFunc(s.lows, older+1, compareHead)
	if at == len(s.lows) || s.lows[at].from > older || s.lows[at].offset > offset {
		return false
	}
	if s.lows[at].text <= text {
		return true
	}
	at, _ = slices.BinarySearchFunc(s.heads, older+1, compareHead)
	for ; at < len(s.heads) && s.heads[at].text <= text; at++ {
		if s.heads[at].from <= older && s.heads[at].offset <= offset {
			return true
		}
	}
	return false
}

// begin gives the place at which a text begins, as far as it is known, else one in it; and the first text whose place it took.
func (s fileTexts) begin(text, offset int64) (place, from int64) {
	place, from = s[0].begin(text, offset)
	p, f := s[1].begin(text, offset)
	return min(place, p), min(from, f)
}

func (s fileTexts) differ(older, text, offset int64) bool {
	return s[0].differ(older, text, offset) || s[1].differ(older, text, offset)
}

// replaced says that a newer text took the place of what a file told at a place.
func (t *textTable) replaced(path uint32, pos int64) bool {
	return len(t.items) > 0 && path != 0 && t.all(path).differ(textAt(pos), maxText, offsetAt(pos))
}

func (t *textTable) absorb(o *textTable) {
	t.hosts.absorb(&o.hosts)
	for i := range o.items {
		for _, h := range o.items[i].heads {
			t.of(o.items[i].path).add(h)
		}
	}
}

func (t *textTable) size() int64 {
	n := int64(cap(t.items))*int64(unsafe.Sizeof(textsOf{})) + t.hosts.size()
	for i := range t.items {
		s := &t.items[i]
		n += int64(cap(s.heads)+cap(s.lows))*int64(unsafe.Sizeof(head{})) + s.own.size()
	}
	return n
}

func (t *textTable) write(w *writer) {
	t.hosts.write(w)
	w.uint(uint64(len(t.items)))
	for i := range t.items {
		s := &t.items[i]
		w.fixed32(s.path)
		w.uint(uint64(len(s.heads)))
		prev := head{}
		for _, h := range s.heads {
			w.uint(uint64(h.text - prev.text))
			w.uint(uint64(h.text - h.from))
			w.int(h.offset - prev.offset)
			prev = h
		}
		s.own.write(w)
	}
}

func (t *textTable) read(r *reader) {
	t.hosts.read(r)
	for i := range r.count(7) {
		s := textsOf{path: r.fixed32()}
		prev := head{}
		for range r.count(3) {
			h := head{text: prev.text + int64(r.uint())}
			h.from, h.offset = h.text-int64(r.uint()), prev.offset+r.int()
			if h.text <= prev.text || h.text > maxText || h.from < 0 || h.from > h.text || h.offset < 0 || h.offset > maxOffset {
				r.fail("want a newer text")
				return
			}
			s.add(h)
			prev = h
		}
		s.own.read(r)
		if i > 0 && t.items[i-1].path >= s.path || len(s.heads) == 0 {
			r.fail("want another file")
			return
		}
		t.items = append(t.items, s)
	}
}
