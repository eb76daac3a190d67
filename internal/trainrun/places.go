package trainrun

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"
)

// place is what a uid adds to its run and stream.
type place struct {
	offset     int64
	crc, index uint32
}

func comparePlaces(a, b place) int {
	if c := cmp.Compare(a.offset, b.offset); c != 0 {
		return c
	}
	if c := cmp.Compare(a.crc, b.crc); c != 0 {
		return c
	}
	return cmp.Compare(a.index, b.index)
}

// placeList is the sorted set of the places of one stream, delta-coded in blocks: about 6 bytes a line. Appending at the
// end costs next to nothing, which is how a stream comes; anything else decodes one block.
type placeList struct {
	blocks []placeBlock
	n      int
}

type placeBlock struct {
	first, last place
	n           int
	data        []byte // the places after the first, each relative to the one before
}

const (
	blockFill  = 512 // an appended block is closed here
	blockLimit = 1024
)

func appendPlace(data []byte, prev, p place) []byte {
	head := uint64(p.offset-prev.offset) << 1
	if p.index != 0 {
		head |= 1
	}
	data = binary.AppendUvarint(data, head)
	data = binary.LittleEndian.AppendUint32(data, p.crc)
	if p.index != 0 {
		data = binary.AppendUvarint(data, uint64(p.index))
	}
	return data
}

// nextPlace answers false when data holds no valid place.
func nextPlace(data []byte, prev place) (p place, size int, ok bool) {
	head, n := binary.Uvarint(data)
	if n <= 0 || len(data) < n+4 {
		return place{}, 0, false
	}
	p.offset = prev.offset + int64(head>>1)
	p.crc = binary.LittleEndian.Uint32(data[n:])
	n += 4
	if head&1 != 0 {
		index, k := binary.Uvarint(data[n:])
		if k <= 0 || index == 0 || index > 1<<32-1 {
			return place{}, 0, false
		}
		p.index = uint32(index)
		n += k
	}
	return p, n, p.offset >= prev.offset
}

// add answers false when the place was there.
func (l *placeList) add(p place) bool {
	if k := len(l.blocks); k == 0 || comparePlaces(p, l.blocks[k-1].last) > 0 {
		l.push(p)
		return true
	}
	i := l.find(p)
	b := &l.blocks[i]
	if i+1 < len(l.blocks) && comparePlaces(p, b.last) > 0 && b.n < blockFill {
		b.data = appendPlace(b.data, b.last, p)
		b.last = p
		b.n++
		l.n++
		return true
	}
	if b.contains(p) {
		return false
	}
	places := b.decode(make([]place, 0, b.n+1))
	at, _ := slices.BinarySearchFunc(places, p, comparePlaces)
	places = slices.Insert(places, at, p)
	l.n++
	if len(places) <= blockLimit {
		*b = encodePlaces(places)
		return true
	}
	half := len(places) / 2
	*b = encodePlaces(places[:half])
	l.blocks = slices.Insert(l.blocks, i+1, encodePlaces(places[half:]))
	return true
}

// push adds a place greater than all.
func (l *placeList) push(p place) {
	l.n++
	k := len(l.blocks)
	if k == 0 || l.blocks[k-1].n >= blockFill {
		l.blocks = append(l.blocks, placeBlock{first: p, last: p, n: 1})
		return
	}
	b := &l.blocks[k-1]
	b.data = appendPlace(b.data, b.last, p)
	b.last = p
	b.n++
}

// find gives the block that p is in, or belongs to.
func (l *placeList) find(p place) int {
	i := sort.Search(len(l.blocks), func(i int) bool { return comparePlaces(l.blocks[i].first, p) > 0 })
	return max(i-1, 0)
}

// at visits the places at an offset with a checksum.
func (l *placeList) at(offset int64, crc uint32, visit func(index uint32)) {
	first := place{offset, crc, 0}
	if len(l.blocks) == 0 {
		return
	}
	for i := l.find(first); i < len(l.blocks) && l.blocks[i].reach(first, visit); i++ {
	}
}

// reach visits those of a block that have the offset and the checksum of a place; it answers false when the next block has none.
func (b *placeBlock) reach(first place, visit func(index uint32)) bool {
	p := b.first
	for data := b.data; ; {
		switch c := cmp.Or(cmp.Compare(p.offset, first.offset), cmp.Compare(p.crc, first.crc)); {
		case c > 0:
			return false
		case c == 0:
			visit(p.index)
		}
		next, n, ok := nextPlace(data, p)
		if !ok {
			return true
		}
		p, data = next, data[n:]
	}
}

// contains reads the block up to p.
func (b *placeBlock) contains(p place) bool {
	prev := b.first
	for data := b.data; prev.offset < p.offset || prev.offset == p.offset && comparePlaces(prev, p) < 0; {
		next, n, ok := nextPlace(data, prev)
		if !ok {
			return false
		}
		prev, data = next, data[n:]
	}
	return prev == p
}

func (b *placeBlock) decode(dst []place) []place {
	dst = append(dst, b.first)
	prev := b.first
	for data := b.data; len(data) > 0; {
		p, n, ok := nextPlace(data, prev)
		if !ok {
			break
		}
		dst = append(dst, p)
		prev, data = p, data[n:]
	}
	return dst
}

func encodePlaces(places []place) placeBlock {
	b := placeBlock{first: places[0], last: places[len(places)-1], n: len(places)}
	b.data = make([]byte, 0, 6*len(places))
	for i, p := range places[1:] {
		b.data = appendPlace(b.data, places[i], p)
	}
	return b
}

func (l *placeList) size() int64 {
	n := int64(cap(l.blocks)) * int64(unsafe.Sizeof(placeBlock{}))
	for i := range l.blocks {
		n += int64(cap(l.blocks[i].data))
	}
	return n
}

// write gives the same bytes for the same places, whatever their blocks.
func (l *placeList) write(w *writer) {
	w.uint(uint64(l.n))
	prev := place{}
	for i := range l.blocks {
		b := &l.blocks[i]
		w.b = appendPlace(w.b, prev, b.first)
		w.b = append(w.b, b.data...)
		prev = b.last
	}
}

func (l *placeList) read(r *reader) {
	n := r.count(5)
	prev := place{}
	for i := range n {
		p, size, ok := nextPlace(r.b[r.pos:], prev)
		if !ok || i > 0 && comparePlaces(p, prev) <= 0 {
			r.fail("want a greater place")
			return
		}
		r.pos += size
		l.push(p)
		prev = p
	}
}
