package trainprofile

import "strings"

// Bounds of the memory of shapes; keys come from data.
const (
	maxShapes    = 128
	maxShapeKeys = 64
)

// shape is what the keys of an object, in their order, say. The rows of a stream have few shapes, so what follows from keys
// alone is found out once.
type shape struct {
	keys  []string
	known bool // the rest is filled in
	mask  mask
	// recordKeys tells whether some key may be a record's.
	recordKeys bool
	rules      map[*Profile][]*rule // that are met, of profiles whose rules ask for keys alone
}

// shapeOf gives the shape of the object that is open, nil when it is not remembered.
func (m *Mapper) shapeOf(w *view) *shape {
	if len(w.entries) > maxShapeKeys {
		return nil
	}
	const prime = 1099511628211
	h := uint64(len(w.entries))
	for i := range w.entries {
		key := w.entries[i].key
		if key == "" || len(key) > maxCachedKey {
			return nil
		}
		h = (h ^ uint64(len(key))) * prime
		h = (h ^ uint64(key[0])) * prime
		h = (h ^ uint64(key[len(key)/2])) * prime
		h = (h ^ uint64(key[len(key)-1])) * prime
	}
	s, ok := m.shapes[h]
	if !ok {
		if len(m.shapes) >= maxShapes {
			return nil
		}
		s = newShape(w)
		m.shapes[h] = s
		return s
	}
	if !s.fits(w) {
		return nil // another one of the same hash
	}
	return s
}

func newShape(w *view) *shape {
	s := &shape{rules: map[*Profile][]*rule{}}
	for i := range w.entries {
		s.keys = append(s.keys, strings.Clone(w.entries[i].key))
	}
	return s
}

func (s *shape) fits(w *view) bool {
	if len(s.keys) != len(w.entries) {
		return false
	}
	for i, key := range s.keys {
		if w.entries[i].key != key {
			return false
		}
	}
	return true
}

// match finds the rules of a profile that the object meets.
func (m *Mapper) match(p *Profile) {
	m.matched = m.matched[:0]
	byKeys := m.shape != nil && m.root == m.base && p.byKeys
	if p.sparse && m.root.dropEmpty() {
		byKeys = false
	}
	if byKeys {
		if rules, ok := m.shape.rules[p]; ok {
			m.matched = append(m.matched, rules...)
			return
		}
	}
	for _, r := range p.rules {
		if !r.when.met(&m.views, m.root) {
			continue
		}
		m.matched = append(m.matched, r)
		if !r.goesOn {
			break
		}
	}
	if byKeys {
		m.shape.rules[p] = append([]*rule(nil), m.matched...)
	}
}

// asksKeys tells whether a condition depends on nothing but the keys of the object.
func (c *condition) asksKeys() bool {
	if c == nil {
		return true
	}
	if len(c.In)+len(c.Type)+len(c.Match)+len(c.Equals)+len(c.Same) > 0 || c.Not != nil && !c.Not.asksKeys() {
		return false
	}
	for _, refs := range [][]ref{c.Has, c.HasAny, c.Lacks} {
		for _, r := range refs {
			if len(r) > 1 {
				return false
			}
		}
	}
	for _, all := range [][]condition{c.Any, c.All} {
		for i := range all {
			if !all[i].asksKeys() {
				return false
			}
		}
	}
	return true
}
