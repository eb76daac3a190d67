package trainprofile

import "strings"

// maxKnownKeys bounds how many keys a mapper remembers what they say; keys come from data.
const maxKnownKeys = 4096

// keyFacts are what a key says of an object.
type keyFacts struct {
	mask   *mask // the profiles that it may be of
	record bool  // it may be a top-level key of a record
}

// candidates finds the profiles that the open object may be of.
func (m *Mapper) candidates(set *Set) *mask {
	if m.keysRead {
		return &m.mask
	}
	m.keysRead, m.recordKeys = true, false
	m.forget(set)
	s := m.shape
	if m.root != m.base {
		s = nil
	}
	if s != nil && s.known {
		m.mask, m.met, m.recordKeys = s.mask, s.met, s.recordKeys
		return &m.mask
	}
	m.mask = set.index.always
	for i := range m.root.entries {
		says := m.factsOf(set, m.root.entries[i].key)
		m.recordKeys = m.recordKeys || says.record
		if says.mask != nil {
			m.mask.add(says.mask)
		}
	}
	m.met = mask{}
	if s != nil {
		m.decideByKeys(set)
		s.known, s.mask, s.met, s.recordKeys = true, m.mask, m.met, m.recordKeys
	}
	return &m.mask
}

// decideByKeys finds out which of the conditions of the candidates the keys of the object rule out or meet by themselves.
func (m *Mapper) decideByKeys(set *Set) {
	for i, p := range set.profiles {
		for l := range levelAttributes {
			if !m.mask[l].has(i) {
				continue
			}
			may, always := p.condition(l).byKeys(m.root)
			if !may {
				m.mask[l].clear(i)
			}
			if always {
				m.met[l].set(i)
			}
		}
	}
}

// forget drops what keys said of the profiles of another set.
func (m *Mapper) forget(set *Set) {
	if m.knownOf == set {
		return
	}
	m.knownOf, m.known, m.longKeys = set, map[string]keyFacts{}, 0
	clear(m.plans)
	m.shapes, m.shape, m.nobodys = map[uint64]*shape{}, nil, nil
}

// factsOf gives what a key says, and remembers it.
func (m *Mapper) factsOf(set *Set, key string) keyFacts {
	m.forget(set)
	says, known := m.known[key]
	if !known {
		says = keyFacts{mask: set.index.look(key), record: isRecordKey(key)}
		if m.mayCache(len(m.known), maxKnownKeys, key) {
			m.known[strings.Clone(key)] = says
		}
	}
	return says
}

// recognise gives the profile whose condition of a level the open object meets, nil when there is none. When two profiles of
// different frameworks meet it and neither goes before the other by its order, there is none, and m.ambiguous says so.
func (m *Mapper) recognise(set *Set, l level) *Profile {
	may := &m.candidates(set)[l]
	if may.empty() {
		return nil
	}
	var found *Profile
	for i, p := range set.profiles {
		if found != nil && p.order != found.order {
			break
		}
		if !may.has(i) || !m.met[l].has(i) && !p.condition(l).met(&m.views, m.root) {
			continue
		}
		if found == nil {
			found = p
		} else if p.framework != found.framework || l == levelEnvelope {
			m.ambiguous = true
			return nil
		}
	}
	return found
}
