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
	proven       int64  // the greatest time up to here in its stream
	across       int64  // of a value that may be over epochs or over steps its place on the other of them, -1 = none
}

// compareStream is 0 for candidates of one stream. They have one rank: that of the series.
func (c *candidate) compareStream(o *candidate) int {
	return cmp.Or(cmp.Compare(c.kind, o.kind), cmp.Compare(c.file, o.file))
}

// compareWithin orders candidates of one stream, the older first.
func (c *candidate) compareWithin(o *candidate) int {
	return cmp.Or(cmp.Compare(c.pos, o.pos), cmp.Compare(c.time, o.time), cmp.Compare(c.index, o.index), cmp.Compare(c.crc, o.crc),
		cmp.Compare(math.Float64bits(c.v), math.Float64bits(o.v)))
}

// compareAcross orders candidates of different streams, the older first.
func (c *candidate) compareAcross(o *candidate) int {
	return cmp.Or(cmp.Compare(c.time, o.time), c.compareStream(o), c.compareWithin(o))
}

// candidates lists, by strand, the values that no newer attempt supersedes.
func (d *deriver) candidates() [][]candidate {
	f := d.f
	lists := make([][]candidate, len(d.strands))
	counts := make([]int, len(d.strands))
	for _, id := range f.rows.series {
		counts[d.into[id]]++
	}
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if r.n == 0 {
			continue
		}
		c := d.candidate(i)
		axis, there := axisPhase, false // of no strand
		for j := r.from; j < r.from+r.n; j++ {
			n, ok := d.strandOf(f.rows.series[j])
			if a := d.strands[n].key.axis; a != axis {
				axis = a
				c.x, there = d.at(i, axis)
				c.across = r.across(axis)
			}
			if !ok || !there {
				continue
			}
			if lists[n] == nil {
				lists[n] = make([]candidate, 0, counts[n])
			}
			c.v, c.at = f.rows.values[j], j
			lists[n] = append(lists[n], c)
		}
	}
	return lists
}

// candidate is a value of row i, but for the value and its place on the axes.
func (d *deriver) candidate(i int) candidate {
	r := &d.f.rows.rows[i]
	return candidate{pos: r.pos, time: r.time, attempt: d.attempt[i], kind: r.kind, file: r.file, crc: r.crc, index: r.index}
}

func (d *deriver) series() {
	f := d.f
	thinned := d.thinned()
	for id, list := range d.candidates() {
		s := &d.strands[id]
		if len(list) == 0 {
			continue
		}
		out := Series{
			Part: f.parts.items[s.key.part].name, Name: s.key.name, Axis: s.key.axis, Sampled: s.sampled, OtherRanks: s.others,
			Thinned: thinned[id],
		}
		d.points(&out, list)
		out.summarize(s)
		d.st.Series = append(d.st.Series, out)
		d.st.Sampled = d.st.Sampled || s.sampled
	}
	d.unplaced()
	slices.SortFunc(d.st.Series, func(a, b Series) int {
		return cmp.Or(compareText(a.Part, b.Part), compareText(a.Name, b.Name), cmp.Compare(a.Axis, b.Axis))
	})
	for i := 1; i < len(d.st.Series); i++ {
		a, b := &d.st.Series[i-1], &d.st.Series[i]
		b.Shared = a.Part == b.Part && a.Name == b.Name
	}
}

// points are the values that count.
func (d *deriver) points(of *Series, list []candidate) {
	axis := of.Axis
	if axis != AxisOrder {
		if list = heads(list); untimed(list) {
			d.note(NoteStreams, "")
		}
	}
	list = winners(list, axis)
	out := make([]Point, len(list))
	if axis == AxisOrder && list[0].x >= 0 {
		of.batches = make([]int64, len(list))
	}
	for i := range list {
		c := &list[i]
		out[i] = Point{c.x, c.v, c.time}
		if axis == AxisOrder {
			out[i].X = int64(i)
		}
		if of.batches != nil {
			of.batches[i] = c.x
		}
		if c.across >= 0 && of.Across == nil {
			of.Across = slices.Repeat([]int64{none}, len(list))
		}
		if of.Across != nil {
			of.Across[i] = c.across
		}
	}
	of.Points = out
}

// winners keeps of each axis value the one that counts, sorted: the higher attempt, of each stream the last, of these the
// latest, then the greater uid. Without axis the order of the batches or records is the axis.
func winners(list []candidate, axis Axis) []candidate {
	if axis == AxisOrder {
		return ordered(list)
	}
	if list = heads(list); isCurve(list) {
		return list
	}
	out := list[:0]
	for _, c := range list {
		if n := len(out); n == 0 || out[n-1].x != c.x {
			out = append(out, c)
		} else if c.compareAcross(&out[n-1]) > 0 {
			out[n-1] = c
		}
	}
	return out
}

// heads keeps of each axis value, in its highest attempt, the last of each stream, sorted.
func heads(list []candidate) []candidate {
	if isCurve(list) {
		return list
	}
	compare := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.attempt, a.attempt), a.compareStream(&b), b.compareWithin(&a))
	}
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
	out := list[:0]
	for _, c := range list {
		if n := len(out); n == 0 || out[n-1].x != c.x || out[n-1].attempt == c.attempt && out[n-1].compareStream(&c) != 0 {
			out = append(out, c)
		}
	}
	return out
}

// isCurve says that each candidate is alone at its axis value, and after those before it: nearly every series is.
func isCurve(list []candidate) bool {
	for i := 1; i < len(list); i++ {
		if list[i].x <= list[i-1].x {
			return false
		}
	}
	return true
}

// inOrder sorts by attempt, then each stream by place, and the streams into each other by time. A clock that steps back in a
// stream moves nothing there.
func inOrder(list []candidate) {
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.attempt, b.attempt), a.compareStream(&b), a.compareWithin(&b))
	})
	for i := range list {
		c := &list[i]
		if c.proven = c.time; i > 0 && list[i-1].attempt == c.attempt && list[i-1].compareStream(c) == 0 {
			c.proven = max(c.proven, list[i-1].proven)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.proven, b.proven))
	})
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (out *Series) summarize(s *series) {
	least, most := -1, -1
	for i := range out.Points {
		p := &out.Points[i]
		if !finite(p.V) {
			if out.NonFinite == 0 {
				x := p.X
				out.FirstNonFinite = &x
			}
			out.NonFinite++
			continue
		}
		out.Count++
		if least < 0 || p.V < out.Points[least].V {
			least = i
		}
		if most < 0 || p.V > out.Points[most].V {
			most = i
		}
	}
	if out.Count > 0 {
		low, high := out.Points[least], out.Points[most]
		out.Min, out.Max = &low, &high
	}
	out.Last = out.Points[len(out.Points)-1]
	if out.Thinned { // what was left out is only known as a number
		out.Count, out.NonFinite = s.values-s.nonFinite, s.nonFinite
	}
}

// thinned says by strand whether values were left out.
func (d *deriver) thinned() []bool {
	type level struct{ epoch, step int }
	levels := make(map[int64]level, len(d.f.ranks.items))
	for i := range d.f.ranks.items {
		c := &d.f.ranks.items[i]
		e, st := d.f.levels(c)
		levels[c.rank] = level{e, st}
	}
	out := make([]bool, len(d.strands))
	for id := range d.f.series.items {
		s := &d.f.series.items[id]
		if n, ok := d.strandOf(uint32(id)); ok && s.key.axis.coarse() {
			out[n] = out[n] || levels[s.owner].epoch > 0
		} else if ok {
			out[n] = out[n] || levels[s.owner].step > 0
		}
	}
	return out
}
