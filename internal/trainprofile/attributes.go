package trainprofile

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Facts of a span or data point, beside its attributes.
const (
	factScope = factMark + "scope" // name of the instrumentation scope
	factItem  = factMark + "name"  // name of the span or metric
)

var none = pcommon.NewMap()

var itemFactNames = [...]string{factScope, factItem}

// itemFact is a fact as a value; the next item often has the same.
type itemFact struct {
	text  string
	value pcommon.Value
}

// Item is a log record, a span or a data point whose attributes are mapped.
type Item struct {
	Attributes  pcommon.Map
	Resource    pcommon.Map
	Scope, Name string
}

// AttributeOutcome is the result of MapAttributes.
type AttributeOutcome struct {
	Set      int  // attributes that were added
	Training bool // the item is a span of coarse work of a training, by its name
	Errors   []AttributeError
}

// AttributeError is an attribute that was not understood.
type AttributeError struct {
	Profile string
	FieldError
}

// MapAttributes adds to an item's attributes what those of frameworks and trackers say, its own or its resource's, in the
// words of the vocabulary. What stands there already is kept, and so are the attributes that were read.
func (m *Mapper) MapAttributes(set *Set, signal Signal, it Item) (out AttributeOutcome) {
	if !set.hasAttributes || !m.mayMap(set, it) {
		return out
	}
	m.openItem(it)
	defer m.views.reset() // keep nothing of the data
	may := &m.candidates(set)[levelAttributes]
	for i, p := range set.profiles {
		if !may.has(i) || !p.attributes.when.met(&m.views, m.root) {
			continue
		}
		out.Training = out.Training || signal == SignalSpan && anyMatches(p.attributes.spans, it.Name)
		for j := range p.attributes.set {
			step := &p.attributes.set[j]
			if _, own := it.Attributes.Get(step.key); own || !step.on[signal] {
				continue
			}
			if c, _, ok := m.read(p, &step.setStep); ok {
				c.putIn(it.Attributes, step.key)
				out.Set++
			}
		}
		for _, e := range m.errs {
			out.Errors = append(out.Errors, AttributeError{Profile: p.name, FieldError: e})
		}
		m.errs = m.errs[:0]
	}
	return out
}

// Concerns tells whether a section may be about what has these attributes. A resource that it is not about need not be
// given with each item.
func (m *Mapper) Concerns(set *Set, attributes pcommon.Map) bool {
	return set.hasAttributes && m.mayMap(set, Item{Attributes: attributes, Resource: none})
}

// Identities lists the attributes of a resource that name a run, or a part or an epoch of it: they describe what the resource
// did and belong on its log records and spans.
func (m *Mapper) Identities(set *Set, resource pcommon.Map) (keys []string) {
	it := Item{Attributes: resource, Resource: none}
	if !set.hasAttributes || !m.mayMap(set, it) {
		return nil
	}
	m.openItem(it)
	defer m.views.reset()
	may := &m.candidates(set)[levelAttributes]
	for i, p := range set.profiles {
		if !may.has(i) || !p.attributes.when.met(&m.views, m.root) {
			continue
		}
		for j := range p.attributes.set {
			if step := &p.attributes.set[j]; step.identity {
				if _, at, ok := m.read(p, &step.setStep); ok {
					for _, place := range at {
						keys = append(keys, place.owner.entries[place.at].key)
					}
				}
			}
		}
	}
	return keys
}

// openItem makes the view of an item: its facts, its attributes, its resource's.
func (m *Mapper) openItem(it Item) {
	m.views.reset()
	m.errs = m.errs[:0]
	m.stream, m.keysRead, m.shape = nil, false, nil
	w := m.views.empty()
	for i, text := range [...]string{it.Scope, it.Name} {
		if fact := &m.itemFacts[i]; text != "" {
			if fact.text != text || fact.value == (pcommon.Value{}) {
				fact.text, fact.value = text, pcommon.NewValueStr(text)
			}
			w.entries = append(w.entries, entry{key: itemFactNames[i], value: fact.value, hidden: true, fact: true})
		}
	}
	for key, v := range it.Attributes.All() {
		w.entries = append(w.entries, entry{key: key, value: v})
	}
	own := len(w.entries)
	for key, v := range it.Resource.All() {
		if !w.hasBefore(own, key) {
			w.entries = append(w.entries, entry{key: key, value: v})
		}
	}
	w.makeIndex()
	m.base, m.root = w, w
}

// mayMap tells whether some section may be about an item, from the item's keys alone.
func (m *Mapper) mayMap(set *Set, it Item) bool {
	if it.Scope != "" && m.saysOfAttributes(set, factScope) || it.Name != "" && m.saysOfAttributes(set, factItem) {
		return true
	}
	return m.anySaysOf(set, it.Attributes) || it.Resource.Len() > 0 && m.anySaysOf(set, it.Resource)
}

// anySaysOf tells whether some key may make a section be about an item. The next item has the same keys as a rule.
func (m *Mapper) anySaysOf(set *Set, attrs pcommon.Map) bool {
	if m.knownOf == set && m.nobodys.has(attrs) {
		return false
	}
	for key := range attrs.All() {
		if m.saysOfAttributes(set, key) {
			return true
		}
	}
	m.nobodys.keep(attrs)
	return false
}

// keyList are the keys of attributes, in their order.
type keyList []string

func (k keyList) has(attrs pcommon.Map) bool {
	if len(k) != attrs.Len() {
		return false
	}
	i := 0
	for key := range attrs.All() {
		if k[i] != key {
			return false
		}
		i++
	}
	return true
}

func (k *keyList) keep(attrs pcommon.Map) {
	*k = (*k)[:0]
	if attrs.Len() > maxShapeKeys {
		return
	}
	for key := range attrs.All() {
		if len(key) > maxCachedKey {
			*k = (*k)[:0]
			return
		}
		*k = append(*k, strings.Clone(key))
	}
}

func (m *Mapper) saysOfAttributes(set *Set, key string) bool {
	says := m.factsOf(set, key)
	return says.mask != nil && !says.mask[levelAttributes].empty()
}

// IsTraining tells whether a span's own attributes make it coarse work of a training.
func IsTraining(span pcommon.Map) bool {
	for _, key := range [...]string{trainrecord.AttrPhase, trainrecord.AttrEpochCurrent} {
		if _, ok := span.Get(key); ok {
			return true
		}
	}
	return false
}
