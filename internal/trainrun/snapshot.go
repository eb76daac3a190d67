package trainrun

import "fmt"

// versionSnapshot is the version of the encoding, its first byte. Another one is not read.
const versionSnapshot = 11

// Encoding numbers the form of snapshots and entries together. Whoever stores them stores it as well, and looks at it first.
const Encoding = versionSnapshot<<8 | versionEntries

// Snapshot gives the fold's bytes: equal sets of records give equal bytes.
func (f *Fold) Snapshot() []byte {
	f.compact()
	w := newWriter(append(make([]byte, 0, 5*f.SizeBytes()/8), versionSnapshot)) // about what a run of many values takes
	w.text(f.runID)
	f.write(w)
	f.cells.write(w)
	return w.b
}

// write gives everything but the cells.
func (f *Fold) write(w *writer) {
	f.seen.write(w)
	for _, n := range f.counts {
		w.int(n)
	}
	for _, n := range f.scalars() {
		w.int(*n)
	}
	w.uint(uint64(len(f.attempts)))
	for _, a := range f.attempts {
		w.int(a.number)
		w.int(a.first)
		w.int(a.last)
	}
	f.ranks.write(w)
	f.hosts.write(w)
	f.parts.write(w)
	f.series.write(w)
	f.rows.write(w)
	f.texts.write(w)
	writeRegister(w, &f.framework.register, func(w *writer, s *string) { w.text(*s) })
	writeRegister(w, &f.where.start, (*writer).where)
	writeRegister(w, &f.where.rest, (*writer).where)
	writeRegister(w, &f.trace.start, writeTrace)
	writeRegister(w, &f.trace.rest, writeTrace)
	f.writeRare(w)
}

func (f *Fold) scalars() []*int64 {
	return []*int64{&f.rejected, &f.noTime, &f.masked, &f.cut, &f.first, &f.last, &f.started, &f.runLength, &f.stepRoom}
}

func writeTrace(w *writer, id *[16]byte) { w.text(string(id[:])) }

func readTrace(r *reader) (id [16]byte) {
	copy(id[:], r.text())
	return id
}

// Restore makes a fold from a snapshot.
func Restore(b []byte) (*Fold, error) { return restore(b, defaultLimits()) }

func restore(b []byte, lim limits) (*Fold, error) {
	r := &reader{b: b}
	if v := r.byte(); r.err == nil && v != versionSnapshot {
		return nil, fmt.Errorf("snapshot: version %d: %w, want %d", v, ErrVersion, versionSnapshot)
	}
	f := newFold(r.text(), lim)
	f.read(r)
	f.cells.read(r, f)
	if r.err == nil && r.rest() > 0 {
		r.fail("bytes after the end")
	}
	if r.err != nil {
		return nil, fmt.Errorf("snapshot: %w", r.err)
	}
	return f, nil
}

func (f *Fold) read(r *reader) {
	f.seen.read(r)
	for i := range f.counts {
		f.counts[i] = r.int()
	}
	for _, n := range f.scalars() {
		*n = r.int()
	}
	f.stepRoom = min(max(f.stepRoom, 0), int64(f.lim.points))
	for range r.count(3) {
		a := attemptTimes{r.int(), r.int(), r.int()}
		if n := len(f.attempts); n > 0 && f.attempts[n-1].number <= a.number || a.number < 1 || a.number > maxAttempt {
			r.fail("attempts out of order")
			break
		}
		f.attempts = append(f.attempts, a)
	}
	f.ranks.read(r)
	f.hosts.read(r)
	f.parts.read(r)
	f.series.read(r, len(f.parts.items))
	f.rows.read(r, f)
	f.texts.read(r)
	readRegister(r, &f.framework.register, (*reader).text)
	readRegister(r, &f.where.start, (*reader).where)
	readRegister(r, &f.where.rest, (*reader).where)
	readRegister(r, &f.trace.start, readTrace)
	readRegister(r, &f.trace.rest, readTrace)
	f.readRare(r)
	f.rows.floor = f.rows.stored()
}

func (t *rankTable) write(w *writer) {
	w.uint(uint64(len(t.items)))
	for i := range t.items {
		c := &t.items[i]
		w.int(c.rank)
		for _, counts := range []*[64]uint32{&c.epoch, &c.step} {
			for k, n := range counts {
				if n > 0 {
					w.byte(byte(k))
					w.uint(uint64(n))
				}
			}
			w.byte(64)
		}
	}
	t.dropped.write(w)
}

