package trainrun

// reach is how far a training came in each part.
type reach map[uint16]extent

// extent is none where nothing is told. Of the steps that rows with an epoch tell, those of the greatest epoch count among rows with one: a
// loop may count batches, from the beginning in each epoch.
type extent struct{ epoch, step, of, batch int64 }

func (m reach) in(part uint16) extent {
	if v, ok := m[part]; ok {
		return v
	}
	return extent{none, none, none, none}
}

func (m reach) add(r *row) {
	v := m.in(r.part)
	if r.event == EventEpochEnd {
		v.epoch = max(v.epoch, r.epoch)
	} else {
		v.step = max(v.step, r.step)
		v.see(r.epoch, r.step)
	}
	m[r.part] = v
}

func (v *extent) see(of, batch int64) {
	if of > v.of {
		v.of, v.batch = of, none
	}
	if of >= 0 && of == v.of {
		v.batch = max(v.batch, batch)
	}
}

func (m reach) join(o reach) {
	for part, v := range o {
		w := m.in(part)
		w.epoch, w.step = max(w.epoch, v.epoch), max(w.step, v.step)
		w.see(v.of, v.batch)
		m[part] = w
	}
}

// stepFor gives the step beyond which a row goes on.
func (v *extent) stepFor(r *row) int64 {
	switch {
	case r.epoch < 0 || r.epoch < v.of:
		return v.step
	case r.epoch == v.of:
		return v.batch
	case v.of >= 0:
		return none
	default: // nothing told an epoch
		return v.step
	}
}

// beyond says that the training had come further than a row.
func (m reach) beyond(r *row) bool {
	v := m.in(r.part)
	return r.event == EventEpochEnd && r.epoch < v.epoch || r.event == EventStepEnd && r.step < v.stepFor(r)
}

// goesBack says that a row tells what the training had told before.
func (m reach) goesBack(r *row) bool {
	v := m.in(r.part)
	return r.event == EventEpochEnd && r.epoch <= v.epoch || r.event == EventStepEnd && r.step <= v.stepFor(r)
}
