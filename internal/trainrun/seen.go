package trainrun

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
)

// seen holds the identities of all records of a run.
type seen struct {
	streams []*stream // by run and file
	recent  *stream
	seqs    map[seqKey]*ranges
	hashes  hashSet
}

// stream is the part of a uid that all lines of one file share. Ranks and parts that the path names write equal lines, which are records of each of
// them: whichever comes first, none is missing.
type stream struct {
	run    string // of the uid, "" when it is that of the fold
	file   uint32
	side   uint32 // of rank and part, 0 = rank 0 of the run itself
	places placeList
}

func writerOf(e *Entry) uint32 {
	if e.Rank == 0 && e.Part == "" {
		return 0
	}
	return max(1, uint32(hashName(rankName(e.Rank)+"\x00"+e.Part)))
}

type seqKey struct {
	attempt, rank int64
	event         Event  // EventNone in the set that counts gaps
	host          string // two hosts may count alike; "" in the set that counts gaps
}

func compareSeqKeys(a, b seqKey) int {
	return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.rank, b.rank), cmp.Compare(a.event, b.event), compareText(a.host, b.host))
}

func (s *seen) stream(run string, file, side uint32) *stream {
	if r := s.recent; r != nil && r.file == file && r.side == side && r.run == run {
		return r
	}
	i, ok := slices.BinarySearchFunc(s.streams, stream{run: run, file: file, side: side}, func(a *stream, b stream) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.run, b.run), cmp.Compare(a.side, b.side))
	})
	if !ok {
		s.streams = slices.Insert(s.streams, i, &stream{run: run, file: file, side: side})
	}
	s.recent = s.streams[i]
	return s.recent
}

// beginning is the first place of a file of which a record was seen.
type beginning struct {
	run    string
	file   uint32
	offset int64
}

func (s *seen) begins() (out []beginning) {
	for _, st := range s.streams {
		if st.places.n == 0 {
			continue
		}
		b := beginning{st.run, st.file, st.places.blocks[0].first.offset}
		if n := len(out); n > 0 && out[n-1].file == b.file && out[n-1].run == b.run {
			out[n-1].offset = min(out[n-1].offset, b.offset)
		} else {
			out = append(out, b)
		}
	}
	return out
}

// add answers false for a record that was seen.
func (s *seen) add(e *Entry) bool {
	switch e.ID.Kind {
	case IDUID:
		return s.stream(e.ID.RunID, e.ID.File, writerOf(e)).places.add(place{e.ID.Place, e.ID.CRC, e.ID.Index})
	case IDSeq:
		if e.Seq > 0 {
			k := seqKey{e.Attempt, e.Rank, e.Event, e.Where.Host}
			if r := s.sequence(k); r != nil {
				return r.add(e.Seq)
			}
			return s.hashes.add(k.hash(e.Seq))
		}
	default: // a hash
	}
	return s.hashes.add(e.ID.Hash)
}

// maxSequences bounds the sequences: those of the newest attempts and lowest ranks stay.
const maxSequences = 8192

// worse says which of two sequences goes first.
func (k seqKey) worse(o seqKey) bool {
	return cmp.Or(cmp.Compare(k.attempt, o.attempt), cmp.Compare(o.rank, k.rank), cmp.Compare(o.event, k.event), compareText(o.host, k.host)) < 0
}

// hash stands for a number of a sequence that is not kept.
func (k seqKey) hash(n int64) (h [16]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d %s", k.attempt, k.rank, k.event, n, k.host))
	copy(h[:], sum[:])
	return h
}

// sequence gives the sequence of a key, nil when better ones take all the room.
func (s *seen) sequence(k seqKey) *ranges {
	r := s.seqs[k]
	if r != nil {
		return r
	}
	if s.seqs == nil {
		s.seqs = map[seqKey]*ranges{}
	}
	r = &ranges{}
	s.seqs[k] = r
	if len(s.seqs) <= maxSequences {
		return r
	}
	worst := k
	for o := range s.seqs {
		if o.worse(worst) {
			worst = o
		}
	}
	if worst.event != EventNone {
		s.hashes.forgotten += s.seqs[worst].count
	}
	delete(s.seqs, worst)
	return s.seqs[k]
}

func (s *seen) seqKeys() []seqKey {
	keys := make([]seqKey, 0, len(s.seqs))
	for k := range s.seqs {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareSeqKeys)
	return keys
}

func (s *seen) size() int64 {
	n := s.hashes.size()
	for _, st := range s.streams {
		n += 96 + st.places.size()
	}
	for _, r := range s.seqs {
		n += 64 + r.size()
	}
	return n
}

func (s *seen) write(w *writer) {
	w.uint(uint64(len(s.streams)))
	for _, st := range s.streams {
		w.text(st.run)
		w.fixed32(st.file)
		w.fixed32(st.side)
		st.places.write(w)
	}
	w.uint(uint64(len(s.seqs)))
	for _, k := range s.seqKeys() {
		w.uint(uint64(k.attempt))
		w.uint(uint64(k.rank))
		w.byte(byte(k.event))
		w.text(k.host)
		s.seqs[k].write(w)
	}
	s.hashes.write(w)
}

func (s *seen) read(r *reader) {
	for range r.count(6) {
		st := s.stream(r.text(), r.fixed32(), r.fixed32())
		if st.places.n > 0 {
			r.fail("a stream twice")
			return
		}
		st.places.read(r)
	}
	for range r.count(5) {
		k := seqKey{int64(r.uint()), int64(r.uint()), Event(r.byte()), r.text()}
		if s.seqs[k] != nil {
			r.fail("a sequence twice")
			return
		}
		seq := s.sequence(k)
		if seq == nil || len(s.seqs) > maxSequences {
			r.fail("too many sequences")
		}
		if r.err != nil {
			return
		}
		seq.read(r)
	}
	s.hashes.read(r)
}
