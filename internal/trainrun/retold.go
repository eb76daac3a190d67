package trainrun

import "cmp"

// The first run.start of a stream tells of the training that the stream begins with, even where it comes a moment late. Where it
// stands behind rows and what follows tells these again, the start of their training was lost, or none was written: it begins
// the attempt after that.

// opening is the first run.start of a stream.
type opening struct {
	*boundary
	latest      int                // the row before it with the latest time, -1 while there is none
	below, from int                // rows before it that tell an epoch before the one that resumed_from names, and one that is not
	parts       map[uint16]*retold // by part with a row behind it
}

// retold are rows of a part: the first one of the training behind a run.start and, of those before the start, one that is further, one that is
// there, and one that is less far. -1 = none.
type retold struct{ first, beyond, same, lower int }

func (r *retold) proven() bool { return r.beyond >= 0 || r.same >= 0 && r.lower >= 0 }

// openings are the first run.starts of one lane: that of the run, and those of parts.
type openings struct {
	run   *opening
	parts map[uint16]*opening
}

// retell finds the first run.starts that begin a second attempt, and notes which rows say so.
func (s *segmenter) retell(f *Fold) {
	lanes, rows := s.openings(f), f.rows.rows
	behindRows := false
	f.eachOpening(lanes, func(o *opening, r *row, i int) {
		if r.trainRow() && r.pos < o.offset {
			behindRows = true
			better(&o.latest, i, func(i, j int) bool {
				return cmp.Or(cmp.Compare(rows[i].time, rows[j].time), rows[i].compareAge(&rows[j])) > 0
			})
		}
	})
	if !behindRows {
		return
	}
	f.eachOpening(lanes, func(o *opening, r *row, i int) {
		if o.latest >= 0 && r.pos >= o.offset {
			o.follow(rows, i)
		}
	})
	f.eachOpening(lanes, func(o *opening, r *row, i int) {
		if o.latest >= 0 && r.pos < o.offset {
			o.compare(rows, i)
		}
	})
	for l, at := range lanes {
		if s.prove(at.run) {
			s.late[l.attempt] = earlier(s.late[l.attempt], rows[at.run.latest].time)
		}
		for _, o := range at.parts {
			s.prove(o)
		}
	}
}

// openings lists the first boundary of each stream, of each rank and part, where it is a run.start.
func (s *segmenter) openings(f *Fold) map[lane]*openings {
	out := map[lane]*openings{}
	for k, list := range s.bounds {
		first := map[lane]*boundary{}
		for i := range list {
			b := &list[i]
			l := lane{k.attempt, k.rank, b.kind, b.file}
			if o := first[l]; b.kind != posNone && (o == nil || cmp.Or(comparePlaces(b.place, o.place), cmp.Compare(b.time, o.time)) < 0) {
				first[l] = b
			}
		}
		part, ok := f.parts.find(k.part)
		for l, b := range first {
			if b.implied || !ok {
				continue
			}
			at := out[l]
			if at == nil {
				at = &openings{parts: map[uint16]*opening{}}
				out[l] = at
			}
			o := &opening{boundary: b, latest: -1, below: -1, from: -1, parts: map[uint16]*retold{}}
			if k.part == "" {
				at.run = o
			} else {
				at.parts[uint16(part)] = o
			}
		}
	}
	return out
}

// eachOpening visits the rows of each opening: those of its lane and part that tell how far the training was.
func (f *Fold) eachOpening(lanes map[lane]*openings, visit func(o *opening, r *row, i int)) {
	var last lane
	at := lanes[last]
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if l := (lane{int64(r.attempt), int64(r.rank), r.kind, r.file}); l != last {
			last, at = l, lanes[l]
		}
		if at == nil || !r.trainRow() && r.event != EventPhaseEnd {
			continue
		}
		if at.run != nil {
			visit(at.run, r, i)
		}
		if o := at.parts[r.part]; o != nil {
			visit(o, r, i)
		}
	}
}

// follow takes a row behind the start. An evaluation proves nothing: it may come again.
func (o *opening) follow(rows []row, i int) {
	if !rows[i].trainRow() {
		return
	}
	p := o.parts[rows[i].part]
	if p == nil {
		p = &retold{-1, -1, -1, -1}
		o.parts[rows[i].part] = p
	}
	better(&p.first, i, func(i, j int) bool { return rows[i].compareAge(&rows[j]) < 0 })
}

// compare takes a row before the start.
func (o *opening) compare(rows []row, i int) {
	r := &rows[i]
	newer := func(i, j int) bool { return rows[i].compareAge(&rows[j]) > 0 }
	if o.resumed.Set && r.epoch >= 0 && r.trainRow() {
		if r.epoch < o.resumed.V {
			better(&o.below, i, newer)
		} else {
			better(&o.from, i, newer)
		}
	}
	p := o.parts[r.part]
	if p == nil {
		return
	}
	first := &rows[p.first]
	switch {
	case r.beyond(first):
		better(&p.beyond, i, newer)
	case r.event == first.event && r.step == first.step && (r.epoch == first.epoch || r.epoch < 0 || first.epoch < 0):
		better(&p.same, i, newer)
	case r.trainRow() && r.step >= 0 && r.step < first.step:
		better(&p.lower, i, newer)
	default: // the training went on from there
	}
}

// beyond says that a training had come past the beginning of o when it told r. Of steps that begin anew in each epoch no
// single number says it.
func (r *row) beyond(o *row) bool {
	if r.event == EventEpochEnd && o.event == EventEpochEnd {
		return r.epoch >= o.epoch
	}
	further := false
	for _, c := range [][2]int64{{r.epoch, o.epoch}, {r.step, o.step}} {
		if c[0] < 0 || c[1] < 0 {
			continue
		}
		if c[0] < c[1] {
			return false
		}
		further = further || c[0] > c[1]
	}
	return further
}

// prove says that a start begins a second attempt.
func (s *segmenter) prove(o *opening) bool {
	if o == nil || o.latest < 0 {
		return false
	}
	o.implied = o.below >= 0 && o.from >= 0
	s.keep(o.latest, o.below, o.from)
	for _, p := range o.parts {
		o.implied = o.implied || p.proven()
		s.keep(p.first, p.beyond, p.same, p.lower)
	}
	return o.implied
}

// keep notes rows that say where attempts begin.
func (s *segmenter) keep(rows ...int) {
	for _, i := range rows {
		if i >= 0 {
			s.proofs = append(s.proofs, i)
		}
	}
}
