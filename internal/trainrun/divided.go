package trainrun

import "cmp"

// Attempts of one number, and texts that took the place of others, are told by records around the rows. What thinning keeps of them is by
// what is known at the time: see docs/adr/090.

// divided places the rows where more than the numbers of attempts tells them apart; nil where nothing does.
func (f *Fold) divided() *deriver {
	d := &deriver{f: f, seg: newSegmenter(f)}
	if !d.seg.split && len(d.seg.proofs) == 0 && len(f.texts.items) == 0 {
		return nil
	}
	d.place()
	return d
}

// lives numbers what each row is of: one of the n newest attempts, and what still stands of it or what a newer text replaced.
func (d *deriver) lives(n int) []int32 {
	out := make([]int32, len(d.attempt))
	oldest := int32(len(d.seg.list) - n)
	for i, a := range d.attempt {
		switch {
		case a < oldest:
			out[i] = ofNone
		case d.f.texts.replaced(d.f.rows.rows[i].path, d.f.rows.rows[i].pos):
			out[i] = 2*a + 1
		default:
			out[i] = 2 * a
		}
	}
	return out
}

// keepBegun marks the rows with which trainings begin, and those that say so.
func (s *segmenter) keepBegun(rows []bool) {
	type spot struct {
		place
		kind posKind
		file uint32
	}
	begun := map[spot]bool{}
	for _, list := range s.bounds {
		for i := range list {
			b := &list[i]
			if begun[spot{b.place, b.kind, b.file}] = true; b.first > 0 {
				rows[b.first-1] = true
			}
		}
	}
	for i := range s.rows {
		r := &s.rows[i]
		rows[i] = rows[i] || begun[spot{place{r.pos, r.crc, r.index}, r.kind, r.file}]
	}
	for _, i := range s.proofs {
		rows[i] = true
	}
}

// keepOthers marks a value of each row of a higher rank that is kept: without values it does not stay.
func (f *Fold) keepOthers(values, rows []bool) {
	for i := range f.rows.rows {
		if r := &f.rows.rows[i]; rows[i] && r.n > 0 && int64(r.rank) != f.parts.items[r.part].owner {
			values[r.from] = true
		}
	}
}

// span finds the first and the last row of a host in an attempt, by time, and the one that names the host of the lowest rank.
// Rank 0 is looked at for itself: it tells conflicts.
func (t *rowTable) span(all map[extremeKey]*found, i int, attempt int32) {
	r := &t.rows[i]
	k := extremeKey{series: gone, part: r.host, attempt: attempt}
	if r.host == 0 {
		k.file = r.file
	}
	if r.rank > 0 {
		k.event = eventCount // of no row
	}
	e := entryOf(all, k)
	better(&e.least, i, func(i, j int) bool {
		a, b := &t.rows[i], &t.rows[j]
		return a.rank < b.rank || a.rank == b.rank && a.compareAge(b) < 0
	})
	if r.time == 0 {
		return
	}
	later := func(i, j int) int {
		if c := cmp.Compare(t.rows[i].time, t.rows[j].time); c != 0 {
			return c
		}
		return t.rows[i].compareAge(&t.rows[j])
	}
	better(&e.first, i, func(i, j int) bool { return later(i, j) < 0 })
	better(&e.last, i, func(i, j int) bool { return later(i, j) > 0 })
}
