package trainrun

import (
	"cmp"
	"slices"
)

// A validation has an epoch and a step. While no epoch has two, its values are a curve over the epochs, as the ends of epochs
// are. Where one has, they are a curve over the steps: one point an epoch would be the last validation of it, and the best
// one would be lost. The rows of such values are kept by step, and here it is decided which curve they are.

// join makes the strands: the curves, of which something is stored under one axis or several.
func (d *deriver) join() {
	d.joinWith(nil)
	if moved := d.several(); len(moved) > 0 {
		d.joinWith(moved)
	}
}

// joinWith joins what stands by step in its epoch with the epochs of that name; with the steps of that name if moved.
func (d *deriver) joinWith(moved map[seriesKey]bool) {
	items := d.f.series.items
	d.moved = moved
	d.into, d.strands = make([]uint32, len(items)), make([]series, 0, len(items))
	ids := make(map[seriesKey]uint32, len(items))
	for id := range items {
		k := items[id].key
		if k.axis == AxisStep && d.counted[id] {
			k.axis = AxisOrder
		}
		if k.axis.coarse() {
			if k.axis = AxisEpoch; moved[k] {
				k.axis = AxisStep
			}
		}
		n, ok := ids[k]
		if !ok {
			n = uint32(len(d.strands))
			ids[k] = n
			d.strands = append(d.strands, items[id])
			d.strands[n].key = k
		} else {
			d.strands[n].absorb(&items[id])
		}
		d.into[id] = n
	}
}

// several finds the series that one attempt told at two steps of one epoch, as far as newer attempts left both.
func (d *deriver) several() map[seriesKey]bool {
	type spot struct {
		strand  uint32
		attempt int32
		epoch   int64
	}
	f := d.f
	moved := map[seriesKey]bool{}
	steps := map[spot]int64{}
	told := map[course][]epochSteps{}
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if r.event != EventPhaseEnd || !r.axis.coarse() || r.epoch < 0 || r.step < 0 {
			continue
		}
		c := d.cutOf(i)
		for j := r.from; j < r.from+r.n; j++ {
			n, ok := d.strandOf(f.rows.series[j])
			if !ok {
				continue
			}
			at := epochSteps{r.epoch, r.step}
			told[course{n, d.attempt[i]}] = append(told[course{n, d.attempt[i]}], at)
			if !c.covers(r, AxisEpoch) {
				told[course{n, left}] = append(told[course{n, left}], at)
			}
			if c.coversStep(r) {
				continue
			}
			k := spot{n, d.attempt[i], r.epoch}
			if step, known := steps[k]; !known {
				steps[k] = r.step
			} else if step != r.step {
				moved[d.strands[n].key] = true
			}
		}
	}
	d.anewIn(told, moved)
	return moved
}

// course is what one attempt told of a strand, epochSteps the place of a value of it.
type (
	course struct {
		strand  uint32
		attempt int32
	}
	epochSteps struct{ epoch, step int64 }
)

// left stands for all attempts, without the epochs that newer ones train again.
const left = -1

// anewIn finds the series whose steps go back from an epoch to a later one, in what an attempt told or in what is left of all: they begin
// anew in each epoch, as a loop's own counter does, and are no place in the run. What attempts have by step says nothing then.
func (d *deriver) anewIn(told map[course][]epochSteps, moved map[seriesKey]bool) {
	back := map[uint32]bool{}
	for c, list := range told {
		slices.SortFunc(list, func(a, b epochSteps) int { return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.step, b.step)) })
		for i := 1; i < len(list) && !back[c.strand]; i++ {
			back[c.strand] = list[i].step < list[i-1].step
		}
	}
	for n, ok := range back {
		if !ok {
			continue
		}
		delete(moved, d.strands[n].key)
		list := told[course{n, left}]
		for i := 1; i < len(list); i++ {
			if list[i].epoch == list[i-1].epoch && list[i].step != list[i-1].step {
				d.anew = append(d.anew, d.strands[n].key.name)
				break
			}
		}
	}
}

// strandOf gives the strand of a stored series. Only the values of its lowest rank count.
func (d *deriver) strandOf(id uint32) (n uint32, ok bool) {
	n = d.into[id]
	return n, d.f.series.items[id].owner == d.strands[n].owner
}

// at gives the place of a row on the axis of a curve. It answers false when the row has none, or a newer attempt supersedes it.
func (d *deriver) at(i int, axis Axis) (x int64, ok bool) {
	r := &d.f.rows.rows[i]
	if axis == AxisOrder {
		if d.batches[r.part] > 0 { // their steps say nothing of what newer attempts took over
			return d.batch(r), !d.cutOf(i).covers(r, AxisEpoch)
		}
		return none, !d.cutOf(i).covers(r, axis)
	}
	x = r.on(axis)
	if x < 0 {
		return x, false
	}
	return x, !d.cutOf(i).covers(r, axis)
}

// on is the value of a row on the axis of a curve.
func (r *row) on(axis Axis) int64 {
	switch axis {
	case AxisEpoch:
		return r.epoch
	case AxisStep:
		return r.step
	default:
		return r.x()
	}
}

// across is the place of a validation on the other axis that its values may be on, -1 for none.
func (r *row) across(axis Axis) int64 {
	switch {
	case r.axis == axisPhase && axis == AxisEpoch:
		return r.step
	case r.axis == axisPhase && axis == AxisStep:
		return r.epoch
	default:
		return none
	}
}

// unplaced notes the values of a curve over steps that tell no step: they are not in it. Where steps begin anew in each epoch, all
// but the last one of an epoch are left out.
func (d *deriver) unplaced() {
	for _, name := range slices.Sorted(slices.Values(d.anew)) {
		d.note(NoteUnplaced, name)
	}
	if len(d.moved) == 0 {
		return
	}
	f := d.f
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if !r.axis.coarse() || r.step >= 0 || d.cutOf(i).covers(r, AxisEpoch) {
			continue
		}
		for j := r.from; j < r.from+r.n; j++ {
			if n, ok := d.strandOf(f.rows.series[j]); ok && d.strands[n].key.axis == AxisStep {
				d.note(NoteUnplaced, d.strands[n].key.name)
			}
		}
	}
}
