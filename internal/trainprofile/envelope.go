package trainprofile

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// maxEnvelopes is how many envelopes may lie in each other.
const maxEnvelopes = 3

// opened is what the envelopes around an object said of it. The innermost that says something counts.
type opened struct {
	profile *Profile // the innermost; nil: there is none
	header  trainrecord.Header
}

// unwrapAll opens the envelopes around the object that is open: afterwards m.root is what was in them.
func (m *Mapper) unwrapAll(set *Set) {
	m.envelope = opened{}
	if !set.hasEnvelopes {
		return
	}
	for range maxEnvelopes {
		e := m.recognise(set, levelEnvelope)
		if e == nil || e == m.envelope.profile {
			return
		}
		if m.envelope.profile == nil {
			m.envelope.header = trainrecord.NewHeader()
		}
		m.envelope.profile = e
		m.readEnvelope(e)
		m.root = m.unwrap(e)
		m.keysRead = false
	}
}

// readEnvelope reads the fields of the header that an envelope has.
func (m *Mapper) readEnvelope(e *Profile) {
	h := &m.envelope.header
	errs := len(m.errs)
	if ts := m.time(e); ts != 0 {
		h.Time = ts
	}
	for i := range e.header {
		step := &e.header[i]
		c, at, ok := m.read(e, step)
		if !ok || step.target.name == trainrecord.KeySeverity && !knownSeverity(c.s) {
			continue
		}
		before := *h
		step.target.headerSetter(h, c)
		if *h != before {
			use(at)
		}
	}
	m.errs = m.errs[:errs] // what a logger says of itself is no field of ours: it stays where it is
}

// unwrap gives the view of what is in an envelope: its facts, the keys of the objects that it names, its own other keys.
func (m *Mapper) unwrap(e *Profile) *view {
	u, from := e.unwrap, m.root
	w := m.views.empty()
	if len(u.named) > 0 { // else it says nothing of itself: it is no logger, only a wrapper
		w.entries = append(w.entries, entry{key: factEnvelope, value: u.name, hidden: true, fact: true})
	}
	for i := range u.named {
		for src := &u.named[i].source; src != nil; src = src.or {
			if at, ok := m.find(src); ok && m.addFact(w, u.named[i].target.name, src, at) {
				break
			}
		}
	}
	for _, r := range u.objects {
		if inner := m.views.inside(from, r); inner != nil {
			w.add(inner, u.hide)
		}
	}
	for i := range from.entries {
		if e := &from.entries[i]; e.child != nil && u.opens(e.key) {
			e.hidden = true // its keys are there already
		}
	}
	w.add(from, u.hide)
	if at := w.messageAt(); at >= 0 {
		m.addText(w, u, at)
	}
	w.makeIndex()
	return w
}

// opens tells whether the keys of the object under a key count as the inner object's own.
func (u *unwrap) opens(key string) bool {
	return slices.ContainsFunc(u.objects, func(r ref) bool { return r[0].key == key })
}

// addFact adds what an envelope says under a name. A text may be cut out of what stands there.
func (m *Mapper) addFact(w *view, name string, src *source, at place) bool {
	e := entry{key: name, value: at.value, hidden: true, fact: true, origin: &at.owner.entries[at.at]}
	if src.extract != nil || src.values != nil || src.words != nil || src.lower {
		c, _, ok := m.fetch(src)
		if !ok {
			return false
		}
		e.value = pcommon.NewValueEmpty()
		c.writeTo(e.value)
	}
	w.entries = append(w.entries, e)
	return true
}

// add adds the entries of another view, without those of keys that w has already or that match hide.
func (w *view) add(from *view, hide []pattern) {
	had := len(w.entries)
	for i := range from.entries {
		e := &from.entries[i]
		if e.used || e.hidden || w.isFact(e, had) || anyMatches(hide, e.key) || w.hasBefore(had, e.key) {
			continue
		}
		w.entries = append(w.entries, entry{key: e.key, value: e.value, origin: e})
	}
	for i := range from.entries { // facts of an outer envelope
		if e := &from.entries[i]; e.hidden && e.fact && !w.hasBefore(had, e.key) {
			w.entries = append(w.entries, entry{key: e.key, value: e.value, origin: e, hidden: true, fact: true})
		}
	}
	w.padded = false
}

// isFact tells whether an entry is found as a fact already.
func (w *view) isFact(e *entry, n int) bool {
	for i := range w.entries[:n] {
		if w.entries[i].hidden && w.entries[i].origin == e {
			return true
		}
	}
	return false
}

func (w *view) hasBefore(n int, key string) bool {
	for i := range w.entries[:n] {
		if w.entries[i].key == key {
			return true
		}
	}
	return false
}

// messageAt gives the index of the fact message, or -1 when there is none or it is no text. It needs no index of the view's keys.
func (w *view) messageAt() int {
	for i := range w.entries {
		if e := &w.entries[i]; e.fact && e.key == factMark+trainrecord.BodyMessage && e.value.Type() == pcommon.ValueTypeStr {
			return i
		}
	}
	return -1
}

// addText adds what the text of a message spells out: the keys of a JSON object, or pairs of names and values.
func (m *Mapper) addText(w *view, u *unwrap, at int) {
	text := w.entries[at].value.Str()
	inner := pcommon.NewMap()
	read := u.json && m.jsonIn(text, inner)
	if !read && m.line == "" {
		read = u.pairs && pairsIn(text, inner)
	}
	if !read {
		return
	}
	m.text = m.views.open(inner)
	m.textOf = &w.entries[at]
	w.add(m.text, nil)
}

// settleText marks the message as used when all that its text spelled out was.
func (m *Mapper) settleText() {
	if m.text == nil {
		return
	}
	for i := range m.text.entries {
		if !m.text.entries[i].used {
			return
		}
	}
	m.textOf.use()
}