func (t *rankTable) read(r *reader) {
	for range r.count(3) {
		c := rankCounts{rank: r.int()}
		if n := len(t.items); n > 0 && t.items[n-1].rank >= c.rank || c.rank < 0 || c.rank > maxAttempt {
			r.fail("ranks out of order")
			return
		}
		for _, counts := range []*[64]uint32{&c.epoch, &c.step} {
			for k := r.byte(); k < 64 && r.err == nil; k = r.byte() {
				counts[k] = uint32(r.uint())
			}
		}
		if r.err != nil {
			return
		}
		t.items = append(t.items, c)
	}
	t.dropped.read(r)
}

func (t *hostTable) write(w *writer) {
	w.uint(uint64(len(t.names) - 1))
	for _, name := range t.names[1:] {
		w.text(name)
	}
	t.dropped.write(w)
}

func (t *hostTable) read(r *reader) {
	for range r.count(1) {
		name := r.text()
		if _, ok := t.ids[name]; ok || name == "" || len(t.names) > 1<<15 {
			r.fail("want another host")
			return
		}
		t.ids[name] = uint32(len(t.names))
		t.names = append(t.names, name)
	}
	t.dropped.read(r)
}

func (t *partTable) write(w *writer) {
	w.uint(uint64(len(t.items)))
	for _, p := range t.items {
		w.text(p.name)
		w.int(p.owner)
		writeRegister(w, &p.plannedEpochs, func(w *writer, n *int64) { w.int(*n) })
		writeRegister(w, &p.plannedSteps, func(w *writer, n *int64) { w.int(*n) })
		writeRegister(w, &p.objective, (*writer).objective)
		writeRegister(w, &p.reported, (*writer).objective)
		writeRegister(w, &p.habit, (*writer).objective)
		for i := range p.totals {
			for _, s := range p.totals[i] {
				w.int(s.rank)
				w.int(s.nanos)
			}
		}
	}
	t.dropped.write(w)
}

func (t *partTable) read(r *reader) {
	t.ids = map[string]uint32{}
	number := (*reader).int
	goal := func(r *reader) Objective { return *r.objective() }
	for range r.count(6) {
		p := &part{name: r.text(), owner: r.int()}
		if n := len(t.items); n > 0 && t.items[n-1].name >= p.name || n > 1<<15 {
			r.fail("parts out of order")
			return
		}
		readRegister(r, &p.plannedEpochs, number)
		readRegister(r, &p.plannedSteps, number)
		readRegister(r, &p.objective, goal)
		readRegister(r, &p.reported, goal)
		readRegister(r, &p.habit, goal)
		for i := range p.totals {
			for s := range p.totals[i] {
				p.totals[i][s].rank, p.totals[i][s].nanos = r.int(), r.int()
			}
		}
		if r.err != nil {
			return
		}
		t.ids[p.name] = uint32(len(t.items))
		t.items = append(t.items, p)
	}
	t.dropped.read(r)
}

func (t *seriesTable) write(w *writer) {
	w.uint(uint64(len(t.items)))
	for i := range t.items {
		s := &t.items[i]
		w.uint(uint64(s.key.part))
		w.byte(byte(s.key.axis))
		w.text(s.key.name)
		w.int(s.owner)
		w.int(s.values)
		w.int(s.nonFinite)
		w.int(s.others)
		w.bool(s.sampled)
	}
	t.dropped.write(w)
}

func (t *seriesTable) read(r *reader, parts int) {
	t.ids = map[seriesKey]uint32{}
	for range r.count(8) {
		s := series{key: seriesKey{uint32(r.uint()), Axis(r.byte()), r.text()}}
		s.owner, s.values, s.nonFinite, s.others, s.sampled = r.int(), r.int(), r.int(), r.int(), r.bool()
		if _, ok := t.ids[s.key]; ok || int64(s.key.part) >= int64(parts) || s.key.axis > axisPhase {
			r.fail("want another series")
		}
		if r.err != nil {
			return
		}
		t.ids[s.key] = uint32(len(t.items))
		t.items = append(t.items, s)
	}
	t.dropped.read(r)
}
