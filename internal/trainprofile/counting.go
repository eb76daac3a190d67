package trainprofile

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// baseOf gives a source whose epochs are counted in a known way.
func (m *Mapper) baseOf(p *Profile, src *source, c scalar) *source {
	first := int64(1) // most frameworks that number epochs in more than one way
	switch src.base {
	case baseRemembered:
	case baseFirst:
		if m.countsFinished(p, c) {
			m.counted.base = baseProgress
			return &m.counted
		}
		first = 0
		n, ok := c.integer(p.numbers)
		if ok && (n == 0 || n == 1) && m.stream.fromStart(m.offset) {
			m.stream.remember(p, n, m.offset, m.weak)
		}
		m.asWritten = m.asWritten || ok && n > 0
	default:
		return src
	}
	if told, ok := m.stream.epochBase(m.offset); ok {
		first, m.asWritten = told, false
	}
	m.counted.base = baseZero
	if first == 1 {
		m.counted.base = baseOne
	}
	return &m.counted
}

// countsFinished tells whether an epoch is a number of finished ones where the first of a stream tells how it counts: a
// fraction is, and so are whole floats of a stream that had one. An integer is the number of an epoch all the same.
func (m *Mapper) countsFinished(p *Profile, c scalar) bool {
	n, ok := c.number(p.numbers)
	switch {
	case !ok || n.typ != pcommon.ValueTypeDouble || math.IsNaN(n.f) || math.IsInf(n.f, 0):
		return false
	case n.f == math.Trunc(n.f):
		return m.stream.isPartial(m.offset)
	}
	if m.stream.fromStart(m.offset) {
		m.stream.rememberPartial(p, m.offset, m.weak)
	}
	return true
}
