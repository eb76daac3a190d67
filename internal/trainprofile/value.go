package trainprofile

import (
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// read reads what a step sets, and where it stood. What was not understood stays and is an error, and other where that is a
// value; what says nothing (no epoch has begun) is read.
func (m *Mapper) read(p *Profile, step *setStep) (scalar, []place, bool) {
	reason := ""
	for src := m.sourceOf(step); src != nil; src = src.or {
		c, places, ok := m.fetch(src)
		if !ok || step.target.kind == kindProgress && src.base == baseFirst && !m.countsFinished(p, c) {
			continue
		}
		out, why, ok := c.convert(&step.target, m.baseOf(p, src, c), p.numbers)
		if ok || why == "" {
			return out, places, ok
		}
		reason = why
		hold(places)
	}
	if reason == "" {
		return scalar{}, nil, false
	}
	m.errs = append(m.errs, FieldError{Field: step.target.spelling, Reason: reason})
	if reason == ReasonOffList && slices.Contains(step.target.allowed, trainrecord.Other) {
		return textScalar(trainrecord.Other), nil, true
	}
	return scalar{}, nil, false
}

// sourceOf gives the first source of a step that the keys of the open object do not rule out, nil when they rule out all.
func (m *Mapper) sourceOf(step *setStep) *source {
	if m.shaped == nil || step.id == 0 {
		return &step.source
	}
	return m.shaped.sourceOf(step, m.root)
}

func use(ps []place) {
	for _, p := range ps {
		p.use()
	}
}

func hold(ps []place) {
	for _, p := range ps {
		p.hold()
	}
}

// wanted tells whether the object has what a source asks for beside its own value, and nothing that it must not have.
func (m *Mapper) wanted(src *source) bool {
	if len(src.ifHas) > 0 {
		if _, ok := m.views.lookup(m.root, src.ifHas); !ok {
			return false
		}
	}
	return !slices.ContainsFunc(src.lacks, func(r ref) bool {
		_, ok := m.views.lookup(m.root, r)
		return ok
	})
}

// fetch reads a source without converting it. A null is nothing.
func (m *Mapper) fetch(src *source) (scalar, []place, bool) {
	if src.plain {
		i := m.root.find(src.from[0].key)
		if i < 0 || m.root.entries[i].value.Type() == pcommon.ValueTypeEmpty {
			return scalar{}, nil, false
		}
		v := m.root.entries[i].value
		return scalarOf(v), m.place(place{owner: m.root, at: i, value: v}), true
	}
	if !m.wanted(src) {
		return scalar{}, nil, false
	}
	if src.constant != nil {
		return constantScalar(src.constant), nil, true
	}
	if len(src.concat) > 0 {
		return m.fetchConcat(src)
	}
	if len(src.sum) > 0 {
		return m.fetchSum(src)
	}
	at, ok := m.find(src)
	if !ok || at.value.Type() == pcommon.ValueTypeEmpty {
		return scalar{}, nil, false
	}
	if src.typ != "" && !isType(at.value, src.typ) {
		return scalar{}, nil, false
	}
	c, ok := src.shape(at.value)
	if !ok {
		return scalar{}, nil, false
	}
	return c, m.place(at), true
}

// fetchFirst reads the first of a source and those behind its or that gives something.
func (m *Mapper) fetchFirst(src *source) (c scalar, at []place, ok bool) {
	for ; src != nil && !ok; src = src.or {
		c, at, ok = m.fetch(src)
	}
	return c, at, ok
}

// shape makes of a value what the source says; ok is false when that is nothing.
func (src *source) shape(v pcommon.Value) (c scalar, ok bool) {
	if slices.ContainsFunc(src.unless, func(not any) bool { return isEqual(v, not) }) {
		return scalar{}, false
	}
	if c = scalarOf(v); src.extract != nil {
		text, isText := c.text()
		groups := src.extract.FindStringSubmatch(text)
		if !isText || groups == nil {
			return scalar{}, false
		}
		c = textScalar(groups[1])
	}
	if src.lower {
		text, isText := c.text()
		if !isText {
			return scalar{}, false
		}
		c = textScalar(strings.ToLower(text))
	}
	if src.words != nil {
		return meaning(src.words, c)
	}
	if src.values != nil {
		text, _ := c.text()
		constant, listed := src.values[strings.TrimSpace(text)] // tables pad their cells
		if !listed {
			return scalar{}, false
		}
		c = constantScalar(constant)
	}
	return c, true
}

// place gives a list of one place without allocating.
func (m *Mapper) place(at place) []place {
	m.one[0] = at
	return m.one[:1]
}

func (m *Mapper) find(src *source) (place, bool) {
	if src.like == nil {
		return m.views.lookup(m.root, src.from)
	}
	i := slices.IndexFunc(m.root.entries, func(e entry) bool { return !e.hidden && src.like.matches(e.key) })
	if i < 0 {
		return place{}, false
	}
	return place{owner: m.root, at: i, value: m.root.entries[i].value}, true
}

func (m *Mapper) fetchConcat(src *source) (scalar, []place, bool) {
	for i := range src.concat { // before anything is made: in most rows a part is missing
		if part := &src.concat[i]; part.plain && m.root.find(part.from[0].key) < 0 {
			return scalar{}, nil, false
		}
	}
	var out strings.Builder
	var all []place
	for i := range src.concat {
		c, at, ok := m.fetch(&src.concat[i])
		if !ok {
			return scalar{}, nil, false
		}
		text, isText := c.text()
		if !isText {
			return scalar{}, nil, false
		}
		out.WriteString(text)
		all = append(all, at...)
	}
	return textScalar(out.String()), all, true
}

// fetchSum adds whole numbers.
func (m *Mapper) fetchSum(src *source) (scalar, []place, bool) {
	total, all := int64(0), []place(nil)
	for i := range src.sum {
		c, at, ok := m.fetch(&src.sum[i])
		if !ok {
			return scalar{}, nil, false
		}
		n, isInt := c.integer(numbers{texts: true})
		if !isInt || n > maxEpochs || n < -maxEpochs {
			return scalar{}, nil, false
		}
		total += n
		all = append(all, at...)
	}
	return intScalar(total), all, true
}

// time reads the first of the profile's time fields that is a time.
func (m *Mapper) time(p *Profile) pcommon.Timestamp {
	present := false
	for i := range p.time {
		for src := &p.time[i]; src != nil; src = src.or {
			c, at, ok := m.fetch(src)
			if !ok {
				continue
			}
			present = true
			if ts, ok := m.readTime(src, c); ok {
				use(at)
				return ts
			}
			hold(at)
		}
	}
	if present {
		m.errs = append(m.errs, FieldError{Field: "time", Reason: ReasonNoTime})
	}
	return 0
}

func (m *Mapper) readTime(src *source, c scalar) (pcommon.Timestamp, bool) {
	if src.layout == "" {
		if c.v != (pcommon.Value{}) && c.v.Type() == c.typ && c.is(c.v) {
			return trainrecord.TimeFromValue(c.v, m.location)
		}
		switch c.typ {
		case pcommon.ValueTypeStr:
			return trainrecord.ParseTime(c.s, m.location)
		case pcommon.ValueTypeInt:
			return trainrecord.TimeFromValue(pcommon.NewValueInt(c.i), m.location)
		case pcommon.ValueTypeDouble:
			return trainrecord.TimeFromValue(pcommon.NewValueDouble(c.f), m.location)
		default:
			return 0, false
		}
	}
	loc := m.location
	if loc == nil {
		loc = time.UTC
	}
	t, err := time.ParseInLocation(src.layout, c.s, loc)
	if err != nil || t.Year() < 1980 || t.Year() > 2200 {
		return 0, false
	}
	return pcommon.NewTimestampFromTime(t), true
}
