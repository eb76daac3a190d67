package trainrun

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// stamp is where and when a record came from: enough to order any two records of a run, the same way in every order of
// arrival.
type stamp struct {
	attempt, rank int64
	time          int64
	pos           int64 // place in the stream, else the sequence number
	kind          posKind
	event         Event
	file          uint32
	path          uint32 // of a place in a file, as far as it is known
	crc, index    uint32
	hash          [16]byte // of an identity that is no uid; of a uid that of the part, as parts may write equal lines
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
		s.path = e.path()
		s.kind, s.pos, s.crc, s.index = posOffset, placeIn(e.Text, e.ID.Place), e.ID.CRC, e.ID.Index
		if e.Part != "" {
			binary.LittleEndian.PutUint64(s.hash[:], hashName(e.Part))
		}
	case e.Seq > 0:
		s.kind, s.pos = posSeq, e.Seq
	case e.Offset >= 0:
		s.kind, s.pos = posOffset, e.Offset
	default: // only time tells
	}
	return s
}

// compareLead orders by rank, then the newest attempt: what goes before any time or place.
func (s *stamp) compareLead(o *stamp) int {
	return cmp.Or(cmp.Compare(s.rank, o.rank), cmp.Compare(o.attempt, s.attempt))
}

// compareStream says whether the places of two records can be compared: 0 for those of one stream. Each rank has sequence
// numbers of its own.
func (s *stamp) compareStream(o *stamp) int {
	if c := cmp.Or(cmp.Compare(s.kind, o.kind), cmp.Compare(s.file, o.file)); c != 0 || s.kind != posSeq {
		return c
	}
	return cmp.Compare(s.rank, o.rank)
}

// compareWithin orders two records of one stream, the older first: by place, whatever their clock said. A line that was
// rewritten in its place is as new as its time.
func (s *stamp) compareWithin(o *stamp) int {
	if c := cmp.Compare(s.pos, o.pos); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(s.time, o.time), cmp.Compare(s.index, o.index), cmp.Compare(s.crc, o.crc),
		cmp.Compare(s.rank, o.rank), cmp.Compare(s.event, o.event), cmp.Compare(s.path, o.path),
		bytes.Compare(s.hash[:], o.hash[:]))
}

// compareAcross orders records of different streams, the older first: by time, then by uid.
func (s *stamp) compareAcross(o *stamp) int {
	return cmp.Or(cmp.Compare(s.time, o.time), cmp.Compare(s.kind, o.kind), cmp.Compare(s.file, o.file), cmp.Compare(s.pos, o.pos),
		cmp.Compare(s.index, o.index), cmp.Compare(s.crc, o.crc), cmp.Compare(s.rank, o.rank), cmp.Compare(s.event, o.event),
		cmp.Compare(s.path, o.path), bytes.Compare(s.hash[:], o.hash[:]))
}

func (w *writer) stamp(s *stamp) {
	w.uint(uint64(s.attempt))
	w.uint(uint64(s.rank))
	w.int(s.time)
	w.byte(byte(s.kind))
	w.int(s.pos)
	w.byte(byte(s.event))
	w.fixed32(s.file)
	w.fixed32(s.path)
	w.fixed32(s.crc)
	w.uint(uint64(s.index))
	w.text(string(s.hash[:]))
}

func (r *reader) stamp() (s stamp) {
	s.attempt, s.rank, s.time = int64(r.uint()), int64(r.uint()), r.int()
	s.kind, s.pos, s.event = posKind(r.byte()), r.int(), Event(r.byte())
	s.file, s.path = r.fixed32(), r.fixed32()
	s.crc, s.index = r.fixed32(), uint32(r.uint())
	copy(s.hash[:], r.text())
	return s
}
