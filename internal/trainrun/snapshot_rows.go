package trainrun

// write gives each row relative to the one before.
func (t *rowTable) write(w *writer) {
	w.uint(uint64(len(t.rows)))
	prev := row{}
	for i := range t.rows {
		r := &t.rows[i]
		w.byte(byte(r.axis) | byte(r.kind)<<2)
		w.byte(byte(r.event))
		w.int(r.epoch - prev.epoch)
		w.int(r.step - prev.step)
		w.int(r.done - prev.done)
		w.int(r.pos - prev.pos)
		w.int(r.time - prev.time)
		w.int(int64(r.attempt - prev.attempt))
		w.int(int64(r.rank - prev.rank))
		w.int(int64(r.file) - int64(prev.file))
		w.int(int64(r.path) - int64(prev.path))
		w.fixed32(r.crc)
		w.uint(uint64(r.index))
		w.uint(uint64(r.part))
		w.uint(uint64(r.host))
		w.uint(uint64(r.n))
		last := uint32(0)
		for j := r.from; j < r.from+r.n; j++ {
			w.uint(uint64(t.series[j] - last))
			last = t.series[j]
			w.float(t.values[j])
		}
		prev = *r
	}
}

func (t *rowTable) read(r *reader, f *Fold) {
	n := r.count(18)
	t.rows = make([]row, 0, n)
	prev := row{}
	for range n {
		head := r.byte()
		x := row{axis: Axis(head & 3), kind: posKind(head >> 2), event: Event(r.byte())}
		x.epoch, x.step, x.done = prev.epoch+r.int(), prev.step+r.int(), prev.done+r.int()
		x.pos, x.time = prev.pos+r.int(), prev.time+r.int()
		x.attempt, x.rank = prev.attempt+int32(r.int()), prev.rank+int32(r.int())
		x.file = uint32(int64(prev.file) + r.int())
		x.path = uint32(int64(prev.path) + r.int())
		x.crc, x.index = r.fixed32(), uint32(r.uint())
		part, host, values := r.uint(), r.uint(), r.count(9)
		if part >= uint64(len(f.parts.items)) || host >= uint64(len(f.hosts.names)) && host != lostHost || x.axis == axisPhase && (x.epoch < 0 || x.step < 0) || x.kind > posOffset ||
			x.attempt < 1 || x.rank < 0 || x.epoch < none || x.step < none || x.done < 0 {
			r.fail("not a row")
		}
		if r.err != nil {
			return
		}
		x.part, x.host, x.from, x.n = uint16(part), uint16(host), uint32(len(t.values)), uint32(values)
		last := uint64(0)
		for range values {
			last += r.uint()
			if last >= uint64(len(f.series.items)) {
				r.fail("no such series")
				return
			}
			t.series = append(t.series, uint32(last))
			t.values = append(t.values, r.float())
		}
		t.rows = append(t.rows, x)
		prev = x
	}
}

func writeLatest[T any](w *writer, l *latest[T], item func(*T)) {
	w.int(l.total)
	w.uint(uint64(len(l.items)))
	for i := range l.items {
		item(l.items[i])
	}
}

func readLatest[T any](r *reader, l *latest[T], item func() T) {
	l.total = r.int()
	for range r.count(12) {
		v := item()
		if r.err != nil {
			return
		}
		l.items = append(l.items, &v)
	}
}

func (f *Fold) writeRare(w *writer) {
	writeLatest(w, &f.starts, func(s *start) {
		w.stamp(&s.at)
		w.text(s.part)
		w.text(s.host)
		w.optInt(s.epoch)
		w.optInt(Int{}) // as in a detail
	})
	writeLatest(w, &f.launches, func(l *launch) {
		w.stamp(&l.at)
		w.text(l.part)
		w.detail(&l.detail)
	})
	writeLatest(w, &f.ends, func(e *end) {
		w.stamp(&e.at)
		w.text(e.part)
		w.text(e.outcome)
		w.text(e.reason)
		w.text(e.said)
		w.optInt(e.completed)
		w.values(e.values)
	})
	writeLatest(w, &f.failures, func(x *failure) {
		w.stamp(&x.at)
		w.text(x.Part)
		w.text(x.Type)
		w.text(x.Message)
		w.text(x.Stack)
		w.optional(x.Epoch)
		w.optional(x.Step)
	})
	writeLatest(w, &f.failMarks, func(m *mark) {
		w.stamp(&m.at)
		w.text(m.part)
	})
	save := func(s *saved) {
		w.stamp(&s.at)
		w.text(s.part)
		w.optInt(s.epoch)
		w.optInt(s.step)
		w.checkpoint(&s.Checkpoint)
	}
	writeLatest(w, &f.bestCheckpoints, save)
	writeLatest(w, &f.checkpoints, save)
	w.uint(uint64(len(f.artifacts.items)))
	for i := range f.artifacts.items {
		writeRegister(w, &f.artifacts.items[i].register, (*writer).artifact)
	}
	f.artifacts.dropped.write(w)
	f.told.write(w)
	f.events.write(w)
}

func (f *Fold) readRare(r *reader) {
	readLatest(r, &f.starts, func() start {
		s := start{at: r.stamp(), part: r.text(), host: r.text(), epoch: r.optInt()}
		r.optInt()
		return s
	})
	readLatest(r, &f.launches, func() launch {
		return launch{at: r.stamp(), part: r.text(), detail: *r.detail()}
	})
	readLatest(r, &f.ends, func() end {
		return end{
			at: r.stamp(), part: r.text(), outcome: r.text(), reason: r.text(), said: r.text(), completed: r.optInt(), values: r.values(),
		}
	})
	readLatest(r, &f.failures, func() failure {
		x := failure{at: r.stamp()}
		x.Part, x.Type, x.Message, x.Stack, x.Epoch, x.Step = r.text(), r.text(), r.text(), r.text(), r.optional(), r.optional()
		x.Attempt, x.Rank, x.At = x.at.attempt, x.at.rank, x.at.time
		return x
	})
	readLatest(r, &f.failMarks, func() mark { return mark{at: r.stamp(), part: r.text()} })
	save := func() saved {
		return saved{at: r.stamp(), part: r.text(), epoch: r.optInt(), step: r.optInt(), Checkpoint: *r.checkpoint()}
	}
	readLatest(r, &f.bestCheckpoints, save)
	readLatest(r, &f.checkpoints, save)
	for range r.count(20) {
		var k kept
		if readRegister(r, &k.register, (*reader).artifact); len(k.items) == 0 {
			r.fail("want an artifact")
		}
		if r.err != nil {
			return
		}
		k.role, k.path = k.items[0].value.Role, k.items[0].value.Path
		f.artifacts.items = append(f.artifacts.items, k)
	}
	f.artifacts.dropped.read(r)
	f.told.read(r)
	f.events.read(r)
}
