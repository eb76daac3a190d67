package trainprofile

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// indexFrom is the number of keys from which on a look-up uses an index instead of a scan.
const indexFrom = 24

// view is an object as rules see it: keys without surrounding white space, and for each whether a rule used it.
type view struct {
	entries []entry
	index   map[string]int
	facts   []int // the entries that are facts
	padded  bool  // some key has white space around it
}

type entry struct {
	key    string
	value  pcommon.Value
	child  *view  // the value's own view, when a rule looked into it
	origin *entry // where it stands in the object, when an envelope was opened
	hidden bool   // the envelope's: patterns do not see it, its exact name finds it
	fact   bool   // nobody wrote it as a key: its name begins with factMark, and only facts are found by such a name
	used   bool
	parts  uint64 // elements of a list that were used, the first 64
	held   bool   // it was not understood: it stays where it is
}

func (e *entry) use() {
	for ; e != nil; e = e.origin {
		e.used = true
	}
}

func (e *entry) hold() {
	for ; e != nil; e = e.origin {
		e.held = true
	}
}

func (w *view) fill(m pcommon.Map) {
	for k, v := range m.All() {
		key := strings.TrimSpace(k)
		w.padded = w.padded || len(key) != len(k)
		e := w.next()
		e.key, e.value = key, v
	}
	w.makeIndex()
}

// next gives one more entry, which is empty: those that are not used are cleared. An entry is large, and it is spared a copy.
func (w *view) next() *entry {
	if n := len(w.entries); n < cap(w.entries) {
		w.entries = w.entries[:n+1]
	} else {
		w.entries = append(w.entries, entry{})
	}
	return &w.entries[len(w.entries)-1]
}

func (w *view) makeIndex() {
	for i := range w.entries {
		if w.entries[i].fact {
			w.facts = append(w.facts, i)
		}
	}
	if len(w.entries) < indexFrom {
		return
	}
	if w.index == nil {
		w.index = make(map[string]int, len(w.entries))
	}
	for i := len(w.entries) - 1; i >= 0; i-- {
		w.index[w.entries[i].key] = i // of equal keys the first counts
	}
}

func (w *view) clear() {
	clear(w.entries)
	w.entries = w.entries[:0]
	if len(w.index) > 1024 {
		w.index = nil
	}
	clear(w.index)
	w.facts, w.padded = w.facts[:0], false
}

// dropEmpty forgets the cells of a table's row that hold nothing; it tells whether there are such. A null stays where it is, an
// empty text goes.
func (w *view) dropEmpty() (dropped bool) {
	for i := range w.entries {
		e := &w.entries[i]
		text := e.value.Type() == pcommon.ValueTypeStr && strings.TrimSpace(e.value.Str()) == ""
		if e.hidden || !text && e.value.Type() != pcommon.ValueTypeEmpty {
			continue
		}
		if at, ok := w.index[e.key]; ok && at == i {
			delete(w.index, e.key)
		}
		e.key, e.hidden, dropped = "", true, true
		if text {
			e.use()
		}
	}
	return dropped
}

// find gives the index of a key, or -1. A key of the data that looks like the name of a fact is not found.
func (w *view) find(key string) int {
	if strings.HasPrefix(key, factMark) {
		for _, i := range w.facts {
			if w.entries[i].key == key {
				return i
			}
		}
		return -1
	}
	if len(w.entries) >= indexFrom {
		if i, ok := w.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range w.entries {
		if w.entries[i].key == key {
			return i
		}
	}
	return -1
}

// views hands out the views of one object and of the objects in it.
type views struct {
	pool []*view
	used int
}

func (vs *views) reset() {
	for _, w := range vs.pool[:vs.used] {
		w.clear()
	}
	vs.used = 0
}

func (vs *views) open(m pcommon.Map) *view {
	w := vs.empty()
	w.fill(m)
	return w
}

func (vs *views) empty() *view {
	if vs.used == len(vs.pool) {
		vs.pool = append(vs.pool, &view{})
	}
	w := vs.pool[vs.used]
	vs.used++
	return w
}

// place is where a ref leads: the entry that owns the value, the value, and the views on the way, to mark them.
type place struct {
	owner   *view
	at      int
	value   pcommon.Value
	element int // of the list that the entry holds, counted from 1; 0: the entry itself
}

func (vs *views) child(w *view, i int) *view { return vs.childOf(&w.entries[i]) }

func (vs *views) childOf(e *entry) *view {
	if e.child != nil || e.value.Type() != pcommon.ValueTypeMap {
		return e.child
	}
	if e.origin != nil {
		e.child = vs.childOf(e.origin)
	} else {
		e.child = vs.open(e.value.Map())
	}
	return e.child
}

// lookup follows a ref. What lies below a list belongs to the entry that holds the list.
func (vs *views) lookup(w *view, r ref) (place, bool) {
	p := place{owner: w, at: -1}
	for n, part := range r {
		if part.isList || p.at >= 0 && p.value.Type() != pcommon.ValueTypeMap {
			return vs.below(p, r[n:])
		}
		if p.at >= 0 {
			if p.owner = vs.child(p.owner, p.at); p.owner == nil {
				return place{}, false
			}
		}
		if p.at = p.owner.find(part.key); p.at < 0 {
			return place{}, false
		}
		p.value = p.owner.entries[p.at].value
	}
	return p, p.at >= 0
}

// below follows the rest of a ref from a list on; nothing there has a view.
func (vs *views) below(p place, rest ref) (place, bool) {
	if rest[0].isList {
		p.element = rest[0].index + 1
	}
	for _, part := range rest {
		switch {
		case part.isList && p.value.Type() == pcommon.ValueTypeSlice && part.index < p.value.Slice().Len():
			p.value = p.value.Slice().At(part.index)
		case !part.isList && p.value.Type() == pcommon.ValueTypeMap:
			v, ok := p.value.Map().Get(part.key)
			if !ok {
				return place{}, false
			}
			p.value = v
		default:
			return place{}, false
		}
	}
	return p, true
}

// use marks the entry that a ref led to; one that holds a list only when all its elements were used.
func (p place) use() {
	e := &p.owner.entries[p.at]
	if p.element > 0 {
		n := e.value.Slice().Len()
		if p.element <= 64 {
			e.parts |= 1 << (p.element - 1)
		}
		if n > 64 || e.parts != 1<<n-1 {
			return
		}
	}
	e.use()
}

// hold keeps the entry from being moved by name alone.
func (p place) hold() { p.owner.entries[p.at].hold() }

// leftovers removes from an object what was used, in nested objects too; an object that lost everything goes as well.
func leftovers(m pcommon.Map, w *view) {
	i := -1
	m.RemoveIf(func(_ string, v pcommon.Value) bool {
		i++
		e := &w.entries[i]
		if e.used || e.child == nil {
			return e.used
		}
		leftovers(v.Map(), e.child)
		return v.Map().Len() == 0 && e.child.anyUsed()
	})
}

func (w *view) anyUsed() bool {
	for i := range w.entries {
		if w.entries[i].used || w.entries[i].child != nil && w.entries[i].child.anyUsed() {
			return true
		}
	}
	return false
}

// inside gives the view of the object that a ref leads to, nil when it leads to none.
func (vs *views) inside(w *view, r ref) *view {
	if len(r) == 0 {
		return w
	}
	p, ok := vs.lookup(w, r)
	if !ok {
		return nil
	}
	return vs.child(p.owner, p.at)
}
