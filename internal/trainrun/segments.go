package trainrun

import (
	"cmp"
	"math"
	"slices"
)

// segmenter says which attempt a record belongs to. The number of an attempt is that of the record; when several run.start
// have one number (records without a number all have 1), each further one begins the next attempt: in its own stream by
// place, elsewhere by time.
type segmenter struct {
	rows   []row
	hosts  *fileHosts
	bounds map[boundKey][]boundary
	lowest map[int64]int64 // by attempt number the lowest rank that has a run.start
	split  bool            // some number holds more than one attempt
	oldest int64           // numbers below it are taken for it: the table holds no more
	list   []segment       // all attempts, the oldest first
	index  map[segment]int
	late   map[int64]int64 // by attempt number the latest time before the second attempt, where its first run.start begins that
	proofs []int           // rows that say so
}

type segment struct {
	number  int64
	ordinal int
}

type boundKey struct {
	attempt, rank int64
	part          string
}

type boundary struct {
	place
	file    uint32
	kind    posKind
	time    int64
	proven  int64 // the greatest time up to here in the stream: a clock that jumps back moves nothing
	ordinal int
	implied bool   // told by rows, not by a run.start alone: there was a training before
	resumed Int    // the epoch that a run.start names
	first   int    // of a training that took the place of another one in a file, its first row, counted from 1
	path    uint32 // of the file
}

func newSegmenter(f *Fold) *segmenter {
	s := &segmenter{rows: f.rows.rows, hosts: &f.texts.hosts, bounds: map[boundKey][]boundary{}, lowest: map[int64]int64{}, index: map[segment]int{}, late: map[int64]int64{}}
	for i := range f.starts.items {
		it := f.starts.items[i]
		k := boundKey{it.at.attempt, it.at.rank, it.part}
		s.bounds[k] = append(s.bounds[k], boundary{
			place: place{offset: it.at.pos, crc: it.at.crc, index: it.at.index}, file: it.at.file, kind: it.at.kind, time: it.at.time, resumed: it.epoch,
		})
		if low, ok := s.lowest[k.attempt]; !ok || k.rank < low {
			s.lowest[k.attempt] = k.rank
		}
	}
	for k, list := range f.restarts() {
		for _, b := range list {
			s.imply(k, b)
		}
		if low, ok := s.lowest[k.attempt]; !ok || k.rank < low {
			s.lowest[k.attempt] = k.rank
		}
	}
	s.retell(f)
	for k, list := range s.bounds {
		number(list, s.late[k.attempt])
		s.split = s.split || list[len(list)-1].ordinal > 0
	}
	if n := len(f.attempts); n >= f.lim.attempts {
		s.oldest = f.attempts[n-1].number
	}
	s.collect(f)
	return s
}

// imply adds a boundary that rows tell. It may be that of a run.start.
func (s *segmenter) imply(k boundKey, b boundary) {
	for i := range s.bounds[k] {
		if o := &s.bounds[k][i]; o.place == b.place && o.file == b.file && o.kind == b.kind && o.time == b.time {
			o.implied = true
			return
		}
	}
	s.bounds[k] = append(s.bounds[k], b)
}

// number sorts the boundaries of one rank and part and gives each the ordinal of the attempt that it begins. A run.start
// with the same time as the one before is a copy of it. Where the first run.start of another rank begins the second attempt, one
// that is later than the first attempt's rows, late, does so too.
func number(list []boundary, late int64) {
	slices.SortFunc(list, func(a, b boundary) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.kind, b.kind), comparePlaces(a.place, b.place), cmp.Compare(a.time, b.time))
	})
	for i := range list {
		list[i].proven = list[i].time
		if i > 0 && list[i-1].file == list[i].file && list[i-1].kind == list[i].kind {
			list[i].proven = max(list[i].time, list[i-1].proven)
		}
	}
	slices.SortStableFunc(list, func(a, b boundary) int { return cmp.Compare(a.proven, b.proven) })
	list[0].implied = list[0].implied || late > 0 && list[0].time > late
	for i := range list {
		b := &list[i]
		if i > 0 {
			b.ordinal = list[i-1].ordinal
		}
		if b.implied || i > 0 && (b.time == 0 || b.time != list[i-1].time) {
			b.ordinal++
		}
	}
}

// spot is where a record stands, as far as attempts matter.
type spot struct {
	attempt, rank int64
	part          string
	file          uint32
	kind          posKind
	pos, time     int64
	path          uint32
	unreplaced    *row // of a file that was written anew, a row that no newer text took the place of
}

func (s *stamp) spot(part string) spot {
	return spot{s.attempt, s.rank, part, s.file, s.kind, s.pos, s.time, s.path, nil}
}

// inStream says that places tell which of two is the later one.
func (b *boundary) inStream(at *spot) bool {
	if b.first > 0 { // texts of one file may have other first lines
		return b.path == at.path && b.kind == at.kind
	}
	return b.file == at.file && b.kind == at.kind && at.kind != posNone
}

