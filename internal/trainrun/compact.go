package trainrun

import (
	"slices"
	"sort"
)

// compact brings the fold into its canonical form: tables of names cut to their bounds and sorted, rows without what other
// ranks own and what thinning leaves out, sorted. Two folds of one set of records are equal afterwards.
func (f *Fold) compact() {
	f.full = false
	if !f.rows.dirty {
		return
	}
	before := f.parts.items
	parts := f.parts.cut(f.lim.parts)
	hosts := f.hosts.cut(f.lim.hosts)
	series := f.series.cut(f.lim.series, before, parts)
	f.renumber(parts, hosts, series)
	f.thin()
	f.rows.sort()
	f.rows.dirty = false
	f.rows.floor = f.rows.stored()
}

// renumber gives rows and values their new numbers and drops what is gone: parts, series, ranks, and values of a rank that
// does not own the series any more.
func (f *Fold) renumber(parts, hosts, series []uint32) {
	t := &f.rows
	rows := t.rows[:0]
	n := uint32(0)
	recent, known := int32(-1), false // most rows are of the same rank
	for _, r := range t.rows {
		if r.rank != recent {
			recent, known = r.rank, f.ranks.has(int64(r.rank))
		}
		part := parts[r.part]
		if part == gone || !known {
			continue
		}
		from := n
		for i := r.from; i < r.from+r.n; i++ {
			id := series[t.series[i]]
			if id == gone || f.series.items[id].owner != int64(r.rank) {
				continue
			}
			t.series[n], t.values[n] = id, t.values[i]
			n++
		}
		if n == from && int64(r.rank) != f.parts.items[part].owner {
			continue
		}
		if r.host != lostHost {
			r.host = uint16(hosts[r.host])
		}
		r.part, r.from, r.n = uint16(part), from, n-from
		rows = append(rows, r)
	}
	t.rows, t.series, t.values = rows, t.series[:n], t.values[:n]
}

// thin drops rows below the level of their rank, but keeps extremes: the first, last, least and greatest value of each series in each of
// the newest attempts, and the rows that prove how far an attempt came. Attempts of different numbers have theirs in any order of arrival, those of one number in the order of their stream.
func (f *Fold) thin() {
	t := &f.rows
	below := f.belowLevel()
	if below == nil {
		return
	}
	keepValue, keepRow := f.extremes()
	if f.scarce() {
		f.keepWhatCounts(keepValue, keepRow)
	}
	rows := t.rows[:0]
	n := uint32(0)
	for i, r := range t.rows {
		from := n
		for j := r.from; j < r.from+r.n; j++ {
			if !below[i] || keepValue[j] {
				t.series[n], t.values[n] = t.series[j], t.values[j]
				n++
			}
		}
		if below[i] && n == from && !keepRow[i] {
			continue
		}
		r.from, r.n = from, n-from
		rows = append(rows, r)
	}
	t.rows, t.series, t.values = rows, t.series[:n], t.values[:n]
}

// belowLevel says which rows are to be thinned out, nil when none is.
func (f *Fold) belowLevel() []bool {
	type pair struct{ epoch, step int }
	levels := make(map[int32]pair, len(f.ranks.items))
	any := false
	for i := range f.ranks.items {
		e, s := f.levels(&f.ranks.items[i])
		levels[int32(f.ranks.items[i].rank)] = pair{e, s}
		any = any || e > 0 || s > 0
	}
	if !any {
		return nil
	}
	below := make([]bool, len(f.rows.rows))
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		l := levels[r.rank]
		if r.axis.coarse() {
			below[i] = r.level() < l.epoch
		} else {
			below[i] = r.level() < l.step
		}
	}
	return below
}

func (t *rankTable) has(rank int64) bool { return t.find(rank) != nil }

// sort orders the rows, gives their values the same order, and drops what is there twice.
func (t *rowTable) sort() {
	for i := range t.rows {
		t.rows[i].sortValues(t)
	}
	if t.inOrder() && 4*len(t.rows) >= cap(t.rows) { // else room is given back
		return
	}
	order := make([]uint32, len(t.rows))
	for i := range order {
		order[i] = uint32(i)
	}
	compare := func(a, b uint32) int { return t.compareRows(&t.rows[a], &t.rows[b]) }
	if !slices.IsSortedFunc(order, compare) {
		slices.SortFunc(order, compare)
	}
	order = slices.CompactFunc(order, func(a, b uint32) bool { return compare(a, b) == 0 })
	rows := make([]row, 0, len(order))
	values := make([]float64, 0, len(t.values))
	series := make([]uint32, 0, len(t.series))
	for _, i := range order {
		r := t.rows[i]
		from := uint32(len(values))
		values = append(values, t.values[r.from:r.from+r.n]...)
		series = append(series, t.series[r.from:r.from+r.n]...)
		r.from = from
		rows = append(rows, r)
	}
	t.rows, t.values, t.series = rows, values, series
}

// inOrder says that sort has nothing to do: rows and values stand as they came from one stream.
func (t *rowTable) inOrder() bool {
	from := uint32(0)
	for i := range t.rows {
		r := &t.rows[i]
		if r.from != from || i > 0 && t.compareRows(&t.rows[i-1], r) >= 0 {
			return false
		}
		from += r.n
	}
	return true
}

// sortValues orders the values of a row by series.
func (r *row) sortValues(t *rowTable) {
	series, values := t.series[r.from:r.from+r.n], t.values[r.from:r.from+r.n]
	if slices.IsSorted(series) {
		return
	}
	if len(series) > 64 {
		sort.Sort(bySeries{series, values})
		return
	}
	for i := 1; i < len(series); i++ {
		for j := i; j > 0 && series[j] < series[j-1]; j-- {
			series[j], series[j-1] = series[j-1], series[j]
			values[j], values[j-1] = values[j-1], values[j]
		}
	}
}

type bySeries struct {
	series []uint32
	values []float64
}

func (s bySeries) Len() int           { return len(s.series) }
func (s bySeries) Less(i, j int) bool { return s.series[i] < s.series[j] }
func (s bySeries) Swap(i, j int) {
	s.series[i], s.series[j] = s.series[j], s.series[i]
	s.values[i], s.values[j] = s.values[j], s.values[i]
}
