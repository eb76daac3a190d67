package trainrun

const liveVersion = 2 // 1 did not tell which record ended an attempt, and of no open phase that its epoch is over

// Snapshot encodes everything that is known.
func (l *Live) Snapshot() []byte {
	w := newWriter(nil)
	w.byte(liveVersion)
	w.uint(uint64(len(l.tombs.order)))
	for i := range l.tombs.order {
		k := l.tombs.order[(l.tombs.next+i)%len(l.tombs.order)]
		v := l.tombs.byKey[k]
		w.b = append(w.b, k[:]...)
		w.int(v.number)
		w.int(v.last)
	}
	var sources sourceTable
	w.uint(uint64(len(l.runs)))
	for _, id := range sortedKeys(l.runs) {
		r := l.runs[id]
		w.text(id)
		w.bool(r.hasRank)
		w.bool(r.zeroSeen)
		w.int(r.primary)
		w.arrivals(&r.seen)
		w.uint(uint64(len(r.courses)))
		for _, c := range r.courses {
			w.course(c, &sources)
		}
	}
	return w.b
}

// Restore reads what Snapshot wrote into an empty layer.
func (l *Live) Restore(b []byte) error {
	r := &reader{b: b}
	if r.version = r.byte(); r.err == nil && (r.version == 0 || r.version > liveVersion) {
		r.fail("want version 1 or 2")
	}
	for range r.count(18) {
		var k tombKey
		copy(k[:], r.bytes(len(k)))
		number, last := r.int(), r.int()
		if r.err == nil {
			l.tombs.put(k, tomb{number, last})
		}
	}
	var sources sourceList
	for range r.count(8) {
		run := &liveRun{id: r.text(), hasRank: r.bool(), zeroSeen: r.bool(), primary: r.int()}
		r.arrivals(&run.seen)
		for range r.count(16) {
			c := r.course(&sources)
			if r.err != nil {
				break
			}
			c.RunID = run.id
			run.courses = append(run.courses, c)
		}
		if r.err != nil || run.id == "" || len(run.courses) == 0 {
			r.fail("want a run")
			break
		}
		l.runs[run.id] = run
		l.kept += len(run.courses)
	}
	if r.err != nil {
		l.runs, l.kept, l.tombs = map[string]*liveRun{}, 0, newTombstones(l.opt.Tombstones)
	}
	return r.err
}

// Restart begins the timers of silence anew: nobody was there to see it.
func (l *Live) Restart(now Moment) {
	l.Courses(func(c *Course) { c.seen = moments{now.Wall, now.Mono} })
}

func (w *writer) recent(v *recent) {
	w.uint(uint64(v.limit))
	w.uint(uint64(v.next))
	w.uint(uint64(len(v.list)))
	for _, h := range v.list {
		w.fixed32(uint32(h))
		w.fixed32(uint32(h >> 32))
	}
}

func (r *reader) recent(v *recent) {
	v.limit, v.next = int(min(r.uint(), 1<<20)), int(min(r.uint(), 1<<20))
	for range r.count(8) {
		low, high := r.fixed32(), r.fixed32()
		v.list = append(v.list, uint64(low)|uint64(high)<<32)
	}
	if v.next != 0 && v.next >= len(v.list) {
		r.fail("want a place in the list")
	}
}

func (w *writer) arrivals(a *arrivals) {
	w.recent(&a.others)
	w.uint(uint64(len(a.streams)))
	for i := range a.streams {
		st := &a.streams[i]
		w.fixed32(st.file)
		w.text(st.run)
		w.int(st.floor)
		w.uint(uint64(len(st.keys)))
		last := uint64(0)
		for _, k := range st.keys {
			w.uint(k - last)
			last = k
		}
	}
}

func (r *reader) arrivals(a *arrivals) {
	r.recent(&a.others)
	for range r.count(7) {
		st := arrivalStream{file: r.fixed32(), run: r.text(), floor: r.int()}
		last := uint64(0)
		for range r.count(1) {
			last += r.uint()
			st.keys = append(st.keys, last)
		}
		if r.err != nil {
			return
		}
		a.streams = append(a.streams, st)
	}
}
