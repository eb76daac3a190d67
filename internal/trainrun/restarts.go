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

// scene is a record of a lane that matters here.
type scene struct {
	lane
	place
	time int64
	row  *row // of one that is a row
	n    int  // its place in the table
	path uint32
	what sceneKind
}

type sceneKind uint8

const (
	sceneRow   sceneKind = iota
	sceneAside           // a validation
	sceneStart
	sceneEnd
	sceneFailure
)

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
		story = append(story, f.appended(out, scenes[from:to]))
		from = to
	}
	anew(out, story)
	return out
}

// lowest is the lowest rank that tells of the training.
func (f *Fold) lowest() int64 {
	low := int64(never)
	for _, p := range f.parts.items {
		low = min(low, p.owner)
	}
	return low
}

// scenes lists the rows, starts and ends, lane by lane, each in the order of its places.
func (f *Fold) scenes() []scene {
	if f.straight() {
		return nil
	}
	var out []scene
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		what := sceneRow
		if !r.trainRow() {
			what = sceneAside
		}
		if r.kind != posNone && (what == sceneRow || r.epoch >= 0) {
			out = append(out, scene{
				lane{int64(r.attempt), int64(r.rank), r.kind, r.file}, place{r.pos, r.crc, r.index}, r.time, r, i, f.texts.hosts.same(r.path), what,
			})
		}
	}
	if len(out) == 0 {
		return nil
	}
	mark := func(at *stamp, part string, what sceneKind) {
		if at.kind != posNone && part == "" {
			out = append(out, scene{
				lane{at.attempt, at.rank, at.kind, at.file}, place{at.pos, at.crc, at.index}, at.time, nil, 0, f.texts.hosts.same(at.path), what,
			})
		}
	}
	for i := range f.starts.items {
		mark(&f.starts.items[i].at, f.starts.items[i].part, sceneStart)
	}
	for i := range f.ends.items {
		mark(&f.ends.items[i].at, f.ends.items[i].part, sceneEnd)
	}
	for i := range f.failMarks.items {
		mark(&f.failMarks.items[i].at, f.failMarks.items[i].part, sceneFailure)
	}
	compare := func(a, b scene) int {
		return cmp.Or(a.compare(&b.lane), comparePlaces(a.place, b.place), cmp.Compare(a.time, b.time), compareBool(a.row == nil, b.row == nil))
	}
	if !slices.IsSortedFunc(out, compare) {
		slices.SortStableFunc(out, compare)
	}
	return out
}

// straight says that all rows are of the first text of one stream, and before the first end in it: the usual run, of which
// nothing else is to be told.
func (f *Fold) straight() bool {
	end := int64(never)
	for i := range f.ends.items {
		end = min(end, f.ends.items[i].at.pos)
	}
	for i := range f.rows.rows {
		r, first := &f.rows.rows[i], &f.rows.rows[0]
		if r.file != first.file || r.kind != first.kind || r.pos > end || r.kind == posOffset && textAt(r.pos) > 0 {
			return false
		}
	}
	return true
}

// stretch is what a lane tells to the lanes of other streams.
type stretch struct {
	lane
	start, first *scene // its first row, and the run.start before it
	opens        *scene // that row, or the first validation of its epoch before it
	begin, end   int64
	timed        bool  // every row has a time
	far          reach // of its last training
	several      bool  // it has the beginning of one
}

// appended finds the trainings that follow the end of another one in their stream, or take its place in it.
func (f *Fold) appended(out map[boundKey][]boundary, scenes []scene) stretch {
	s := stretch{lane: scenes[0].lane, timed: true, far: reach{}}
	var before reach // of the training that ended
	var start *scene // after it
	var aside *scene // the first of the validations before a row that are of its epoch
	there := laneFiles{texts: &f.texts}
	for i := range scenes {
		sc := &scenes[i]
		if sc.what == sceneAside {
			if aside == nil || aside.row.epoch != sc.row.epoch || aside.row.part != sc.row.part {
				aside = sc
			}
			continue
		}
		there.add(sc)
		first := sc
		if aside != nil && sc.what == sceneRow && sc.row.event == EventEpochEnd && aside.row.epoch == sc.row.epoch && aside.row.part == sc.row.part {
			first = aside
		}
		aside = nil
		switch sc.what {
		case sceneStart:
			if start = sc; s.first == nil {
				s.start = sc
			}
			s.far = reach{}
		case sceneEnd:
			if len(s.far) > 0 {
				before, start = s.far, nil
			}
		case sceneFailure:
		default:
			switch {
			case there.replaces(sc) && sc.rank == f.lowest(): // the file of another rank begins nothing
				sc.anew(out)
				s.far, before, s.several = reach{}, nil, true
			case before.goesBack(sc.row):
				begins(out, start, first)
				s.far, before, s.several = reach{}, nil, true
			}
			if s.far.add(sc.row); s.first == nil {
				s.first, s.opens = sc, first
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
				begins(out, s.start, s.opens)
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
