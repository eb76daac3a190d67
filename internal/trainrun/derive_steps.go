package trainrun

func (d *deriver) steps(part int) Steps {
	p := d.f.parts.items[part]
	var out Steps
	var told counting
	if t := p.plannedSteps.pick(newest); t != nil {
		out.Planned = copyInt(&t.value)
	}
	for i := range d.f.rows.rows {
		r := &d.f.rows.rows[i]
		if int(r.part) != part || d.stepOf(r) < 0 {
			continue
		}
		if r.event == EventStepEnd { // a validation before the first step may say 0 as well
			told.add(r.step)
		}
		if !d.cutOf(i).coversStep(r) {
			out.Last = greatest(out.Last, r.step)
		}
	}
	if d.batches[part] > 0 {
		d.note(NoteSteps, p.name)
	}
	out.FromZero = told.fromZero()
	return out
}

// counting finds out where a trainer begins to count, from the steps that it told.
type counting struct {
	any               bool
	first, last, each int64 // each is the greatest number of which all told steps are one less than a multiple
}

func (c *counting) add(step int64) {
	if !c.any {
		*c = counting{any: true, first: step, last: step}
	}
	c.first, c.last = min(c.first, step), max(c.last, step)
	for n := step + 1; n != 0; {
		c.each, n = n, c.each%n
	}
}

// fromZero says that a step 0 was told, or that rows come when n steps are done and the number of the first such step is n-1 (n-1, 2n-1, …): who
// counts from 1 tells n, 2n, …. Of every second step, 1, 3, …, both are possible.
func (c *counting) fromZero() bool {
	return c.any && (c.first == 0 || c.each > 2 && c.first == c.each-1 && c.last > c.first)
}
