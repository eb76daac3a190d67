package trainrun

import (
	"cmp"
	"slices"
)

// Most frameworks write no run.start. A training that is appended to the stream of one that ended, or that writes the stream
// anew, is told by its rows: they go back.

// trainRow says that a row is of the training itself. An evaluation may come again after the end.
func (r *row) trainRow() bool {
	return r.event == EventEpochEnd && r.epoch >= 0 || r.event == EventStepEnd && r.step >= 0
}

// reach is how far a training came in each part.
type reach map[uint16]struct{ epoch, step int64 }

func (m reach) add(r *row) {
	v, ok := m[r.part]
	if !ok {
		v.epoch, v.step = none, none
	}
	if r.event == EventEpochEnd {
		v.epoch = max(v.epoch, r.epoch)
	} else {
		v.step = max(v.step, r.step)
	}
	m[r.part] = v
}

func (m reach) join(o reach) {
	for part, v := range o {
		w, ok := m[part]
		if !ok {
			w.epoch, w.step = none, none
		}
		w.epoch, w.step = max(w.epoch, v.epoch), max(w.step, v.step)
		m[part] = w
	}
}

// goesBack says that a row tells what the training had told before.
func (m reach) goesBack(r *row) bool {
	v, ok := m[r.part]
	return ok && (r.event == EventEpochEnd && r.epoch <= v.epoch || r.event == EventStepEnd && r.step <= v.step)
}

// lane is what one rank wrote to one stream under one attempt number.
type lane struct {
	attempt, rank int64
	kind          posKind
	file          uint32
}

// compare orders so that the lanes of an attempt and a rank are neighbours.
func (l *lane) compare(o *lane) int {
	return cmp.Or(cmp.Compare(l.attempt, o.attempt), cmp.Compare(l.rank, o.rank), cmp.Compare(l.kind, o.kind), cmp.Compare(l.file, o.file))
}

// scene is a record of a lane that matters here: a row, or a run.start or a run.end.
type scene struct {
	lane
	place
	time  int64
	row   *row
	start bool
}

// restarts finds where trainings begin that no run.start tells of.
func (f *Fold) restarts() map[boundKey][]boundary {
	scenes := f.scenes()
	out := map[boundKey][]boundary{}
	var story []stretch // of the lanes of one attempt and rank
	for from := 0; from < len(scenes); {
		to := from
		for to < len(scenes) && scenes[to].compare(&scenes[from].lane) == 0 {
			to++
		}
		l := scenes[from].lane
		if len(story) > 0 && (story[0].attempt != l.attempt || story[0].rank != l.rank) {
			anew(out, story)
			story = story[:0]
		}
		story = append(story, appended(out, scenes[from:to]))
		from = to
	}
	anew(out, story)
	return out
}

// scenes lists the rows, starts and ends, lane by lane, each in the order of its places.
func (f *Fold) scenes() []scene {
	if f.straight() {
		return nil
	}
	var out []scene
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if r.kind != posNone && r.trainRow() {
			out = append(out, scene{
				lane{int64(r.attempt), int64(r.rank), r.kind, r.file}, place{r.pos, r.crc, r.index}, r.time, r, false,
			})
		}
	}
	if len(out) == 0 {
		return nil
	}
	mark := func(at *stamp, part string, start bool) {
		if at.kind != posNone && part == "" {
			out = append(out, scene{
				lane{at.attempt, at.rank, at.kind, at.file}, place{at.pos, at.crc, at.index}, at.time, nil, start,
			})
		}
	}
	for i := range f.starts.items {
		mark(&f.starts.items[i].at, f.starts.items[i].part, true)
	}
	for i := range f.ends.items {
		mark(&f.ends.items[i].at, f.ends.items[i].part, false)
	}
	compare := func(a, b scene) int {
		return cmp.Or(a.compare(&b.lane), comparePlaces(a.place, b.place), cmp.Compare(a.time, b.time), compareBool(a.row == nil, b.row == nil))
	}
	if !slices.IsSortedFunc(out, compare) {
		slices.SortStableFunc(out, compare)
	}
	return out
}

// straight says that all rows are of one stream, and before the first end in it: the usual run, of which nothing else is to be told.
func (f *Fold) straight() bool {
	end := int64(never)
	for i := range f.ends.items {
		end = min(end, f.ends.items[i].at.pos)
	}
	for i := range f.rows.rows {
		r, first := &f.rows.rows[i], &f.rows.rows[0]
		if r.file != first.file || r.kind != first.kind || r.pos > end {
			return false
		}
	}
	return true
}

// stretch is what a lane tells to the lanes of other streams.
type stretch struct {
	lane
	start, first *scene // its first row, and the run.start before it
	begin, end   int64
	timed        bool  // every row has a time
	far          reach // of its last training
	several      bool  // it has the beginning of one
}

// appended finds the trainings that follow the end of another one in their stream.
func appended(out map[boundKey][]boundary, scenes []scene) stretch {
	s := stretch{lane: scenes[0].lane, timed: true, far: reach{}}
	var before reach // of the training that ended
	var start *scene // after it
	for i := range scenes {
		sc := &scenes[i]
		switch {
		case sc.start:
			if start = sc; s.first == nil {
				s.start = sc
			}
			s.far = reach{}
		case sc.row == nil:
			if len(s.far) > 0 {
				before, start = s.far, nil
			}
		default:
			if before.goesBack(sc.row) {
				begins(out, start, sc)
				s.far, before, s.several = reach{}, nil, true
			}
			if s.far.add(sc.row); s.first == nil {
				s.first = sc
			}
			s.timed = s.timed && sc.time > 0
			s.begin, s.end = earlier(s.begin, sc.time), max(s.end, sc.time)
		}
	}
	return s
}

// anew finds, among the streams of one rank, those that begin after all earlier ones and tell again what these told.
func anew(out map[boundKey][]boundary, story []stretch) {
	if len(story) < 2 {
		return
	}
	slices.SortStableFunc(story, func(a, b stretch) int { return cmp.Compare(a.begin, b.begin) })
	far, last, timed := reach{}, int64(0), true
	for i := range story {
		s := &story[i]
		if s.first == nil {
			continue
		}
		if timed && s.timed && s.begin > last {
			back := far.goesBack(s.first.row)
			if back {
				begins(out, s.start, s.first)
			}
			if back || s.several || s.start != nil {
				far = reach{}
			}
		}
		far.join(s.far)
		last, timed = max(last, s.end), timed && s.timed
	}
}

// begins notes that a training begins with a row, or with the run.start before it.
func begins(out map[boundKey][]boundary, start, row *scene) {
	if start != nil {
		row = start
	}
	k := boundKey{row.attempt, row.rank, ""}
	out[k] = append(out[k], boundary{place: row.place, file: row.file, kind: row.kind, time: row.time, implied: true})
}

// boundary is where a training begins that begins with the row.
func (r *row) boundary() boundary {
	return boundary{place: place{r.pos, r.crc, r.index}, file: r.file, kind: r.kind, time: r.time, implied: true}
}
