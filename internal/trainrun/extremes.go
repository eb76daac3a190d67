package trainrun

import "math"

// extremeKey names a curve, or (series gone) the progress of a part, in one attempt.
type extremeKey struct {
	series  uint32
	part    uint16
	attempt int32
	file    uint32 // of rows without host, or of those that may say where a training begins
	event   Event  // of the latter
}

// found are indices of values, or of rows; -1 = none.
type found struct{ first, last, least, greatest, nonFinite, opening, batch int }

// ofNone is the attempt of rows of which nothing is kept for its own sake.
const ofNone = -1

// extremes marks what thinning keeps of each of the newest attempt numbers and, where more than numbers tells attempts apart, of each of
// the newest attempts as they are known.
func (f *Fold) extremes() (values, rows []bool) {
	t := &f.rows
	owners := make([]int32, len(t.values)) // the row of each value
	numbers := make([]int32, len(t.rows))
	for i := range t.rows {
		r := &t.rows[i]
		for j := r.from; j < r.from+r.n; j++ {
			owners[j] = int32(i)
		}
		if numbers[i] = ofNone; f.attempts.newest(int64(r.attempt), f.lim.extremes) {
			numbers[i] = r.attempt
		}
	}
	values, rows = f.extremesOf(numbers, owners), make([]bool, len(t.rows))
	f.progressOf(numbers, rows)
	if d := f.divided(); d != nil {
		attempts := d.lives(f.lim.extremes)
		markMore(values, f.extremesOf(attempts, owners))
		f.progressOf(attempts, rows)
		d.seg.keepBegun(rows)
		f.keepOthers(values, rows)
	}
	return values, rows
}

func markMore(marked, more []bool) {
	for i, m := range more {
		marked[i] = marked[i] || m
	}
}

// progressOf marks the rows of the lowest rank that say how far each attempt came in each part and file, and when and where it ran.
func (f *Fold) progressOf(attempts []int32, rows []bool) {
	t := &f.rows
	all, spans := map[extremeKey]*found{}, map[extremeKey]*found{}
	var done *found // of doneKey, which most rows share
	var doneKey extremeKey
	for i := range t.rows {
		r := &t.rows[i]
		if attempts[i] == ofNone || int64(r.rank) != f.parts.items[r.part].owner {
			continue
		}
		if k := (extremeKey{gone, r.part, attempts[i], r.file, r.event}); done == nil || k != doneKey {
			done, doneKey = entryOf(all, k), k
		}
		t.progress(done, i)
		t.span(spans, i, attempts[i])
	}
	markFound(all, rows)
	markFound(spans, rows)
}

// extremesOf marks the extremes of each curve in each attempt.
func (f *Fold) extremesOf(attempts, owners []int32) (values []bool) {
	t := &f.rows
	values = make([]bool, len(t.values))
	all := map[extremeKey]*found{}
	recent := make([]recentEntry, len(f.series.items))
	for j := range t.values {
		if a := attempts[owners[j]]; a != ofNone {
			t.extreme(all, recent, owners, a, j)
		}
	}
	markFound(all, values)
	t.companions(values, attempts, owners, false)
	t.companions(values, attempts, owners, true)
	return values
}

func markFound(all map[extremeKey]*found, marked []bool) {
	for _, e := range all {
		e.mark(marked)
	}
}

func (e *found) mark(marked []bool) {
	for _, i := range []int{e.first, e.last, e.least, e.greatest, e.nonFinite, e.opening, e.batch} {
		if i >= 0 {
			marked[i] = true
		}
	}
}

