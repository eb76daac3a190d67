package trainprofile

import (
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Bounds of the cache of key names; keys come from data.
const (
	maxCachedKeys = 2048
	maxCachedKey  = 256
)

// maxGuess is the most entries that an object of a record makes room for at once.
const maxGuess = 16

// FieldError is a field of an object that was not understood; its value stays under body.framework.
type FieldError struct {
	Field  string // the target, as the profile spells it
	Reason string // one of the Reason constants
}

// Mapper applies profiles. It keeps scratch memory: one goroutine at a time may use it.
type Mapper struct {
	location *time.Location
	views    views
	root     *view
	matched  []*rule
	further  []plog.LogRecord
	plans    map[*spreadGroup]map[string]plan
	one      [1]place
	scratch  pcommon.Map
	errs     []FieldError
	said     string // a framework that was named and is not that of the records
}

// plan is what a spread group does with a key.
type plan struct {
	step int // -1: nothing
	name string
}

// NewMapper gives a mapper; location is that of times without a zone, nil meaning UTC.
func NewMapper(location *time.Location) *Mapper {
	return &Mapper{location: location, plans: map[*spreadGroup]map[string]plan{}, scratch: pcommon.NewMap()}
}

func (m *Mapper) open(obj pcommon.Map) {
	m.views.reset()
	m.errs = m.errs[:0]
	m.root = m.views.open(obj)
}

// apply turns the object that is open, the body of lr, into the records of the rules that match. The first is lr itself,
// more gives the log records for further ones. It answers false, with lr untouched, when no rule matches.
func (m *Mapper) apply(p *Profile, lr plog.LogRecord, more func() plog.LogRecord) bool {
	m.matched = m.matched[:0]
	for _, r := range p.rules {
		if !r.when.met(&m.views, m.root) {
			continue
		}
		m.matched = append(m.matched, r)
		if !r.goesOn {
			break
		}
	}
	if len(m.matched) == 0 {
		return false
	}
	carried := m.header(p, lr, m.frameworkOf(p, lr))
	m.further = m.further[:0]
	for i := range m.matched[1:] {
		to := more()
		copyEnvelope(lr, to)
		setIndex(to, i+1)
		m.further = append(m.further, to)
	}
	lr.Body().Map().MoveTo(m.scratch) // the views still see the values
	m.record(p, m.matched[0], carried, lr)
	for i, to := range m.further {
		m.record(p, m.matched[i+1], carried, to)
	}
	m.keepRest(lr.Body().Map())
	return true
}

// record fills one log record.
func (m *Mapper) record(p *Profile, r *rule, h trainrecord.Header, lr plog.LogRecord) {
	h.Event = r.event
	if h.Phase == "" {
		h.Phase = r.phase
	}
	for i := range r.header {
		if c, at, ok := m.read(p, &r.header[i]); ok && m.setHeader(&h, &r.header[i], c, lr) {
			use(at)
		}
	}
	body := lr.Body().Map()
	body.EnsureCapacity(len(r.set) + 3)
	for i := range r.set {
		step := &r.set[i]
		if c, ok := m.value(p, step); ok {
			put(body, &step.target, c)
		}
	}
	for _, g := range r.spread {
		m.spread(p, g, body)
	}
	number, text := lr.SeverityNumber(), lr.SeverityText()
	lr.Attributes().EnsureCapacity(lr.Attributes().Len() + 4)
	if h.Put(lr) > 0 { // the framework is on its list
		m.errs = append(m.errs, FieldError{Field: trainrecord.KeyPhase, Reason: ReasonOffList})
	}
	if number != plog.SeverityNumberUnspecified {
		lr.SetSeverityNumber(number)
		lr.SetSeverityText(text)
	}
	trainrecord.PutBodyAttributes(lr)
}

func put(body pcommon.Map, t *target, c scalar) {
	if t.inner == "" {
		c.putIn(body, t.name)
		return
	}
	c.putIn(object(body, t.name), t.inner)
}

// object gives the object under a key of the body; it makes one where there is none.
func object(body pcommon.Map, name string) pcommon.Map {
	v, _ := body.GetOrPutEmpty(name)
	if v.Type() != pcommon.ValueTypeMap {
		return v.SetEmptyMap()
	}
	return v.Map()
}

// keepRest puts what no rule used under body.framework of the first record, beside what was replaced by other.
func (m *Mapper) keepRest(body pcommon.Map) {
	leftovers(m.scratch, m.root)
	if m.root.padded {
		trimKeys(m.scratch)
	}
	if m.said != "" {
		putAbsent(m.scratch, trainrecord.KeyFramework, pcommon.NewValueStr(m.said))
	}
	if v, ok := body.Get(trainrecord.BodyFramework); ok && v.Type() == pcommon.ValueTypeMap {
		for key, original := range v.Map().All() {
			putAbsent(m.scratch, key, original)
		}
	}
	if m.scratch.Len() == 0 {
		m.scratch.Clear()
		return
	}
	m.scratch.MoveTo(body.PutEmptyMap(trainrecord.BodyFramework))
}

func putAbsent(m pcommon.Map, key string, v pcommon.Value) {
	if dst, found := m.GetOrPutEmpty(key); !found {
		v.CopyTo(dst)
	}
}

// spread moves the values of matching keys into objects of the body.
func (m *Mapper) spread(p *Profile, g *spreadGroup, body pcommon.Map) {
	w := m.views.inside(m.root, g.in)
	if w == nil {
		return
	}
	for i := range w.entries {
		e := &w.entries[i]
		if e.used || e.held || e.child != nil && e.child.anyUsed() {
			continue
		}
		pl := m.plan(g, e.key)
		if pl.step < 0 {
			continue
		}
		step := &g.steps[pl.step]
		c := scalarOf(e.value)
		if step.kind == kindNumber {
			var ok bool
			if c, ok = c.number(p.numericStrings); !ok {
				continue // no number: it has no shared meaning and stays
			}
		}
		to := object(body, step.to)
		if to.Len() == 0 {
			to.EnsureCapacity(min(len(w.entries)-i, maxGuess))
		}
		dst, taken := to.GetOrPutEmpty(pl.name) // one look: objects may have thousands of keys
		if taken {
			m.errs = append(m.errs, FieldError{Field: step.to, Reason: ReasonCollision})
			continue
		}
		c.writeTo(dst)
		e.used = true
	}
}

// plan finds the first step of a group that takes a key, and the name that it gives.
func (m *Mapper) plan(g *spreadGroup, key string) plan {
	cache := m.plans[g]
	if pl, ok := cache[key]; ok {
		return pl
	}
	pl := plan{step: -1}
	for i := range g.steps {
		if name, ok := g.steps[i].takes(key); ok && name != "" {
			pl = plan{step: i, name: name}
			break
		}
	}
	if pl.step >= 0 && g.steps[pl.step].to == trainrecord.BodyFramework {
		pl = plan{step: -1}
	}
	if cache == nil {
		cache = map[string]plan{}
		m.plans[g] = cache
	}
	if len(cache) < maxCachedKeys && len(key) <= maxCachedKey {
		cache[strings.Clone(key)] = pl
	}
	return pl
}

func (s *spreadStep) takes(key string) (string, bool) {
	for i := range s.keys {
		if s.keys[i].matches(key) {
			return s.keys[i].rename(key, s.as), true
		}
	}
	return "", false
}

// copyEnvelope gives a further record of an object what the object came with.
func copyEnvelope(from, to plog.LogRecord) {
	from.Attributes().CopyTo(to.Attributes())
	to.SetObservedTimestamp(from.ObservedTimestamp())
	to.SetFlags(from.Flags())
	to.SetSeverityNumber(from.SeverityNumber())
	to.SetSeverityText(from.SeverityText())
	to.Body().SetEmptyMap()
}

// setIndex gives the n-th further record of a line its own uid.
func setIndex(lr plog.LogRecord, n int) {
	v, ok := lr.Attributes().Get(trainrecord.AttrLogRecordUID)
	if !ok || v.Type() != pcommon.ValueTypeStr || v.Str() == "" {
		return
	}
	if u, ok := trainrecord.ParseUID(v.Str()); ok {
		u.Index += n
		v.SetStr(u.String())
		return
	}
	v.SetStr(v.Str() + "/" + strconv.Itoa(n))
}
