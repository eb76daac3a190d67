package trainrun

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func (d *deriver) parts() {
	for id, p := range d.f.parts.items {
		epochs, steps := d.epochs(id), d.steps(id)
		obj := d.objective(id)
		best := d.best(p.name, id, obj)
		ends := d.partEnds(id)
		if p.name == "" {
			ends = d.choose("", d.newest())
		}
		epochs.Reported = reported(ends)
		d.finals(p.name, ends)
		if p.name == "" {
			d.st.Epochs, d.st.Steps, d.st.Objective, d.st.Best = epochs, steps, obj, best
			continue
		}
		out := Part{Name: p.name, Epochs: epochs, Steps: steps, Objective: obj, Best: best}
		if len(ends) > 0 {
			out.Outcome, out.StopReason = ends[0].outcome, reason(ends)
			d.noteEnd(ends)
		}
		d.st.Parts = append(d.st.Parts, out)
	}
	if _, ok := d.f.parts.find(""); !ok { // an end or an objective without a row or a start
		ends := d.choose("", d.newest())
		d.st.Epochs.Reported = reported(ends)
		d.finals("", ends)
		slices.SortStableFunc(d.st.Finals, func(a, b Final) int { return compareText(a.Part, b.Part) })
	}
}

func reported(ends []*end) *int64 {
	for _, e := range ends {
		if e.completed.Set && e.completed.V >= 0 {
			return pointer(e.completed)
		}
	}
	return nil
}

func (d *deriver) epochs(part int) Epochs {
	p := d.f.parts.items[part]
	var out Epochs
	if t := p.plannedEpochs.pick(newest); t != nil {
		out.Planned = &t.value
	}
	var completed farthest
	last, known := none, false
	for i := range d.f.rows.rows {
		r := &d.f.rows.rows[i]
		if int(r.part) != part {
			continue
		}
		c := d.cutOf(i)
		known = known || r.epoch >= 0
		completed.add(min(r.done, c.epoch))
		if r.axis.coarse() && r.n > 0 && !c.covers(r, AxisEpoch) {
			last = max(last, r.epoch)
		}
	}
	if known {
		out.Completed = &completed.most
	}
	if last = max(last, completed.most-1); last >= 0 {
		out.Last = &last
	}
	if completed.isStray() {
		d.note(NoteJump, strconv.FormatInt(completed.most-1, 10))
	}
	return copyEpochs(out)
}

func copyEpochs(e Epochs) Epochs {
	e.Planned, e.Completed, e.Last = copyInt(e.Planned), copyInt(e.Completed), copyInt(e.Last)
	return e
}

func copyInt(p *int64) *int64 {
	if p == nil {
		return nil
	}
	n := *p
	return &n
}

// Sources of an objective.
const (
	ObjectiveRecord   = "record"
	ObjectiveReported = "reported"
	ObjectiveInferred = "inferred"
)

// objective is what run.start said, for the part or the run; else what an epoch.end called its best, or a framework's habit;
// else val/loss, or the only validation metric whose name tells which way is better.
func (d *deriver) objective(id int) *Objective {
	p := d.f.parts.items[id]
	run := &part{}
	if i, ok := d.f.parts.find(""); ok {
		run = d.f.parts.items[i]
	}
	for _, from := range []struct {
		reg  *register[Objective]
		name string
	}{
		{&p.objective, ObjectiveRecord}, {&run.objective, ObjectiveRecord},
		{&p.reported, ObjectiveReported}, {&run.reported, ObjectiveReported},
		{&p.habit, ObjectiveReported}, {&run.habit, ObjectiveReported},
	} {
		if t := from.reg.pick(newest); t != nil {
			o := t.value
			o.From = from.name
			return withMode(o)
		}
	}
	return d.infer(p.name)
}

func withMode(o Objective) *Objective {
	if o.Mode == "" {
		o.Mode = ModeMin
		if mode, ok := Goal(o.Metric); ok {
			o.Mode = mode
		}
	}
	return &o
}

func (d *deriver) infer(part string) *Objective {
	var found []Objective
	for i := range d.st.Series {
		s := &d.st.Series[i]
		if s.Part != part || s.Shared || !strings.HasPrefix(s.Name, "val/") {
			continue
		}
		mode, ok := Goal(s.Name)
		if s.Name == defaultObjective {
			return &Objective{Metric: s.Name, Mode: ModeMin, From: ObjectiveInferred}
		}
		if ok {
			found = append(found, Objective{Metric: s.Name, Mode: mode, From: ObjectiveInferred})
		}
	}
	if len(found) == 1 {
		return &found[0]
	}
	return nil
}