// companions marks, for each marked value, the values that replaced it: of one axis value, or of one batch, the latest record of each stream.
func (t *rowTable) companions(marked []bool, attempts, owners []int32, batches bool) {
	type spot struct {
		series  uint32
		attempt int32
		x, at   int64
	}
	type source struct {
		spot
		kind posKind
		file uint32
	}
	at := func(j int) source {
		r := &t.rows[owners[j]]
		s := spot{t.series[j], attempts[owners[j]], r.x(), 0}
		if batches && r.axis == AxisStep {
			s.at = r.epoch
		}
		return source{s, r.kind, r.file}
	}
	wanted := map[spot]bool{}
	var near [1 << 12]bool // spares most values the look into wanted
	sum := func(s *spot) uint64 { return (uint64(s.x)*31 + uint64(s.series)) % uint64(len(near)) }
	for j, m := range marked {
		if m {
			s := at(j).spot
			wanted[s], near[sum(&s)] = true, true
		}
	}
	latest := map[source]int{}
	for j := range marked {
		s := at(j)
		if !near[sum(&s.spot)] || !wanted[s.spot] {
			continue
		}
		if best, ok := latest[s]; !ok || t.rows[owners[j]].compareAge(&t.rows[owners[best]]) > 0 {
			latest[s] = j
		}
	}
	for _, j := range latest {
		marked[j] = true
	}
}

func entryOf(all map[extremeKey]*found, k extremeKey) *found {
	e := all[k]
	if e == nil {
		e = &found{-1, -1, -1, -1, -1, -1, -1}
		all[k] = e
	}
	return e
}

// better replaces *best by i when there is none yet or i comes before it.
func better(best *int, i int, before func(i, j int) bool) {
	if *best < 0 || before(i, *best) {
		*best = i
	}
}

// recentEntry spares most values of a series the map: they are of one attempt.
type recentEntry struct {
	attempt int32
	entry   *found
}

func (t *rowTable) extreme(all map[extremeKey]*found, recent []recentEntry, owners []int32, attempt int32, j int) {
	last := &recent[t.series[j]]
	if last.entry == nil || last.attempt != attempt {
		*last = recentEntry{attempt, entryOf(all, extremeKey{series: t.series[j], attempt: attempt})}
	}
	e := last.entry
	row := func(i int) *row { return &t.rows[owners[i]] }
	// Of one axis value the later row counts, and so it does for the first and the last one.
	newer := func(i, k int) bool { return row(i).compareAge(row(k)) > 0 }
	lower := func(i, k int) bool {
		a, b := row(i).x(), row(k).x()
		if row(i).axis == AxisOrder {
			return !newer(i, k)
		}
		return a < b || a == b && newer(i, k)
	}
	better(&e.first, j, lower)
	better(&e.last, j, func(i, k int) bool {
		if a, b := row(i).x(), row(k).x(); row(i).axis != AxisOrder && a != b {
			return a > b
		}
		return newer(i, k)
	})
	if row(j).axis == AxisStep {
		better(&e.batch, j, func(i, k int) bool { return row(i).later(row(k)) })
		better(&e.opening, j, func(i, k int) bool { return row(k).later(row(i)) }) // with the last of the least steps it proves that steps begin anew
	}
	v := t.values[j]
	if math.IsNaN(v) || math.IsInf(v, 0) {
		better(&e.nonFinite, j, lower)
		return
	}
	better(&e.least, j, func(i, k int) bool {
		return t.values[i] < t.values[k] || t.values[i] == t.values[k] && lower(i, k)
	})
	better(&e.greatest, j, func(i, k int) bool {
		return t.values[i] > t.values[k] || t.values[i] == t.values[k] && lower(i, k)
	})
}

// progress finds the rows of a part and attempt with the lowest and highest step, the lowest and highest epoch, and the most
// completed epochs.
func (t *rowTable) progress(e *found, i int) {
	by := func(value func(r *row) int64, highest bool) func(i, j int) bool {
		return func(i, j int) bool {
			a, b := value(&t.rows[i]), value(&t.rows[j])
			if a != b {
				return a > b == highest
			}
			return t.rows[i].compareAge(&t.rows[j]) > 0
		}
	}
	step := func(r *row) int64 { return r.step }
	epoch := func(r *row) int64 { return r.epoch }
	if t.rows[i].step >= 0 {
		better(&e.first, i, by(step, false))
		better(&e.last, i, by(step, true))
	}
	if t.rows[i].epoch >= 0 {
		better(&e.least, i, by(epoch, false))
		better(&e.greatest, i, by(epoch, true))
	}
	better(&e.nonFinite, i, by(func(r *row) int64 { return r.done }, true))
}
