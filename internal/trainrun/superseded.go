package trainrun

import (
	"cmp"
	"slices"
)

// Superseded is what a newer attempt took over of a curve, as far as memory still holds it.
type Superseded struct {
	Attempt int64   // that told the points
	Points  []Point // by X
}

// Superseded gives what does not count any more of a surviving curve, the oldest attempt first. A curve without axis loses nothing.
func (f *Fold) Superseded(of *Series) []Superseded {
	now := f.placed()
	d, live := now.whole, now.live(of.Axis)
	var lists [][]candidate // by attempt
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if of.Axis == AxisOrder || f.parts.items[r.part].name != of.Part {
			continue
		}
		x := r.on(of.Axis)
		if live[i] || x < 0 || int(d.attempt[i]) == d.newest() { // the newest attempt loses lines that were written again
			continue
		}
		for j := r.from; j < r.from+r.n; j++ {
			n, ok := d.strandOf(f.rows.series[j])
			if k := &d.strands[n].key; !ok || k.axis != of.Axis || k.name != of.Name {
				continue
			}
			a := d.attempt[i]
			if lists == nil {
				lists = make([][]candidate, len(d.numbers))
			}
			c := d.candidate(i)
			c.x = x
			c.v, c.at = f.rows.values[j], j
			lists[a] = append(lists[a], c)
		}
	}
	var out []Superseded
	for a, list := range lists {
		if len(list) == 0 {
			continue
		}
		s := Superseded{Attempt: d.numbers[a]}
		for _, c := range winners(list, of.Axis) {
			s.Points = append(s.Points, Point{c.x, c.v, c.time})
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Superseded) int { return cmp.Compare(a.Attempt, b.Attempt) })
	return out
}

// live says which rows of the whole are on a curve.
func (d *deriver) live(axis Axis) []bool {
	out := make([]bool, len(d.whole.f.rows.rows))
	for i := range d.f.rows.rows {
		at := i
		if d.among != nil {
			at = d.among[i]
		}
		_, out[at] = d.at(i, axis)
	}
	return out
}
