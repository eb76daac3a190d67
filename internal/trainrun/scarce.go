package trainrun

import "slices"

// Thin gives up values on axes other than epochs until the fold takes no more than target bytes, as far as that goes: one of two
// steps stays, of four, and so on, and what a State is made of. Epochs, best, attempts, outcome, first, last,
// least and greatest values do not change; a later attempt that supersedes steps finds fewer of those before. It answers
// false when nothing could be given up. A fold that was thinned stays so, also in its snapshots, and its State says so.
func (f *Fold) Thin(target int64) bool {
	f.compact()
	before := f.SizeBytes()
	for size := before; size > target && f.stepRoom > 0; size = f.SizeBytes() {
		f.stepRoom = min(f.stepRoom, int64(f.rows.stored())) / 2
		f.rows.dirty = true
		f.compact()
	}
	return f.SizeBytes() < before
}

// scarce says that Thin was needed.
func (f *Fold) scarce() bool { return f.stepRoom < int64(f.lim.points) }

// levels says from which level on the rows of a rank are kept.
func (f *Fold) levels(c *rankCounts) (epoch, step int) {
	epoch, step = c.levels(f.lim.points)
	if f.scarce() {
		step = max(step, level(&c.step, int(f.stepRoom)))
	}
	return epoch, step
}

// leftOut counts the values that Thin gave up, those included that later records replaced.
func (f *Fold) leftOut() int64 {
	if !f.scarce() {
		return 0
	}
	var n int64
	for i := range f.series.items {
		if s := &f.series.items[i]; !s.key.axis.coarse() {
			n += s.values
		}
	}
	for i := range f.rows.rows {
		if r := &f.rows.rows[i]; !r.axis.coarse() {
			n -= int64(r.n)
		}
	}
	return n
}

// keepWhatCounts marks what the State of now is made of: the extremes of each surviving curve in each attempt, and the rows
// that say how far an attempt came, and when and where it ran. The extremes by attempt number do not tell those: attempts
// may have no numbers, and the least value may be superseded.
func (f *Fold) keepWhatCounts(values, rows []bool) {
	newDeriver(f, nil).keepWhatCounts(values, rows)
	g, among := f.unreplaced()
	if g == f {
		return
	}
	own := make([]bool, len(among)) // of what stands
	newDeriver(g, nil).keepWhatCounts(values, own)
	for i, kept := range own {
		rows[among[i]] = rows[among[i]] || kept
	}
}

func (d *deriver) keepWhatCounts(values, rows []bool) {
	d.keepRows(rows)
	d.f.keepOthers(values, rows)
	t := &d.f.rows
	kept := map[curvePlace]bool{} // axis values of which something stays: what counts of it stays as well
	for i := range t.rows {
		r := &t.rows[i]
		for j := r.from; j < r.from+r.n; j++ {
			n := d.into[t.series[j]]
			if axis := d.strands[n].key.axis; values[j] && axis != AxisOrder {
				kept[curvePlace{n, r.on(axis)}] = true
			}
		}
	}
	for id, list := range d.candidates() {
		axis := d.strands[id].key.axis
		if axis == AxisOrder {
			markCurve(winners(list, axis), values)
			continue
		}
		list = heads(list)
		curve := winners(slices.Clone(list), axis)
		markCurve(curve, values)
		for i := range curve {
			if values[curve[i].at] {
				kept[curvePlace{uint32(id), curve[i].x}] = true
			}
		}
		for i := range list { // the last of each stream: the one that counts stays so
			if kept[curvePlace{uint32(id), list[i].x}] {
				values[list[i].at] = true
			}
		}
	}
}

// keepRows marks the rows that say how far an attempt came, and when and where it ran.
func (d *deriver) keepRows(rows []bool) {
	t := &d.f.rows
	all, spans := map[extremeKey]*found{}, map[extremeKey]*found{}
	steps := map[uint16]int{} // by part the row of the highest step that no newer attempt took over
	for i := range t.rows {
		r := &t.rows[i]
		t.progress(entryOf(all, extremeKey{series: gone, part: r.part, attempt: d.attempt[i]}), i)
		t.span(spans, i, d.attempt[i])
		if best, ok := steps[r.part]; d.stepOf(r) >= 0 && !d.cutOf(i).coversStep(r) && (!ok || r.step > t.rows[best].step) {
			steps[r.part] = i
		}
	}
	markFound(all, rows)
	markFound(spans, rows)
	d.seg.keepBegun(rows)
	for _, i := range steps {
		rows[i] = true
	}
}

// curvePlace is an axis value of a curve.
type curvePlace struct {
	strand uint32
	x      int64
}

// markCurve marks the extremes of a curve in each of its attempts. The curve is sorted: of equals the earliest counts.
func markCurve(list []candidate, values []bool) {
	all := map[int32]*found{}
	for i := range list {
		c := &list[i]
		e := all[c.attempt]
		if e == nil {
			e = &found{i, -1, -1, -1, -1, -1, -1}
			all[c.attempt] = e
		}
		e.last = i
		if !finite(c.v) {
			better(&e.nonFinite, i, func(i, j int) bool { return false })
			continue
		}
		better(&e.least, i, func(i, j int) bool { return list[i].v < list[j].v })
		better(&e.greatest, i, func(i, j int) bool { return list[i].v > list[j].v })
	}
	for _, e := range all {
		for _, i := range []int{e.first, e.last, e.least, e.greatest, e.nonFinite} {
			if i >= 0 {
				values[list[i].at] = true
			}
		}
	}
}
