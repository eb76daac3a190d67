package trainrun

func (r *reader) entry(e, prev *Entry) {
	e.Event = Event(r.byte())
	f := r.uint()
	e.RunID = r.text()
	r.id(&e.ID, prev, f)
	e.Attempt = int64(r.uint())
	e.Rank = int64(r.uint())
	e.Time = prev.Time + r.int()
	e.Part = r.text()
	e.Framework = r.text()
	if f&hasSeq != 0 {
		e.Seq = prev.Seq + r.int()
	}
	e.Offset = emptyOffset
	if e.ID.Kind == IDUID {
		e.Offset = e.ID.Place
	}
	if f&hasOffset != 0 {
		e.Offset = int64(r.uint())
	}
	if f&hasText != 0 {
		e.Text, e.Replaces = int64(r.uint()), int64(r.uint())
	}
	if f&hasPath != 0 {
		e.Path = uint32(int64(prev.Path) + r.int())
	}
	if f&hasEpoch != 0 {
		e.Epoch = Int{V: r.int(), Set: true}
	}
	if f&hasStep != 0 {
		e.Step = Int{V: prev.Step.V + r.int(), Set: true}
	}
	e.Progress = noProgress
	if f&hasProgress != 0 {
		e.Progress = r.float()
	}
	if f&hasPlannedEpochs != 0 {
		e.PlannedEpochs = Int{V: r.int(), Set: true}
	}
	if f&hasPlannedSteps != 0 {
		e.PlannedSteps = Int{V: r.int(), Set: true}
	}
	e.Sampled, e.Rejected = f&isSampled != 0, f&isRejected != 0
	r.rare(e, f)
	if e.Event == EventNone || e.Event >= eventCount {
		r.fail("unknown event")
	}
	e.normalize()
}

func (r *reader) rare(e *Entry, f uint64) {
	if f&hasTrace != 0 {
		copy(e.TraceID[:], r.text())
	}
	if f&hasWhere != 0 {
		e.Where = r.where()
	}
	if f&hasValues != 0 {
		e.Values = r.values()
	}
	if f&hasDurations != 0 {
		n := r.count(2)
		e.Durations = make([]Duration, n)
		for i := range e.Durations {
			e.Durations[i] = Duration{Phase: r.text(), Nanos: r.int()}
		}
	}
	if f&hasMasked != 0 {
		e.Masked = r.int()
	}
	if f&hasCut != 0 {
		e.Cut = r.int()
	}
	if f&hasDetail != 0 {
		e.Detail = r.detail()
	}
}

func (r *reader) id(id *ID, prev *Entry, f uint64) {
	switch {
	case f&isIDUID != 0:
		id.Kind = IDUID
		id.File, id.CRC = r.fixed32(), r.fixed32()
		id.Place = prev.ID.Place + r.int()
		if f&hasIndex != 0 {
			id.Index = uint32(r.uint())
		}
		if f&hasUIDRun != 0 {
			id.RunID = r.text()
		}
	case f&isIDSeq != 0:
		id.Kind = IDSeq
	default:
		id.Hash = r.hash()
	}
}

func (r *reader) where() Where {
	return Where{
		Host: r.text(), Service: r.text(), Namespace: r.text(), Job: r.text(), Pod: r.text(), Container: r.text(), PID: r.int(),
	}
}

func (r *reader) values() []Value {
	n := r.count(9)
	values := make([]Value, n)
	for i := range values {
		values[i] = Value{Name: r.text(), V: r.float()}
	}
	return values
}
