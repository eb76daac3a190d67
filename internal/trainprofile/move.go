package trainprofile

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// set writes what a step sets. A value that nobody else reads is moved, not made again.
func (m *Mapper) set(p *Profile, step *setStep, body pcommon.Map) {
	if e := m.asItStands(step); e != nil {
		to, key := step.target.in(body)
		e.use()
		e.value.MoveTo(to.PutEmpty(key))
		return
	}
	c, at, ok := m.read(p, step)
	use(at)
	if !ok {
		return
	}
	to, key := step.target.in(body)
	if step.sole && len(m.matched) == 1 && len(at) == 1 && at[0].element == 0 && c.is(at[0].value) {
		at[0].value.MoveTo(to.PutEmpty(key))
		return
	}
	c.putIn(to, key)
}

// in gives the object of a body that holds the target, and its key there.
func (t *target) in(body pcommon.Map) (to pcommon.Map, key string) {
	if t.inner == "" {
		return body, t.name
	}
	to = object(body, t.name)
	to.EnsureCapacity(1)
	return to, t.inner
}

// asItStands gives the entry whose number a step moves without reading it: the target holds it as it is, and nobody else reads it.
func (m *Mapper) asItStands(step *setStep) *entry {
	if m.shaped == nil || !step.sole || len(m.matched) != 1 {
		return nil
	}
	src := m.sourceOf(step)
	if src == nil || !src.plain {
		return nil
	}
	e := &m.root.entries[m.root.find(src.from[0].key)]
	if isNumber(e.value) && step.target.holds(e.value, src) {
		return e
	}
	return nil
}

// holds tells whether a number is, as it stands, what the target makes of it. It may say no of one that is.
func (t *target) holds(v pcommon.Value, src *source) bool {
	switch t.kind {
	case kindNumber:
		return true
	case kindInt:
		return v.Type() == pcommon.ValueTypeInt && v.Int() >= t.minimum && (t.maximum == 0 || v.Int() <= t.maximum)
	case kindProgress:
		return v.Type() == pcommon.ValueTypeDouble && src.base != baseFirst && v.Double() >= 0 && v.Double() <= maxEpochs
	case kindDuration:
		return v.Type() == pcommon.ValueTypeDouble && unitSeconds[src.unit] == 1 && v.Double() >= 0 && v.Double() <= math.MaxFloat64
	default:
		return false
	}
}

// object gives the object under a key of the body; it makes one where there is none.
func object(body pcommon.Map, name string) pcommon.Map {
	v, _ := body.GetOrPutEmpty(name)
	if v.Type() != pcommon.ValueTypeMap {
		return v.SetEmptyMap()
	}
	return v.Map()
}

// move writes the value of an entry under a name, and marks it as used.
func (m *Mapper) move(p *Profile, step *spreadStep, name string, e *entry, rest []entry, body pcommon.Map) {
	alone := len(m.matched) == 1
	if alone && step.kind == kindNumber && len(step.unless) == 0 && isNumber(e.value) {
		if dst, ok := m.named(step, name, rest, body); ok {
			e.use()
			e.value.MoveTo(dst) // nobody reads it again
		}
		return
	}
	c, ok := m.movable(p, step, e.value)
	if !ok {
		return
	}
	dst, ok := m.named(step, name, rest, body)
	if !ok {
		return
	}
	if e.use(); alone && c.typ == e.value.Type() {
		e.value.MoveTo(dst)
		return
	}
	c.writeTo(dst)
}

func isNumber(v pcommon.Value) bool {
	return v.Type() == pcommon.ValueTypeDouble || v.Type() == pcommon.ValueTypeInt
}

// movable gives a value that a step moves. What is no number has no shared meaning where numbers go, and stays.
func (m *Mapper) movable(p *Profile, step *spreadStep, v pcommon.Value) (scalar, bool) {
	for _, not := range step.unless {
		if isEqual(v, not) {
			return scalar{}, false
		}
	}
	c := scalarOf(v)
	if step.kind == kindNumber {
		return c.number(p.numbers)
	}
	return c, true
}

// named gives the value under a name of the object that a step writes; ok is false when there is one already.
func (m *Mapper) named(step *spreadStep, name string, rest []entry, body pcommon.Map) (dst pcommon.Value, ok bool) {
	to := object(body, step.to)
	if to.Len() == 0 {
		to.EnsureCapacity(unused(rest))
	}
	var taken bool
	if to.Len() < trainrecord.WideFrom {
		dst, taken = to.GetOrPutEmpty(name) // one look
	} else {
		dst, taken = m.wideOf(step.to).Put(to, name)
	}
	if taken {
		m.errs = append(m.errs, FieldError{Field: step.to, Reason: ReasonCollision})
	}
	return dst, !taken
}

// wideOf gathers the further keys of an object of the body that has many.
func (m *Mapper) wideOf(name string) *trainrecord.Wide {
	w := m.wide[name]
	if w == nil {
		if m.wide == nil {
			m.wide = map[string]*trainrecord.Wide{}
		}
		w = &trainrecord.Wide{}
		m.wide[name] = w
	}
	return w
}

// flushWide gives the objects of the body what was gathered for them.
func (m *Mapper) flushWide(body pcommon.Map) {
	for name, w := range m.wide {
		w.Flush(object(body, name))
	}
	clear(m.wide)
}

// unused counts the entries that may still be moved, as far as a guess goes; one at least.
func unused(rest []entry) (n int) {
	for i := 0; i < len(rest) && n < maxGuess; i++ {
		if !rest[i].used && !rest[i].hidden {
			n++
		}
	}
	return max(n, 1)
}
