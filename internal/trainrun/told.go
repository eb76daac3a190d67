package trainrun

import (
	"slices"
	"strings"
)

// Some loggers tell the parameters one by one, in lines that are no run.start.

// maxParam bounds a parameter that was told alone.
const maxParam = 4 << 10

// paramTable keeps, by path, the newest value of each parameter that was told alone: the least paths.
type paramTable struct {
	items   []param
	dropped sketch
	bytes   int64
}

type param struct {
	path string // its keys, joined by zero bytes
	register[Tree]
}

func (t *paramTable) add(path string, v Tree, at *stamp, limit int) {
	i, found := slices.BinarySearchFunc(t.items, path, func(p param, path string) int { return compareText(p.path, path) })
	if !found {
		if i >= limit {
			t.dropped.add(path)
			return
		}
		t.items = slices.Insert(t.items, i, param{path: path})
		t.bytes += int64(len(path)) + maxParam/16
	}
	t.items[i].offer(at, v, newest)
	if n := len(t.items); n > limit {
		t.dropped.add(t.items[n-1].path)
		t.bytes -= int64(len(t.items[n-1].path)) + maxParam/16
		t.items = t.items[:n-1]
	}
}

// tellParams takes the parameters and the plan that a log record told.
func (f *Fold) tellParams(e *Entry, at *stamp) {
	if e.PlannedEpochs.Set || e.PlannedSteps.Set {
		f.planned(f.partOf(e.Part), e, at)
	}
	if e.Detail == nil {
		return
	}
	f.events.add(e.Detail.Said)
	if m, ok := e.Detail.Params.(map[string]any); ok {
		f.tellBelow("", m, at)
	}
}

// maxEvents bounds the events off the list that a result names.
const maxEvents = 4

// eventSet holds the least events that are off the list, sorted.
type eventSet []string

func (s *eventSet) add(event string) {
	i, found := slices.BinarySearch(*s, event)
	if found || event == "" || i >= maxEvents {
		return
	}
	*s = slices.Insert(*s, i, event)
	*s = (*s)[:min(len(*s), maxEvents)]
}

func (s *eventSet) write(w *writer) {
	w.uint(uint64(len(*s)))
	for _, event := range *s {
		w.text(event)
	}
}

func (s *eventSet) read(r *reader) {
	for range r.count(1) {
		s.add(r.text())
	}
}

func (f *Fold) tellBelow(prefix string, m map[string]any, at *stamp) {
	for _, k := range sortedKeys(m) {
		path := strings.ReplaceAll(k, "\x00", "\uFFFD")
		if prefix != "" {
			path = prefix + "\x00" + path
		}
		below, ok := m[k].(map[string]any)
		switch {
		case ok && len(below) > 0:
			f.tellBelow(path, below, at)
		case treeSize(m[k]) > maxParam || len(path) > maxParam:
			f.cut++
		default:
			f.told.add(path, m[k], at, f.lim.params)
		}
	}
}

// params joins what was told one by one with what a run.start said, which goes before.
func (d *deriver) params() {
	if len(d.f.told.items) == 0 {
		return
	}
	out := map[string]any{}
	for i := range d.f.told.items {
		p := &d.f.told.items[i]
		put(out, strings.Split(p.path, "\x00"), p.pick(newest).value)
	}
	if m, ok := d.st.Params.(map[string]any); ok {
		overlay(out, m)
	}
	d.st.Params = out
}

// put sets a value; where one path is the beginning of another, the longer one stays.
func put(m map[string]any, path []string, v Tree) {
	for _, k := range path[:len(path)-1] {
		next, ok := m[k].(map[string]any)
		if !ok || next == nil {
			next = map[string]any{}
			m[k] = next
		}
		m = next
	}
	m[path[len(path)-1]] = v
}

// overlay sets the values of over in m. The maps of over stay as they are.
func overlay(m, over map[string]any) {
	for k, v := range over {
		below, ok := v.(map[string]any)
		under, also := m[k].(map[string]any)
		if ok && also {
			overlay(under, below)
		} else {
			m[k] = v
		}
	}
}

func (t *paramTable) write(w *writer) {
	w.uint(uint64(len(t.items)))
	for i := range t.items {
		w.text(t.items[i].path)
		writeRegister(w, &t.items[i].register, func(w *writer, v *Tree) { w.tree(*v) })
	}
	t.dropped.write(w)
}

func (t *paramTable) read(r *reader) {
	for i := range r.count(12) {
		p := param{path: r.text()}
		readRegister(r, &p.register, func(r *reader) Tree { return r.tree(0) })
		if len(p.items) == 0 || i > 0 && t.items[i-1].path >= p.path {
			r.fail("want another parameter")
		}
		if r.err != nil {
			return
		}
		t.items = append(t.items, p)
		t.bytes += int64(len(p.path)) + maxParam/16
	}
	t.dropped.read(r)
}
