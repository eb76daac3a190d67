package trainrecord

import (
	"encoding/binary"
	"strings"
)

const (
	wordSlots  = 1 << 9
	maxWordLen = 128
	maxRoom    = 64      // keys that room is made for before they are seen
	arenaBlock = 4 << 10 // bytes of text that are allocated at a time
	arenaText  = 128     // bytes of the longest text that shares a block
)

// words remembers texts that come again line after line, such as keys and ids: each is allocated once, as long as no other
// takes its slot.
type words [wordSlots]word

// word is a text, and how many keys the object had that stood under it last.
type word struct {
	text string
	room int
}

func (w *words) get(b []byte) *word {
	slot := &w[wordHash(b)%wordSlots]
	if slot.text != string(b) {
		if len(b) > maxWordLen {
			return &word{text: string(b)}
		}
		*slot = word{text: string(b)}
	}
	return slot
}

// wordHash looks at the length and at most 16 bytes, which is enough to tell keys apart.
func wordHash(b []byte) uint64 {
	const prime = 0x9E3779B97F4A7C15
	var first, last uint64
	switch n := len(b); {
	case n >= 8:
		first, last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		first = uint64(b[0])<<16 | uint64(b[n/2])<<8 | uint64(b[n-1])
	}
	h := (first ^ uint64(len(b))) * prime
	h = (h>>32 ^ h ^ last) * prime
	return h >> 40
}

// arena allocates short texts together: a record has several, and they live as long as each other.
type arena struct{ block *strings.Builder }

func (a *arena) text(b []byte) string {
	if len(b) > arenaText {
		return string(b)
	}
	if a.block == nil || a.block.Cap()-a.block.Len() < len(b) {
		a.block = &strings.Builder{}
		a.block.Grow(arenaBlock)
	}
	from := a.block.Len()
	a.block.Write(b)
	return a.block.String()[from:]
}