func (s *segmenter) ordinalIn(list []boundary, at *spot) int {
	own, other, others := -1, 0, false
	for i := range list {
		b := &list[i]
		switch {
		case b.inStream(at):
			if b.offset <= at.pos || at.unreplaced != nil && b.first > 0 && !at.unreplaced.before(&s.rows[b.first-1]) {
				own = max(own, b.ordinal)
			}
		case at.time == 0 && b.first > 0: // another file, and nothing tells when it was written: it was not written anew
			own = max(own, b.ordinal)
		case at.time > 0 && b.proven <= at.time:
			other, others = max(other, b.ordinal), true
		default: // later, or not to be compared
		}
	}
	if own < 0 && others {
		return other
	}
	return max(own, 0)
}

func (s *segmenter) segment(at *spot) segment {
	seg := segment{number: max(at.attempt, s.oldest)}
	if !s.split {
		return seg
	}
	at.path = s.hosts.same(at.path)
	run, part := s.bounds[boundKey{at.attempt, at.rank, ""}], s.bounds[boundKey{at.attempt, at.rank, at.part}]
	if run == nil && part == nil {
		rank, ok := s.lowest[at.attempt]
		if !ok {
			return seg
		}
		run, part = s.bounds[boundKey{at.attempt, rank, ""}], s.bounds[boundKey{at.attempt, rank, at.part}]
	}
	seg.ordinal = s.ordinalIn(run, at)
	if at.part != "" {
		seg.ordinal = max(seg.ordinal, s.ordinalIn(part, at))
	}
	return seg
}

// collect lists all attempts.
func (s *segmenter) collect(f *Fold) {
	all := map[segment]bool{}
	for _, a := range f.attempts {
		all[segment{number: a.number}] = true
	}
	for k, list := range s.bounds {
		for i := range list {
			all[segment{max(k.attempt, s.oldest), list[i].ordinal}] = true
			if list[i].implied {
				all[segment{max(k.attempt, s.oldest), 0}] = true
			}
		}
	}
	if len(all) == 0 {
		all[segment{number: 1}] = true
	}
	for seg := range all {
		s.list = append(s.list, seg)
	}
	slices.SortFunc(s.list, func(a, b segment) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.ordinal, b.ordinal))
	})
	for i, seg := range s.list {
		s.index[seg] = i
	}
}

// attempt gives the index of the attempt of a record.
func (s *segmenter) attempt(at *spot) int { return s.index[s.segment(at)] }

// numbers gives each attempt the number it is shown with: that of its records, or the next free one.
func (s *segmenter) numbers() []int64 {
	out := make([]int64, len(s.list))
	prev := int64(0)
	for i, seg := range s.list {
		out[i] = max(seg.number, prev+1)
		prev = out[i]
	}
	return out
}

// begin is where an attempt begins in a part.
type begin struct {
	epoch, step int64
	resumed     int64 // the epoch that its start names, where the start alone says what was taken over
	silent      bool  // no row tells of it, only its start
	behind      bool  // its first step is behind all steps of older ones: it tells nothing of what was taken over
}

// tells says that its first step tells more exactly than an epoch, which the start of an attempt before it named, what was taken over: it
// is of that epoch, maybe in the middle of it, or of one before.
func (b *begin) tells(epoch int64) bool {
	return b.step != never && !b.behind && (b.epoch <= epoch || b.epoch == never)
}

// cut says from where on newer attempts took over from an attempt.
type cut struct {
	epoch     int64 // epochs from here on are superseded
	step      int64 // steps from here on are superseded
	stepEpoch int64 // steps of epochs from here on are superseded, by attempts that have no step yet or whose start names the epoch
	all       bool  // whatever it tells
}

// replaced is the cut of what a newer text took the place of.
var replaced = cut{all: true}

const never = math.MaxInt64

// cuts turns the beginnings of the attempts of one part, the oldest first, into what newer ones supersede.
func cuts(begins []begin) []cut {
	out := make([]cut, len(begins))
	c := cut{never, never, never, false}
	next := begin{epoch: never, step: never} // the one after it that has a step
	for i, b := range slices.Backward(begins) {
		out[i] = c
		c.epoch = min(c.epoch, b.epoch)
		c.step = min(c.step, b.step)
		c.stepEpoch = min(c.stepEpoch, b.resumed)
		switch {
		case b.step != never:
			next = b
		case !b.silent || !next.tells(b.epoch):
			c.stepEpoch = min(c.stepEpoch, b.epoch)
		}
	}
	return out
}

// covers says that a newer attempt supersedes the row on an axis.
func (c *cut) covers(r *row, axis Axis) bool {
	if c.all || axis == AxisEpoch {
		return c.all || r.epoch >= c.epoch
	}
	return c.coversStep(r)
}

func (c *cut) coversStep(r *row) bool {
	if c.all || r.step >= 0 && r.step >= c.step {
		return true
	}
	if r.step < 0 && r.epoch >= 0 {
		return r.epoch >= c.epoch
	}
	return r.epoch >= 0 && r.epoch >= c.stepEpoch
}
