package trainrun

import (
	"cmp"
	"math"
	"slices"
)

// candidate is a value of a series.
type candidate struct {
	x, pos, time int64
	v            float64
	attempt      int32
	kind         posKind
	file         uint32
	crc, index   uint32
	at           uint32 // its place in the table
}

// wins orders candidates of one axis value; the greatest counts: the higher attempt, then the later record in its stream, then
// the later event time, then the greater uid.
func (c *candidate) wins(o *candidate) int {
	if d := cmp.Compare(c.attempt, o.attempt); d != 0 {
		return d
	}
	if d := cmp.Compare(c.kind, o.kind); d != 0 {
		return d
	}
	if d := cmp.Compare(c.pos, o.pos); d != 0 {
		return d
	}
	return cmp.Or(cmp.Compare(c.time, o.time), cmp.Compare(c.file, o.file), cmp.Compare(c.crc, o.crc),
		cmp.Compare(c.index, o.index), cmp.Compare(math.Float64bits(c.v), math.Float64bits(o.v)))
}

// candidates lists, by series, the values that no newer attempt supersedes.
func (d *deriver) candidates() [][]candidate {
	f := d.f
	lists := make([][]candidate, len(f.series.items))
	counts := make([]int, len(f.series.items))
	for _, id := range f.rows.series {
		counts[id]++
	}
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if r.n == 0 || d.covers(i) {
			continue
		}
		c := candidate{
			x: r.x(), pos: r.pos, time: r.time, attempt: d.attempt[i], kind: r.kind, file: r.file, crc: r.crc, index: r.index,
		}
		for j := r.from; j < r.from+r.n; j++ {
			id := f.rows.series[j]
			if lists[id] == nil {
				lists[id] = make([]candidate, 0, counts[id])
			}
			c.v, c.at = f.rows.values[j], j
			lists[id] = append(lists[id], c)
		}
	}
	return lists
}

func (d *deriver) series() {
	f := d.f
	thinned := d.thinned()
	for id, list := range d.candidates() {
		s := &f.series.items[id]
		if len(list) == 0 {
			continue
		}
		out := Series{
			Part: f.parts.items[s.key.part].name, Name: s.key.name, Axis: s.key.axis, Sampled: s.sampled, OtherRanks: s.others,
			Points: points(list, s.key.axis), Thinned: thinned(s),
		}
		out.summarize(s)
		d.st.Series = append(d.st.Series, out)
		d.st.Sampled = d.st.Sampled || s.sampled
	}
	slices.SortFunc(d.st.Series, func(a, b Series) int {
		return cmp.Or(compareText(a.Part, b.Part), compareText(a.Name, b.Name), cmp.Compare(a.Axis, b.Axis))
	})
	for i := 1; i < len(d.st.Series); i++ {
		a, b := &d.st.Series[i-1], &d.st.Series[i]
		b.Shared = a.Part == b.Part && a.Name == b.Name
	}
}

// points are the values that count.
func points(list []candidate, axis Axis) []Point {
	list = winners(list, axis)
	out := make([]Point, len(list))
	for i := range list {
		c := &list[i]
		out[i] = Point{c.x, c.v, c.time}
		if axis == AxisOrder {
			out[i].X = int64(i)
		}
	}
	return out
}

// winners keeps of each axis value the one that counts, sorted. Without axis the order of the records is the axis.
func winners(list []candidate, axis Axis) []candidate {
	ordered := axis == AxisOrder
	compare := func(a, b candidate) int {
		if c := cmp.Compare(a.x, b.x); c != 0 && !ordered {
			return c
		}
		return a.wins(&b)
	}
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
	if ordered {
		return list
	}
	out := list[:0]
	for i := range list {
		if i+1 == len(list) || list[i+1].x != list[i].x {
			out = append(out, list[i])
		}
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (out *Series) summarize(s *series) {
	for i := range out.Points {
		p := out.Points[i]
		if !finite(p.V) {
			if out.NonFinite == 0 {
				out.FirstNonFinite = &p.X
			}
			out.NonFinite++
			continue
		}
		out.Count++
		if out.Min == nil || p.V < out.Min.V {
			out.Min = &p
		}
		if out.Max == nil || p.V > out.Max.V {
			out.Max = &p
		}
	}
	out.Last = out.Points[len(out.Points)-1]
	if out.Thinned { // what was left out is only known as a number
		out.Count, out.NonFinite = s.values-s.nonFinite, s.nonFinite
	}
}

// thinned says whether values of a series were left out.
func (d *deriver) thinned() func(s *series) bool {
	type level struct{ epoch, step int }
	levels := make(map[int64]level, len(d.f.ranks.items))
	for i := range d.f.ranks.items {
		c := &d.f.ranks.items[i]
		e, st := d.f.levels(c)
		levels[c.rank] = level{e, st}
	}
	return func(s *series) bool {
		if s.key.axis == AxisEpoch {
			return levels[s.owner].epoch > 0
		}
		return levels[s.owner].step > 0
	}
}
