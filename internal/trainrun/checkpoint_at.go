package trainrun

import "slices"

// CheckpointAt finds, as Best does for its own point, the checkpoint at a point of a surviving curve: the last one of kind
// best there, else the last one there, else nil.
func (f *Fold) CheckpointAt(of *Series, p Point) *Checkpoint {
	d := f.placed()
	id, ok := f.parts.find(of.Part)
	if !ok {
		return nil
	}
	return d.checkpointAt(of.Part, id, of, &p)
}

// follows says that of all points of a curve, the one at x was told last before something in the same stream. A checkpoint of kind
// best that names neither epoch nor step, and follows the best point, is that point's: of a later one, which is no better, there
// would be none.
func (d *deriver) follows(part int, of *Series, at *stamp, x int64) bool {
	told, ok := d.toldBefore(part, of, at)
	return ok && told == x
}

// toldBefore gives the place of the point of a curve that was told last before something in the same stream.
func (d *deriver) toldBefore(part int, of *Series, at *stamp) (x int64, ok bool) {
	f := d.f
	before, last := none, none
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if int(r.part) != part || r.kind == posNone || r.kind != at.kind || r.file != at.file || r.pos >= at.pos || r.pos < before {
			continue
		}
		told, ok := d.at(i, of.Axis)
		if !ok {
			continue
		}
		for j := r.from; j < r.from+r.n; j++ {
			if k := &d.strands[d.into[f.rows.series[j]]].key; k.name == of.Name && k.axis == of.Axis {
				before, last = r.pos, told
			}
		}
	}
	return last, before != none
}

// isThere says that the file of a checkpoint at a point is still the one that was saved then, or one of a point with an equal value: nothing
// else was saved at its path since.
func (d *deriver) isThere(part int, of *Series, p *Point, s *saved) bool {
	if d.newestAt == nil {
		d.newestAt = map[partPath]*saved{}
		for _, o := range d.saves() {
			if k := (partPath{o.part, o.Path}); d.newestAt[k] == nil {
				d.newestAt[k] = o
			}
		}
	}
	o := d.newestAt[partPath{s.part, s.Path}]
	if o == nil || o == s || (s.epoch.Set || s.step.Set) && o.epoch == s.epoch && o.step == s.step { // another rank or kind
		return true
	}
	at := o.epoch
	if of.Axis == AxisStep {
		at = o.step
	}
	if !o.epoch.Set && !o.step.Set {
		at.V, at.Set = d.toldBefore(part, of, &o.at)
	}
	return at.Set && of.Axis != AxisOrder && slices.ContainsFunc(of.Points, func(q Point) bool { return q.X == at.V && q.V == p.V })
}

// partPath is a file that checkpoints of a part are saved to.
type partPath struct{ part, path string }
