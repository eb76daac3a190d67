package trainrun

import "slices"

// maxTold bounds the streams that a register tells apart.
const maxTold = 64

// told is a value and the record that told it.
type told[T any] struct {
	at    stamp
	value T
}

// register keeps what decides a single value: of the lowest rank that told one, and its newest attempt, the last value of
// each stream, and of these the one with the latest time. A value of a stream that was replaced there does not come back,
// which is why each stream has its own. With first it is the first value of each stream, and the earliest of these.
type register[T any] struct {
	items []told[T] // by stream, all of one rank and attempt
}

func (r *register[T]) offer(at *stamp, v T, first bool) {
	if len(r.items) > 0 {
		if c := at.compareLead(&r.items[0].at); c > 0 {
			return
		} else if c < 0 {
			r.items = r.items[:0]
		}
	}
	i, found := 0, len(r.items) == 1 && r.items[0].at.compareStream(at) == 0
	if !found {
		i, found = slices.BinarySearchFunc(r.items, *at, func(t told[T], at stamp) int { return t.at.compareStream(&at) })
	}
	switch {
	case !found:
		if i == maxTold {
			return
		}
		r.items = slices.Insert(r.items, i, told[T]{*at, v})
		r.items = r.items[:min(len(r.items), maxTold)]
	case at.compareWithin(&r.items[i].at) < 0 == first:
		r.items[i] = told[T]{*at, v}
	}
}

// pick gives the value that counts, nil when there is none.
func (r *register[T]) pick(first bool) *told[T] {
	var best *told[T]
	for i := range r.items {
		t := &r.items[i]
		if best == nil || t.at.compareAcross(&best.at) < 0 == first {
			best = t
		}
	}
	return best
}

func (r *register[T]) absorb(o *register[T], first bool) {
	for i := range o.items {
		r.offer(&o.items[i].at, o.items[i].value, first)
	}
}

// Of a register the newest value counts, or the oldest.
const (
	newest = false
	oldest = true
)

// origin keeps what the newest run.start said, and what the first other record of the newest attempt said.
type origin[T any] struct{ start, rest register[T] }

func (o *origin[T]) offer(at *stamp, v T) {
	if at.event == EventRunStart {
		o.start.offer(at, v, newest)
	} else {
		o.rest.offer(at, v, oldest)
	}
}

func (o *origin[T]) absorb(p *origin[T]) {
	o.start.absorb(&p.start, newest)
	o.rest.absorb(&p.rest, oldest)
}

// value prefers the run.start, unless other records are of a newer attempt, or of a lower rank.
func (o *origin[T]) value() (v T) {
	s, r := o.start.pick(newest), o.rest.pick(oldest)
	switch {
	case s == nil && r == nil:
		return v
	case s == nil, r != nil && r.at.compareLead(&s.at) < 0:
		return r.value
	default:
		return s.value
	}
}

func writeRegister[T any](w *writer, g *register[T], value func(*writer, *T)) {
	w.uint(uint64(len(g.items)))
	for i := range g.items {
		w.stamp(&g.items[i].at)
		value(w, &g.items[i].value)
	}
}

func readRegister[T any](r *reader, g *register[T], value func(*reader) T) {
	for i := range r.count(12) {
		t := told[T]{at: r.stamp()}
		t.value = value(r)
		if i > 0 && (g.items[i-1].at.compareStream(&t.at) >= 0 || g.items[i-1].at.compareLead(&t.at) != 0) || i >= maxTold {
			r.fail("want another stream")
		}
		if r.err != nil {
			return
		}
		g.items = append(g.items, t)
	}
}
