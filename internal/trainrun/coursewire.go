package trainrun

// strings, numbers, switches and options list the plain fields of an attempt in the order in which they are stored.
func (c *Course) strings() []*string {
	return []*string{&c.Framework, &c.Family, &c.Outcome, &c.StopReason, &c.ErrorType, &c.Message, &c.failedPart, &c.otherEnd}
}

func (c *Course) numbers() []*int64 {
	return []*int64{
		&c.Written, &c.Number, &c.Began, &c.since, &c.End, &c.Spans.Sent, &c.Spans.Dropped, &c.Spans.From, &c.Spans.To, &c.first, &c.last, &c.earliest, &c.seen.wall, &c.seen.mono,
		&c.closed.wall, &c.closed.mono, &c.failedAt, &c.failSeen, &c.mark,
	}
}

func (c *Course) switches() []*bool {
	return []*bool{&c.Opened, &c.Stalled, &c.Ended, &c.Settled, &c.announced, &c.frozen, &c.byDuration, &c.failed}
}

func (c *Course) options() []*Int { return []*Int{&c.Planned, &c.Reported, &c.LastEpoch} }

func (w *writer) course(c *Course, sources *sourceTable) {
	for _, s := range c.strings() {
		w.text(*s)
	}
	for _, n := range c.numbers() {
		w.int(*n)
	}
	for _, b := range c.switches() {
		w.bool(*b)
	}
	for _, n := range c.options() {
		w.optInt(*n)
	}
	w.texts(c.Extra)
	w.byte(byte(c.emits))
	w.byte(byte(c.traceFrom))
	w.b = append(append(append(w.b, c.Trace[:]...), c.Before[:]...), c.Parent[:]...)
	w.float(c.spent)
	w.recent(&c.coarse)
	w.recent(&c.fine)
	w.uint(uint64(len(c.starts)))
	for _, s := range c.starts {
		w.int(s.rank)
		w.int(s.time)
		w.text(s.part)
	}
	w.uint(uint64(len(c.parts)))
	for _, p := range c.parts {
		w.text(p.name)
		w.int(p.epochs)
		w.float(p.reached)
		w.text(p.outcome)
	}
	w.byte(byte(c.endedBy.Kind))
	w.text(c.endedBy.RunID)
	w.fixed32(c.endedBy.File)
	w.int(c.endedBy.Place)
	w.courseLists(c)
	sources.write(w, c.Source)
}

func (w *writer) courseLists(c *Course) {
	w.uint(uint64(len(c.lumps)))
	for _, k := range sortedKeys(c.lumps) {
		w.text(k)
		w.float(c.lumps[k])
	}
	w.uint(uint64(len(c.open)))
	for i := range c.open {
		p := &c.open[i]
		w.phaseKey(&p.phaseKey)
		w.int(p.start)
		w.int(p.seq)
		w.float(p.accounted)
		w.float(p.inner)
		w.b = append(append(w.b, p.trace[:]...), p.span[:]...)
		w.int(p.row)
		w.bool(p.counts)
		w.bool(p.own)
	}
	w.uint(uint64(len(c.ended)))
	for i := range c.ended {
		e := &c.ended[i]
		w.phaseKey(&e.phaseKey)
		w.int(e.end)
		w.bool(e.counts)
		w.bool(e.done)
		w.b = append(append(w.b, e.trace[:]...), e.span[:]...)
	}
	w.uint(uint64(len(c.samples)))
	for i := range c.samples {
		n := &c.samples[i]
		w.phaseKey(&n.phaseKey)
		w.int(n.steps)
		w.int(n.total)
		w.int(n.accounted)
	}
}

func (w *writer) phaseKey(k *phaseKey) {
	w.text(k.part)
	w.text(k.phase)
	w.optInt(k.epoch)
}

func (r *reader) phaseKey() phaseKey {
	return phaseKey{part: r.text(), phase: r.text(), epoch: r.optInt()}
}

func (r *reader) course(sources *sourceList) *Course {
	c := &Course{}
	for _, s := range c.strings() {
		*s = r.text()
	}
	for _, n := range c.numbers() {
		*n = r.int()
	}
	for _, b := range c.switches() {
		*b = r.bool()
	}
	for _, n := range c.options() {
		*n = r.optInt()
	}
	c.Extra, c.emits, c.traceFrom = r.texts(), Emits(r.byte()), EventOrder(r.byte())
	copy(c.Trace[:], r.bytes(16))
	copy(c.Before[:], r.bytes(16))
	copy(c.Parent[:], r.bytes(8))
	c.spent = r.float()
	r.recent(&c.coarse)
	r.recent(&c.fine)
	for range r.count(3) {
		c.starts = append(c.starts, rankStart{rank: r.int(), time: r.int(), part: r.text()})
	}
	for range r.count(11) {
		c.parts = append(c.parts, coursePart{name: r.text(), epochs: r.int(), reached: r.float(), outcome: r.text()})
	}
	if r.version > 1 {
		c.endedBy = ID{Kind: IDKind(r.byte()), RunID: r.text(), File: r.fixed32(), Place: r.int()}
	}
	r.courseLists(c)
	c.Source = sources.read(r)
	return c
}

func (r *reader) courseLists(c *Course) {
	for range r.count(9) {
		if c.lumps == nil {
			c.lumps = map[string]float64{}
		}
		k := r.text()
		c.lumps[k] = r.float()
	}
	for range r.count(45) {
		p := openPhase{phaseKey: r.phaseKey(), start: r.int(), seq: r.int(), accounted: r.float(), inner: r.float()}
		copy(p.trace[:], r.bytes(16))
		copy(p.span[:], r.bytes(8))
		if r.version > 1 {
			p.row, p.counts, p.own = r.int(), r.bool(), r.bool()
		}
		c.open = append(c.open, p)
	}
	for range r.count(30) {
		e := phaseEnd{phaseKey: r.phaseKey(), end: r.int(), counts: r.bool(), done: r.bool()}
		copy(e.trace[:], r.bytes(16))
		copy(e.span[:], r.bytes(8))
		c.ended = append(c.ended, e)
	}
	for range r.count(6) {
		c.samples = append(c.samples, sampleCount{phaseKey: r.phaseKey(), steps: r.int(), total: r.int(), accounted: r.int()})
	}
}
