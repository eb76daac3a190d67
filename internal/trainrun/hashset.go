package trainrun

import (
	"bytes"
	"slices"
)

// hashSet is a bounded set of hashes. While fewer than hashLimit are known it is exact; then the older half is forgotten, so
// that what was delivered lately is still known.
type hashSet struct {
	young, old map[[16]byte]struct{}
	forgotten  int64
}

// hashLimit bounds each half.
const hashLimit = 1 << 17

func (s *hashSet) add(h [16]byte) bool {
	if _, ok := s.young[h]; ok {
		return false
	}
	if _, ok := s.old[h]; ok {
		return false
	}
	if s.young == nil {
		s.young = map[[16]byte]struct{}{}
	}
	if len(s.young) >= hashLimit {
		s.forgotten += int64(len(s.old))
		s.young, s.old = map[[16]byte]struct{}{}, s.young
	}
	s.young[h] = struct{}{}
	return true
}

func (s *hashSet) size() int64 { return int64(len(s.young)+len(s.old)) * 40 }

func (s *hashSet) write(w *writer) {
	for _, half := range []map[[16]byte]struct{}{s.young, s.old} {
		list := make([][16]byte, 0, len(half))
		for h := range half {
			list = append(list, h)
		}
		slices.SortFunc(list, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
		w.uint(uint64(len(list)))
		for _, h := range list {
			w.b = append(w.b, h[:]...)
		}
	}
	w.int(s.forgotten)
}

func (s *hashSet) read(r *reader) {
	for _, half := range []*map[[16]byte]struct{}{&s.young, &s.old} {
		n := r.count(16)
		if n > hashLimit {
			r.fail("too many hashes")
			return
		}
		if n == 0 {
			continue
		}
		*half = make(map[[16]byte]struct{}, n)
		for range n {
			(*half)[r.hash()] = struct{}{}
		}
	}
	s.forgotten = r.int()
}
