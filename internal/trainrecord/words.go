package trainrecord

import (
	"encoding/binary"
	"strings"
)

const (
	wordBits   = 9 // of the number of a slot
	maxWordLen = 128
	maxRoom    = 64      // keys that room is made for before they are seen
	arenaBlock = 4 << 10 // bytes of text that are allocated at a time
	arenaText  = 128     // bytes of the longest text that shares a block
)

// words remembers texts that come again line after line, such as keys and ids: each is allocated once, as long as no other
// two take its slots.
type words [1 << wordBits]word

// word is a text, and how many keys the object had that stood under it last.
type word struct {
	text string
	room int
}

func (w *words) get(b []byte) *word {
	if len(b) > maxWordLen {
		return &word{text: string(b)}
	}
	n := wordHash(b)
	slot, other := &w[n], &w[n^1]
	switch {
	case slot.text == string(b):
		return slot
	case other.text == string(b):
		return other
	}
	*other, *slot = *slot, word{text: string(b)}
	return slot
}

// wordHash gives the slot of a word: the uppermost bits, in which every byte has a part. In lower ones, names that differ in their last digit
// alone would be alike.
func wordHash(b []byte) uint64 {
	const prime = 0x9E3779B97F4A7C15
	h, n := uint64(len(b))*prime, len(b)
	for i := 0; i < n-8; i += 8 {
		h = (h ^ h>>32 ^ binary.LittleEndian.Uint64(b[i:])) * prime
	}
	var last uint64
	switch {
	case n >= 8:
		last = binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		last = uint64(binary.LittleEndian.Uint32(b))<<32 | uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		last = uint64(b[0])<<16 | uint64(b[n/2])<<8 | uint64(b[n-1])
	}
	h = (h ^ h>>32 ^ last) * prime
	h = (h ^ h>>32) * prime
	return h >> (64 - wordBits)
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
