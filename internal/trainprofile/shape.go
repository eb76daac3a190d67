package trainprofile

import (
	"slices"
	"strings"
)

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
	mask  mask // the profiles whose conditions the keys do not rule out
	met   mask // those whose conditions they meet
	// recordKeys tells whether some key may be a record's.
	recordKeys bool
	profiles   map[*Profile]*shapeOf
}

// shapeOf is what a profile makes of the keys of a shape.
type shapeOf struct {
	rules   []ruleAt  // those that the keys do not rule out
	plans   [][]plan  // of each spread group, what it does with each key
	sources []*source // of each step, its first source that the keys do not rule out; nil: not known yet
	rooms   []int     // of each rule, the keys of the last body that it made
}

// ruleAt is a rule that an object of the shape may meet, or always does.
type ruleAt struct {
	rule   *rule
	always bool
}

// noSource stands for a step that finds nothing in objects of the shape.
var noSource = &source{}

// sourceOf gives the first source of a step that an object of the shape may have; what comes before it gives nothing.
func (s *shapeOf) sourceOf(step *setStep, w *view) *source {
	for len(s.sources) <= step.id {
		s.sources = append(s.sources, nil)
	}
	if s.sources[step.id] == nil {
		src := &step.source
		for src != nil && !src.mayBeIn(w) {
			src = src.or
		}
		if src == nil {
			src = noSource
		}
		s.sources[step.id] = src
	}
	if s.sources[step.id] == noSource {
		return nil
	}
	return s.sources[step.id]
}

// mayBeIn tells whether the keys of an object leave it open that a source is there.
func (src *source) mayBeIn(w *view) bool {
	if len(src.ifHas) > 0 && w.find(src.ifHas[0].key) < 0 || len(src.from) > 0 && w.find(src.from[0].key) < 0 {
		return false
	}
	if slices.ContainsFunc(src.lacks, func(r ref) bool { return len(r) == 1 && w.find(r[0].key) >= 0 }) {
		return false
	}
	if src.like != nil && !slices.ContainsFunc(w.entries, func(e entry) bool { return !e.hidden && src.like.matches(e.key) }) {
		return false
	}
	for _, parts := range [][]source{src.concat, src.sum} {
		for i := range parts {
			if !parts[i].mayBeIn(w) {
				return false
			}
		}
	}
	return true
}

// room gives how many keys the last body of a rule had, 0 when it made none.
func (s *shapeOf) room(r *rule) *int {
	for len(s.rooms) <= r.id {
		s.rooms = append(s.rooms, 0)
	}
	return &s.rooms[r.id]
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

func (s *shape) of(p *Profile, w *view) *shapeOf {
	of := s.profiles[p]
	if of == nil {
		of = &shapeOf{}
		s.profiles[p] = of
		for _, r := range p.rules {
			may, always := r.when.byKeys(w)
			if may {
				of.rules = append(of.rules, ruleAt{r, always})
			}
			if always && !r.goesOn {
				break
			}
		}
	}
	return of
}

// match finds the rules of a profile that the object meets.
func (m *Mapper) match(p *Profile) {
	m.matched, m.shaped = m.matched[:0], nil
	if emptied := p.sparse && m.root.dropEmpty(); !emptied && m.shape != nil && m.root == m.base {
		m.shaped = m.shape.of(p, m.root)
		for _, t := range m.shaped.rules {
			if !t.always && !t.rule.when.met(&m.views, m.root) {
				continue
			}
			m.matched = append(m.matched, t.rule)
			if !t.rule.goesOn {
				return
			}
		}
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
}
