package trainrun

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
)

// sketch counts distinct names that a bound left out: exactly up to sketchSize, from the least hashes beyond.
type sketch struct{ hashes []uint64 }

const sketchSize = 1024

func (s *sketch) add(name string) {
	h := hashName(name)
	i, found := slices.BinarySearch(s.hashes, h)
	if found || i >= sketchSize {
		return
	}
	s.hashes = slices.Insert(s.hashes, i, h)
	if len(s.hashes) > sketchSize {
		s.hashes = s.hashes[:sketchSize]
	}
}

func (s *sketch) has(name string) bool {
	_, found := slices.BinarySearch(s.hashes, hashName(name))
	return found
}

// hashName is FNV-1a with a final mix that spreads it evenly.
func hashName(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

func (s *sketch) count() int64 {
	n := len(s.hashes)
	if n < sketchSize {
		return int64(n)
	}
	return int64(float64(n-1) / (float64(s.hashes[n-1]) / math.MaxUint64))
}

func (s *sketch) digest() string {
	if len(s.hashes) == 0 {
		return ""
	}
	b := make([]byte, 0, 8*len(s.hashes))
	for _, h := range s.hashes {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *sketch) write(w *writer) {
	w.uint(uint64(len(s.hashes)))
	for _, h := range s.hashes {
		w.b = binary.LittleEndian.AppendUint64(w.b, h)
	}
}

func (s *sketch) read(r *reader) {
	n := r.count(8)
	if n > sketchSize {
		r.fail("sketch too long")
		return
	}
	for range n {
		if b := r.bytes(8); b != nil {
			s.hashes = append(s.hashes, binary.LittleEndian.Uint64(b))
		}
	}
	if !slices.IsSorted(s.hashes) {
		r.fail("sketch not sorted")
	}
}
