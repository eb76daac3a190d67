package trainrun

import (
	"bytes"
	"cmp"
)

// stamp is where and when a record came from: enough to order any two records of a run, the same way in every order of
// arrival.
type stamp struct {
	attempt, rank int64
	time          int64
	pos           int64 // offset in the stream, else the sequence number
	kind          posKind
	event         Event
	file          uint32
	crc, index    uint32
	hash          [16]byte
}

// posKind says what a position is.
type posKind uint8

const (
	posNone posKind = iota
	posSeq
	posOffset
)

func stampOf(e *Entry) stamp {
	s := stamp{attempt: e.Attempt, rank: e.Rank, time: e.Time, event: e.Event, hash: e.ID.Hash, file: streamOf(e)}
	switch {
	case e.ID.Kind == IDUID:
		s.kind, s.pos, s.crc, s.index = posOffset, e.ID.Place, e.ID.CRC, e.ID.Index
	case e.Seq > 0:
		s.kind, s.pos = posSeq, e.Seq
	case e.Offset >= 0:
		s.kind, s.pos = posOffset, e.Offset
	default: // only time tells
	}
	return s
}

// identity breaks ties between records of equal rank, attempt, time and position.
func (s *stamp) compareIdentity(o *stamp) int {
	return cmp.Or(cmp.Compare(s.file, o.file), cmp.Compare(s.crc, o.crc), cmp.Compare(s.index, o.index),
		cmp.Compare(s.event, o.event), bytes.Compare(s.hash[:], o.hash[:]))
}

// compareAge orders by attempt, time, position: the older first.
func (s *stamp) compareAge(o *stamp) int {
	return cmp.Or(cmp.Compare(s.attempt, o.attempt), cmp.Compare(s.time, o.time),
		cmp.Compare(s.kind, o.kind), cmp.Compare(s.pos, o.pos), s.compareIdentity(o))
}

// compareNewest orders by rank, then the newest first.
func (s *stamp) compareNewest(o *stamp) int {
	return cmp.Or(cmp.Compare(s.rank, o.rank), o.compareAge(s))
}

// compareFirst orders by rank, then the newest attempt, then the oldest record of it.
func (s *stamp) compareFirst(o *stamp) int {
	return cmp.Or(cmp.Compare(s.rank, o.rank), cmp.Compare(o.attempt, s.attempt), s.compareAge(o))
}

// register keeps the value with the least stamp.
type register[T any] struct {
	at    stamp
	value T
	set   bool
}

func (r *register[T]) offer(at *stamp, v T, compare func(a, b *stamp) int) {
	if !r.set || compare(at, &r.at) < 0 {
		r.at, r.value, r.set = *at, v, true
	}
}

// origin keeps what the newest run.start said, and what the first other record of the newest attempt said.
type origin[T any] struct{ start, rest register[T] }

func (o *origin[T]) offer(at *stamp, v T) {
	if at.event == EventRunStart {
		o.start.offer(at, v, (*stamp).compareNewest)
	} else {
		o.rest.offer(at, v, (*stamp).compareFirst)
	}
}

// value prefers the run.start, unless other records are of a newer attempt, or of a lower rank.
func (o *origin[T]) value() T {
	s, r := &o.start, &o.rest
	if !s.set || r.set && (r.at.rank < s.at.rank || r.at.rank == s.at.rank && r.at.attempt > s.at.attempt) {
		return r.value
	}
	return s.value
}

func (w *writer) stamp(s *stamp) {
	w.uint(uint64(s.attempt))
	w.uint(uint64(s.rank))
	w.int(s.time)
	w.byte(byte(s.kind))
	w.int(s.pos)
	w.byte(byte(s.event))
	w.fixed32(s.file)
	w.fixed32(s.crc)
	w.uint(uint64(s.index))
	w.text(string(s.hash[:]))
}

func (r *reader) stamp() (s stamp) {
	s.attempt, s.rank, s.time = int64(r.uint()), int64(r.uint()), r.int()
	s.kind, s.pos, s.event = posKind(r.byte()), r.int(), Event(r.byte())
	s.file, s.crc, s.index = r.fixed32(), r.fixed32(), uint32(r.uint())
	copy(s.hash[:], r.text())
	return s
}

func writeRegister[T any](w *writer, g *register[T], value func(*writer, *T)) {
	w.bool(g.set)
	if g.set {
		w.stamp(&g.at)
		value(w, &g.value)
	}
}

func readRegister[T any](r *reader, g *register[T], value func(*reader) T) {
	if g.set = r.bool(); g.set {
		g.at = r.stamp()
		g.value = value(r)
	}
}
