package trainrun

// laneFiles has, for each file of a lane, what stands in it of the records that say where trainings begin.
type laneFiles struct {
	texts *textTable
	files map[uint32]*laneFile // by path
}

// laneFile is one of them.
type laneFile struct {
	scenes []*scene // by text, then by offset
	text   int64    // the newest one
	gone   reach    // how far the training had come in what was replaced, until a row of the new text is there
	over   bool     // and its end was told in it
	anew   bool     // a text began, and no row of it is there
}

// of gives what stands in the file of a record, nil for one that has no place in a file.
func (s *laneFiles) of(sc *scene) *laneFile {
	if sc.path == 0 {
		return nil
	}
	f := s.files[sc.path]
	if f == nil {
		if s.files == nil {
			s.files = map[uint32]*laneFile{}
		}
		f = &laneFile{}
		s.files[sc.path] = f
	}
	return f
}

// add takes the records of a lane in the order of their places.
func (s *laneFiles) add(sc *scene) {
	f := s.of(sc)
	if f == nil {
		return
	}
	if text := textAt(sc.offset); text > f.text {
		f.text, f.anew = text, true
		f.replace(s.texts.all(sc.path).begin(text, offsetAt(sc.offset)))
	}
	if sc.what == sceneStart { // it says so itself
		f.forget()
	}
	f.scenes = append(f.scenes, sc)
}

// replace takes out what a text took the place of.
func (f *laneFile) replace(offset, from int64) {
	kept := f.scenes[:0]
	for _, sc := range f.scenes {
		switch {
		case textAt(sc.offset) < from || offsetAt(sc.offset) < offset:
			kept = append(kept, sc)
		case sc.what == sceneRow:
			if f.gone == nil {
				f.gone = reach{}
			}
			f.gone.add(sc.row)
		case sc.what != sceneStart:
			f.over = true
		}
	}
	f.scenes = kept
}

// replaces says, of a row that was added, that it is the first of a training that took the place of another one: the other had
// come further, or was over. A line that is written again with more in it is neither.
func (s *laneFiles) replaces(sc *scene) bool {
	f := s.of(sc)
	if f == nil {
		return false
	}
	yes := f.anew && (f.over || f.gone.beyond(sc.row))
	f.forget()
	return yes
}

func (f *laneFile) forget() { f.gone, f.over, f.anew = nil, false, false }

// anew notes that a training begins with the text that a row is in.
func (sc *scene) anew(out map[boundKey][]boundary) {
	k := boundKey{sc.attempt, sc.rank, ""}
	out[k] = append(out[k], boundary{
		place: place{offset: placeIn(textAt(sc.offset), 0)}, file: sc.file, kind: sc.kind, time: sc.time, implied: true, first: sc.n + 1, path: sc.path,
	})
}

// before says that a row tells of an earlier time of a training than another one, as far as they can be compared.
func (r *row) before(o *row) bool {
	if r.epoch >= 0 && o.epoch >= 0 {
		return r.epoch < o.epoch
	}
	return r.step < 0 || o.step < 0 || r.step < o.step
}
