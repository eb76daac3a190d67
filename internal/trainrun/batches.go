package trainrun

import (
	"cmp"
	"math"
	"slices"
)

// Most loops count the batches of an epoch, and write that number as the step. It is no place in the run: as for validations (ADR 069),
// steps that go back are no axis. Values of such rows are a curve in the order of their epoch and batch.

// findBatches finds the parts whose steps begin anew in each epoch, and how many batches the longest epoch has.
func (d *deriver) findBatches() {
	type state struct{ last, first *row } // of a step, before, and the first one of its epoch
	rows := d.f.rows.rows
	before := make([]state, len(d.f.parts.items))
	d.batches = make([]int64, len(before))
	found := false
	for i := range rows {
		r := &rows[i]
		if r.event != EventStepEnd || r.step < 0 { // a validation before the first step may say 0 as well
			continue
		}
		s := &before[r.part]
		if s.last != nil && r.beginsAnew(s.last, s.first) {
			d.batches[r.part], found = 1, true
		}
		if s.last == nil || !r.follows(s.last) || r.epoch != s.last.epoch {
			s.first = r
		}
		s.last = r
	}
	for i := range rows {
		if r := &rows[i]; found && d.batches[r.part] > 0 && r.step < math.MaxInt64 {
			d.batches[r.part] = max(d.batches[r.part], r.step+1)
		}
	}
}

// follows says that a row is behind another one in a text of a stream.
func (r *row) follows(o *row) bool {
	return r.attempt == o.attempt && r.rank == o.rank && r.kind == o.kind && r.file == o.file && r.path == o.path && textAt(r.pos) == textAt(o.pos)
}

// beginsAnew says that a step is less than the one before it in the stream, which is of an epoch before: a loop counts its batches. So it does
// when it tells one row an epoch; first is the first of the epoch before.
func (r *row) beginsAnew(o, first *row) bool {
	return r.follows(o) && o.epoch >= 0 && r.epoch > o.epoch && (r.step < o.step || r.step == o.step && first.step == o.step)
}

// batch is the place of a row among all batches of the run, -1 for none.
func (d *deriver) batch(r *row) int64 {
	n := d.batches[r.part]
	if n == 0 || r.axis != AxisStep || r.epoch < 0 || r.epoch >= math.MaxInt64/n {
		return none
	}
	return r.epoch*n + r.step
}

// ordered are the values of a curve without axis that count: by epoch and batch where all tell them, else as the records came.
func ordered(list []candidate) []candidate {
	if slices.ContainsFunc(list, func(c candidate) bool { return c.x < 0 }) {
		inOrder(list)
		return list
	}
	return winners(list, AxisStep)
}

// later orders the rows of one attempt by epoch and step, then age: the place of a batch.
func (r *row) later(o *row) bool {
	return cmp.Or(cmp.Compare(r.epoch, o.epoch), cmp.Compare(r.step, o.step), r.compareAge(o)) > 0
}

// checkpointAmong finds the last checkpoint at a point of a curve in the order of batches, kind best first: it names the epoch and the batch,
// or is of kind best and names the epoch alone, or neither and follows the point.
func (d *deriver) checkpointAmong(part int, of *Series, p *Point) *Checkpoint {
	if p.X < 0 || p.X >= int64(len(of.batches)) {
		return nil
	}
	x, n := of.batches[p.X], d.batches[part]
	if x < 0 || n == 0 {
		return nil
	}
	for _, list := range []*latest[saved]{&d.f.bestCheckpoints, &d.f.checkpoints} {
		found := list.merged(&bySaved, func(s *saved) bool {
			if s.part != of.Part || s.epoch.Set && s.epoch.V != x/n || s.step.Set && (!s.epoch.Set || s.step.V != x%n) || d.f.texts.replaced(s.at.path, s.at.pos) {
				return false
			}
			if !s.step.Set && (list != &d.f.bestCheckpoints || !s.epoch.Set && !d.follows(part, of, &s.at, x)) {
				return false
			}
			sp := s.at.spot(s.part)
			return x/n < d.cuts[part][d.seg.attempt(&sp)].epoch
		})
		if i := slices.IndexFunc(found, func(s *saved) bool { return d.isThere(part, of, p, s) }); i >= 0 {
			return d.checkpoint(found[i])
		}
	}
	return nil
}