func (d *deriver) best(part string, id int, o *Objective) *Best {
	if o == nil {
		return nil
	}
	for i := range d.st.Series {
		s := &d.st.Series[i]
		if s.Part != part || s.Name != o.Metric {
			continue
		}
		p := s.Min
		if o.Mode == ModeMax {
			p = s.Max
		}
		if p == nil {
			continue // another axis may have a finite value
		}
		return &Best{
			Metric: o.Metric, Mode: o.Mode, Value: p.V, Axis: s.Axis, X: p.X, Time: p.Time,
			Checkpoint: d.checkpointAt(part, id, s, p),
		}
	}
	return nil
}

// checkpointAt finds the last checkpoint of kind best at a point, else the last one there. One that names no epoch is at those of
// the steps at which the point was told. Of several validations of an epoch the best one is that after which a checkpoint of kind best
// was last saved in it: one that names no step.
func (d *deriver) checkpointAt(part string, id int, of *Series, p *Point) *Checkpoint {
	axis, x := of.Axis, p.X
	if axis == AxisOrder {
		return d.checkpointAmong(id, of, p)
	}
	steps, epochs := d.toldAt(id, of, p)
	for _, list := range []*latest[saved]{&d.f.bestCheckpoints, &d.f.checkpoints} {
		found := list.merged(&bySaved, func(s *saved) bool {
			there := s.epoch.Set && s.epoch.V == x
			if axis == AxisStep || !s.epoch.Set {
				there = s.step.Set && steps[s.step.V]
			}
			if axis == AxisStep && !s.step.Set && s.epoch.Set && list == &d.f.bestCheckpoints {
				there = epochs[s.epoch.V]
			}
			if !s.epoch.Set && !s.step.Set && list == &d.f.bestCheckpoints {
				there = d.follows(id, of, &s.at, x)
			}
			if s.part != part || !there || d.f.texts.replaced(s.at.path, s.at.pos) {
				return false
			}
			sp := s.at.spot(s.part)
			c := &d.cuts[id][d.seg.attempt(&sp)]
			if axis == AxisStep && !s.step.Set && d.givenUp(id, &s.at) {
				return false
			}
			return axis == AxisEpoch && x < c.epoch || axis == AxisStep && x < c.step // else of a curve that was given up
		})
		if i := slices.IndexFunc(found, func(s *saved) bool { return d.isThere(id, of, p, s) }); i >= 0 {
			return d.checkpoint(found[i])
		}
	}
	return nil
}

// givenUp says that a newer attempt supersedes the step up to which a stream had come when something without a step was told.
func (d *deriver) givenUp(part int, at *stamp) bool {
	if d.stepped == nil {
		d.layOut()
	}
	rows := d.f.rows.rows
	list := d.stepped[shelf{part, at.file, at.kind}]
	n, _ := slices.BinarySearchFunc(list, at.pos, func(i int, pos int64) int { return cmp.Compare(rows[i].pos, pos) })
	return n > 0 && d.cutOf(list[n-1]).coversStep(&rows[list[n-1]])
}

// shelf is a stream of a part.
type shelf struct {
	part int
	file uint32
	kind posKind
}

// layOut lists the rows with a step of each shelf by their place: a pass for all that is asked of them, not one for each.
func (d *deriver) layOut() {
	rows := d.f.rows.rows
	d.stepped = map[shelf][]int{}
	for i := range rows {
		if r := &rows[i]; r.step >= 0 {
			k := shelf{int(r.part), r.file, r.kind}
			d.stepped[k] = append(d.stepped[k], i)
		}
	}
	for _, list := range d.stepped {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rows[a].pos, rows[b].pos) })
	}
}

// toldAt gives the steps at which a point was told, and the epochs in which validations told it.
func (d *deriver) toldAt(part int, of *Series, p *Point) (steps, epochs map[int64]bool) {
	f := d.f
	steps, epochs = map[int64]bool{}, map[int64]bool{}
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if int(r.part) != part || r.step < 0 {
			continue
		}
		if x, ok := d.at(i, of.Axis); !ok || x != p.X {
			continue
		}
		for j := r.from; j < r.from+r.n; j++ {
			k := &d.strands[d.into[f.rows.series[j]]].key
			if k.name != of.Name || k.axis != of.Axis || f.rows.values[j] != p.V {
				continue
			}
			if steps[r.step] = true; r.axis == axisPhase {
				epochs[r.epoch] = true
			}
		}
	}
	return steps, epochs
}

func (d *deriver) checkpoint(s *saved) *Checkpoint {
	c := s.Checkpoint
	c.Epoch, c.Step, c.At = pointer(s.epoch), pointer(s.step), s.at.time
	c.Attempt = d.number(&s.at, s.part)
	return &c
}
