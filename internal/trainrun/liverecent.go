package trainrun

import "slices"

// recent remembers a bounded number of hashes, those that came last. The zero value is ready once limit is given to add.
type recent struct {
	list  []uint64
	next  int // where the next one goes, once the list is full
	limit int
}

func (r *recent) has(h uint64) bool { return slices.Contains(r.list, h) }

// add answers false when the hash is there.
func (r *recent) add(h uint64) bool {
	if r.has(h) {
		return false
	}
	if r.limit == 0 {
		r.limit = recentCoarse
	}
	if len(r.list) < r.limit {
		r.list = append(roomFor(r.list, r.limit), h)
		return true
	}
	r.list[r.next] = h
	r.next = (r.next + 1) % len(r.list)
	return true
}

// widen makes room for more; what came first goes first still.
func (r *recent) widen(limit int) {
	if limit > r.limit {
		r.list = slices.Concat(r.list[r.next:], r.list[:r.next])
		r.next, r.limit = 0, limit
	}
}

// take removes the hash and says whether it was there. Its place stays, for one that means nothing.
func (r *recent) take(h uint64) bool {
	i := slices.Index(r.list, h)
	if i < 0 {
		return false
	}
	r.list[i] = 0
	return true
}

// FNV-1a, 64 bits.
const (
	hashBasis = 14695981039346656037
	hashPrime = 1099511628211
)

func hashBytes(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return (h ^ 0xff) * hashPrime
}

func hashInt(h uint64, n int64) uint64 {
	for shift := 0; shift < 64; shift += 8 {
		h = (h ^ uint64(n>>shift)&0xff) * hashPrime
	}
	return h
}

// hash names what happened to a phase, at a time if that tells two of them apart.
func (k phaseKey) hash(kind byte, at int64) uint64 {
	h := hashBytes((hashBasis^uint64(kind))*hashPrime, k.part)
	h = hashBytes(h, k.phase)
	epoch := none
	if k.epoch.Set {
		epoch = k.epoch.V
	}
	return hashInt(hashInt(h, epoch), at)
}

// arrivals tells records that came before from new ones: by the identities that came last, and, for those with places in
// streams, by the smallest place that is still remembered.
type arrivals struct {
	streams []arrivalStream
	others  recent
}

// arrivalStream is the records of one stream: place and the lowest bits of what stood there, sorted.
type arrivalStream struct {
	file  uint32
	run   string
	floor int64 // places up to here are taken for known
	keys  []uint64
}

const (
	maxArrivalStreams = 1024
	markBits          = 16
	maxPlace          = 1<<(64-markBits-1) - 1
)

func (a *arrivals) add(s *Sighting, window int) bool {
	if s.ID.Kind != IDUID || s.ID.Place > maxPlace {
		h := hashBytes(hashBasis^uint64(s.ID.Kind), string(s.ID.Hash[:]))
		if s.ID.Kind == IDSeq {
			h = hashInt(hashInt(hashInt(hashInt(h, s.Attempt), s.Rank), s.Seq), int64(s.Event))
		}
		if s.ID.Kind == IDUID {
			h = hashInt(hashInt(hashInt(hashBytes(h, s.ID.RunID), int64(s.ID.File)), s.ID.Place), int64(s.ID.CRC)<<32|int64(s.ID.Index))
		}
		a.others.limit = window
		return a.others.add(h)
	}
	return a.stream(&s.ID).add(&s.ID, window)
}

func (a *arrivals) stream(id *ID) *arrivalStream {
	for i := range a.streams {
		if st := &a.streams[i]; st.file == id.File && st.run == id.RunID {
			return st
		}
	}
	if len(a.streams) >= maxArrivalStreams {
		a.streams = slices.Delete(a.streams, 0, 1)
	}
	a.streams = append(a.streams, arrivalStream{file: id.File, run: id.RunID, floor: -1})
	return &a.streams[len(a.streams)-1]
}

func (st *arrivalStream) add(id *ID, window int) bool {
	mark := uint64(id.CRC^id.CRC>>16^id.Index*0x9E37) & (1<<markBits - 1)
	key := uint64(id.Place)<<markBits | mark
	i, found := len(st.keys), false
	if i > 0 && key <= st.keys[i-1] {
		i, found = slices.BinarySearch(st.keys, key)
	}
	if found || id.Place < st.floor {
		return false
	}
	if len(st.keys) >= window {
		st.floor = int64(st.keys[0]>>markBits) + 1
		if i == 0 {
			return true // it was the smallest place of all
		}
		copy(st.keys, st.keys[1:i])
		st.keys[i-1] = key
		return true
	}
	st.keys = slices.Insert(roomFor(st.keys, window), i, key)
	return true
}

// roomFor makes room for one more, twice as much each time, and never more than the limit: such lists are most of an attempt.
func roomFor(list []uint64, limit int) []uint64 {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]uint64, 0, min(max(2*len(list), 16), max(limit, len(list)+1))), list...)
}
