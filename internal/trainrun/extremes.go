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
	for i := range t.rows {
		r, a := &t.rows[i], attempts[i]
		if a == ofNone {
			continue
		}
		for j := r.from; j < r.from+r.n; j++ {
			last := &recent[t.series[j]]
			if last.entry == nil || last.attempt != a {
				*last = recentEntry{a, entryOf(all, extremeKey{series: t.series[j], attempt: a})}
			}
			t.extreme(last.entry, r, owners, int(j))
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
	sum := func(series uint32, x int64) uint64 { return (uint64(x)*31 + uint64(series)) % uint64(len(near)) }
	for j, m := range marked {
		if m {
			s := at(j).spot
			wanted[s], near[sum(s.series, s.x)] = true, true
		}
	}
	latest := map[source]int{}
	for j := range marked {
		if !near[sum(t.series[j], t.rows[owners[j]].x())] {
			continue
		}
		s := at(j)
		if !wanted[s.spot] {
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

// extreme takes a value of a row.
func (t *rowTable) extreme(e *found, r *row, owners []int32, j int) {
	v := t.values[j]
	of := func(i int) *row { return &t.rows[owners[i]] }
	if e.first < 0 || r.leads(of(e.first)) {
		e.first = j
	}
	if e.last < 0 || r.trails(of(e.last)) {
		e.last = j
	}
	if r.axis == AxisStep {
		if e.batch < 0 || r.later(of(e.batch)) {
			e.batch = j
		}
		if e.opening < 0 || of(e.opening).later(r) {
			e.opening = j // with the last of the least steps it proves that steps begin anew
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		if e.nonFinite < 0 || r.leads(of(e.nonFinite)) {
			e.nonFinite = j
		}
		return
	}
	if e.least < 0 || v < t.values[e.least] || v == t.values[e.least] && r.leads(of(e.least)) {
		e.least = j
	}
	if e.greatest < 0 || v > t.values[e.greatest] || v == t.values[e.greatest] && r.leads(of(e.greatest)) {
		e.greatest = j
	}
}

// leads and trails order rows of a curve by their axis. Of one axis value the later row counts, and so it does for the first and the last one.
func (r *row) leads(o *row) bool {
	if r.axis == AxisOrder {
		return r.compareAge(o) <= 0
	}
	a, b := r.x(), o.x()
	return a < b || a == b && r.compareAge(o) > 0
}

func (r *row) trails(o *row) bool {
	if a, b := r.x(), o.x(); r.axis != AxisOrder && a != b {
		return a > b
	}
	return r.compareAge(o) > 0
}

// progress finds the rows of a part and attempt with the lowest and highest step, the lowest and highest epoch, and the most
// completed epochs.
func (t *rowTable) progress(e *found, i int) {
	r, of := &t.rows[i], func(i int) *row { return &t.rows[i] }
	if r.step >= 0 {
		if e.first < 0 || r.beats(of(e.first), -r.step, -of(e.first).step) {
			e.first = i
		}
		if e.last < 0 || r.beats(of(e.last), r.step, of(e.last).step) {
			e.last = i
		}
	}
	if r.epoch >= 0 {
		if e.least < 0 || r.beats(of(e.least), -r.epoch, -of(e.least).epoch) {
			e.least = i
		}
		if e.greatest < 0 || r.beats(of(e.greatest), r.epoch, of(e.greatest).epoch) {
			e.greatest = i
		}
	}
	if e.nonFinite < 0 || r.beats(of(e.nonFinite), r.done, of(e.nonFinite).done) {
		e.nonFinite = i
	}
}

// beats says that a row has the greater one of two values; of equal ones the later row counts.
func (r *row) beats(o *row, own, others int64) bool {
	return own > others || own == others && r.compareAge(o) > 0
}
