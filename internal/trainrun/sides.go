package trainrun

import "slices"

// States gives the results of a run. A run has one, that of State, also when many hosts work on it, rank by rank or one after
// the other. Hosts from which rank 0 wrote at the same time under one id are as many runs: the first of them owns the
// run, and each other one has a State of its own, made of its own records.
//
//   - A record belongs to the host that it names; one that names none to the only host that its file names.
//   - When a file names no host, or several, and its records without host are work (starts, rows, checkpoints), nobody can
//     tell whose: they have a State of their own, with host "".
//   - Otherwise (a launcher's run.end, logs) they belong to every State.
//   - Everything else, other hosts included, belongs to the owner.
//
// The owner's State is the first, the others follow in the order of the conflict.
func (f *Fold) States() []*State {
	whole := f.State()
	if whole.Conflict == nil {
		return []*State{whole}
	}
	s := newSides(f, whole.Conflict)
	out := make([]*State, len(s.hosts))
	for i := range s.hosts {
		out[i] = s.project(i).derive()
		out[i].Partial = whole.Partial
		out[i].Conflict = &Conflict{Hosts: s.hosts, Host: s.hosts[i].Host, Attempt: whole.Attempt, Records: whole.Records.Count}
	}
	return out
}

// Hosts names what could be the host of a State beside the owner's, "" included; none when all records are of one.
func (f *Fold) Hosts() []string {
	if len(f.cells.items) < 2 {
		return nil
	}
	out := []string{""}
	for i := range f.cells.items {
		if host := f.cells.items[i].key.host; host != "" {
			out = append(out, host)
		}
	}
	return out
}

// HostOf names the host that a record belongs to, as far as is known now: its own, or the only one that its file names.
func (f *Fold) HostOf(e *Entry) string {
	if e.Where.Host != "" {
		return e.Where.Host
	}
	return f.cells.only(fileOf(e))
}

// sides are the results of a run in conflict.
type sides struct {
	f      *Fold
	hosts  []HostSpan // of each side, the owner's first; host "" for work of nobody
	number map[string]int
}

const (
	owner   = 0
	allSide = -1
)

func newSides(f *Fold, c *Conflict) *sides {
	s := &sides{f: f, number: map[string]int{}}
	for i, h := range c.Hosts {
		if i == owner || f.cells.find(cellKey{host: h.Host}) != nil {
			s.number[h.Host] = len(s.hosts)
			s.hosts = append(s.hosts, h)
		}
	}
	for i := range f.cells.items {
		if c := &f.cells.items[i]; c.key.host == "" && f.cells.only(c.key.file) == "" && c.fold.works() {
			s.number[""] = len(s.hosts)
			s.hosts = append(s.hosts, HostSpan{})
			break
		}
	}
	return s
}

// works says that some record could have moved a curve.
func (f *Fold) works() bool {
	for _, e := range []Event{EventRunStart, EventEpochEnd, EventStepEnd, EventPhaseStart, EventPhaseEnd, EventCheckpointSave} {
		if f.counts[e] > 0 {
			return true
		}
	}
	return false
}

// of gives the side of a cell.
func (s *sides) of(k cellKey) int {
	c := s.f.cells.find(k)
	if k.host == "" {
		k.host = s.f.cells.only(k.file)
		switch {
		case k.host != "":
		case c != nil && c.works():
			return s.number[""]
		case c != nil || k.file != 0:
			return allSide
		}
	}
	return s.number[k.host] // the owner's for one that has none
}

// project makes the fold of a side: it shares what State only reads.
func (s *sides) project(side int) *Fold {
	f := s.f
	out := newFold(f.runID, f.lim)
	out.stepRoom = f.stepRoom
	in := func(k cellKey) bool { n := s.of(k); return n == side || n == allSide }
	for i := range f.cells.items {
		if c := &f.cells.items[i]; in(c.key) {
			out.absorb(c.fold)
		}
	}
	if side == owner && f.cells.rest != nil {
		out.absorb(f.cells.rest)
	}
	if side == owner {
		out.seen.hashes.forgotten = f.seen.hashes.forgotten
	}
	s.rows(out, side, in)
	for i := range out.ranks.items { // what was thinned out was so by the counts of all
		if all := f.ranks.find(out.ranks.items[i].rank); all != nil {
			out.ranks.items[i] = *all
		}
	}
	return out
}

// rows copies the rows of a side.
func (s *sides) rows(out *Fold, side int, in func(cellKey) bool) {
	t := &s.f.rows
	known := map[cellKey]bool{}
	for i := range t.rows {
		r := t.rows[i]
		k := cellKey{host: s.f.hosts.name(r.host), file: r.file}
		if k.host != "" {
			k.file = 0
		}
		mine, ok := known[k]
		if r.host == lostHost || k.host == "" && s.f.cells.find(k) == nil {
			mine, ok = side == owner, true // in the rest
		}
		if !ok {
			mine = in(k)
			known[k] = mine
		}
		if mine {
			out.copyRow(s.f, &r)
		}
	}
	out.rows.dirty = true
}

func (f *Fold) copyRow(o *Fold, r *row) {
	c := *r
	part, _ := f.parts.get(o.parts.items[r.part].name, f.lim.parts*f.lim.slack)
	c.part, c.from = uint16(part), uint32(len(f.rows.values))
	if r.host != lostHost {
		host, _ := f.hosts.get(o.hosts.name(r.host), f.lim.hosts*f.lim.slack)
		c.host = uint16(host)
	}
	for j := r.from; j < r.from+r.n; j++ {
		k := o.series.items[o.rows.series[j]].key
		k.part = part
		id, found := f.series.ids[k]
		if !found {
			continue // beyond a bound
		}
		f.rows.series = append(f.rows.series, id)
		f.rows.values = append(f.rows.values, o.rows.values[j])
	}
	c.n = uint32(len(f.rows.values)) - c.from
	f.rows.rows = append(f.rows.rows, c)
}

func (t *rankTable) find(rank int64) *rankCounts {
	i, ok := slices.BinarySearchFunc(t.items, rank, compareRank)
	if !ok {
		return nil
	}
	return &t.items[i]
}
