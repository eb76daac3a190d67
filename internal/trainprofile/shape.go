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
	profiles   map[*Profile]*shapeOf
}

// shapeOf is what a profile makes of the keys of a shape.
type shapeOf struct {
	known bool
	rules []*rule  // that are met, when rules ask for keys alone
	plans [][]plan // of each spread group, what it does with each key
}

// planOf gives what a group does with the keys of the shape.
func (s *shapeOf) planOf(g *spreadGroup, w *view) []plan {
	for len(s.plans) <= g.id {
		s.plans = append(s.plans, nil)
	}
	if s.plans[g.id] == nil {
		plans := make([]plan, len(w.entries))
		for i := range w.entries {
			plans[i] = g.plan(w.entries[i].key)
		}
		s.plans[g.id] = plans
	}
	return s.plans[g.id]
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
	s := &shape{profiles: map[*Profile]*shapeOf{}}
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

func (s *shape) of(p *Profile) *shapeOf {
	of := s.profiles[p]
	if of == nil {
		of = &shapeOf{}
		s.profiles[p] = of
	}
	return of
}

// match finds the rules of a profile that the object meets.
func (m *Mapper) match(p *Profile) {
	m.matched, m.shaped = m.matched[:0], nil
	if emptied := p.sparse && m.root.dropEmpty(); !emptied && m.shape != nil && m.root == m.base {
		m.shaped = m.shape.of(p)
	}
	byKeys := m.shaped != nil && p.byKeys
	if byKeys && m.shaped.known {
		m.matched = append(m.matched, m.shaped.rules...)
		return
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
		m.shaped.known, m.shaped.rules = true, append([]*rule(nil), m.matched...)
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
