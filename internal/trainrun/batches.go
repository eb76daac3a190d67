package trainrun

import (
	"math"
	"slices"
)

// Most loops count the batches of an epoch, and write that number as the step. It is no place in the run: as for validations (ADR 069),
// steps that go back are no axis. Values of such rows are a curve in the order of their epoch and batch.

// counter is what tells, of a curve, whether its steps are those of the run or numbers of batches.
type counter struct {
	last, first *row // before, and the first one of its epoch
	attempt     int32
	most        int64 // the greatest step
	back        bool  // they begin anew in a later epoch
	on          bool  // behind several steps of an epoch they go on in a later one
}

// findBatches finds the curves whose steps begin anew in each epoch, and how many batches the longest epoch of their part has. Validations may
// count batches beside a training that tells the steps of the run, so each curve is looked at by itself.
func (d *deriver) findBatches() {
	curves := make([]counter, len(d.f.series.items))
	bare := make([]counter, len(d.f.parts.items)) // rows without values
	t := &d.f.rows
	for i := range t.rows {
		r := &t.rows[i]
		if r.event != EventStepEnd || r.step < 0 { // a validation before the first step may say 0 as well
			continue
		}
		if r.n == 0 {
			bare[r.part].add(r, d.attempt[i])
		}
		for _, id := range t.series[r.from : r.from+r.n] {
			curves[id].add(r, d.attempt[i])
		}
	}
	d.tellBatches(curves, bare)
	for i := range t.rows {
		if r := &t.rows[i]; d.batches[r.part] > 0 && r.axis == AxisStep {
			d.batches[r.part] = max(d.batches[r.part], batchesTo(r.step))
		}
	}
}

// tellBatches decides of each curve. One that tells too little, as a step an epoch, is as the others of its part are.
func (d *deriver) tellBatches(curves, bare []counter) {
	d.batches, d.counted, d.mixed = make([]int64, len(bare)), make([]bool, len(curves)), make([]bool, len(bare))
	items := d.f.series.items
	for id := range curves {
		c, part := &curves[id], items[id].key.part
		if c.back {
			d.batches[part] = max(d.batches[part], batchesTo(c.most))
		}
		d.mixed[part] = d.mixed[part] || c.on && !c.back
	}
	for part := range bare {
		if bare[part].back && !d.mixed[part] { // else they may be of several counters
			d.batches[part] = max(d.batches[part], batchesTo(bare[part].most))
		}
		d.mixed[part] = false
	}
	for id := range curves {
		c, part := &curves[id], items[id].key.part
		d.counted[id] = c.back || c.last != nil && !c.on && batchesTo(c.most) <= d.batches[part]
		d.mixed[part] = d.mixed[part] || d.batches[part] > 0 && c.last != nil && !d.counted[id]
	}
}

// batchesTo counts them up to a step.
func batchesTo(step int64) int64 { return min(step, math.MaxInt64-1) + 1 }

func (c *counter) add(r *row, attempt int32) {
	goesOn := c.last != nil && attempt == c.attempt && r.follows(c.last)
	if goesOn && c.last.epoch >= 0 && r.epoch > c.last.epoch {
		c.back = c.back || r.step < c.last.step || r.step == c.last.step && c.first.step == c.last.step // one row an epoch
		c.on = c.on || r.step > c.last.step && c.first.step != c.last.step
	}
	if !goesOn || r.epoch != c.last.epoch {
		c.first = r
	}
	c.last, c.attempt, c.most = r, attempt, max(c.most, r.step)
}

// follows says that a row is behind another one in a text of a stream.
func (r *row) follows(o *row) bool {
	return r.attempt == o.attempt && r.rank == o.rank && r.kind == o.kind && r.file == o.file && r.path == o.path && textAt(r.pos) == textAt(o.pos)
}

// stepOf is the step of a row, none for the number of a batch beside curves that tell the steps of the run.
func (d *deriver) stepOf(r *row) int64 {
	if d.mixed[r.part] && r.axis == AxisStep && r.n > 0 && d.counted[d.f.rows.series[r.from]] {
		return none
	}
	return r.step
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
	if r.epoch != o.epoch {
		return r.epoch > o.epoch
	}
	return r.beats(o, r.step, o.step)
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
