package cardinalityguardprocessor

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// id is a small number for an identity; equal identities have equal numbers within a batch.
type id uint32

// Kinds of identities, so that two of different kind never meet.
const (
	ofResource byte = iota
	ofScope
	ofMetric
	ofSource
	ofOutput
)

// identities numbers identities by their exact canonical bytes: no hash collision can join two series.
type identities struct {
	known   map[string]id
	buf     []byte
	entries []entry
}

// entry is a key and its value while a map is being sorted.
type entry struct {
	key   string
	value pcommon.Value
}

const keptIdentities = 1 << 14 // above this a batch's table is not kept for the next one

func (t *identities) reset() {
	if t.known == nil || len(t.known) > keptIdentities {
		t.known = map[string]id{}
	}
	clear(t.known)
	clear(t.entries[:cap(t.entries)])
	t.entries = t.entries[:0]
}

// number gives the number of what is in the buffer.
func (t *identities) number() id {
	if n, known := t.known[string(t.buf)]; known {
		return n
	}
	n := id(len(t.known))
	t.known[string(t.buf)] = n
	return n
}

func (t *identities) resource(attrs pcommon.Map) id {
	t.buf = append(t.buf[:0], ofResource)
	t.putMap(attrs)
	return t.number()
}

func (t *identities) scope(scope pcommon.InstrumentationScope) id {
	t.buf = append(t.buf[:0], ofScope)
	t.putString(scope.Name())
	t.putString(scope.Version())
	t.putMap(scope.Attributes())
	return t.number()
}

// metric numbers a metric's identity; description, metadata and the kind of number are no part of it.
func (t *identities) metric(resource, scope id, m pmetric.Metric) id {
	t.buf = append(t.buf[:0], ofMetric)
	t.putID(resource)
	t.putID(scope)
	t.putString(m.Name())
	t.putString(m.Unit())
	temporality, monotonic := temporality(m)
	t.buf = append(t.buf, byte(m.Type()), byte(temporality), boolByte(monotonic))
	return t.number()
}

// point numbers the identity of a point, as a source or as an output.
func (t *identities) point(kind byte, metric id, attrs pcommon.Map) id {
	t.buf = append(t.buf[:0], kind)
	t.putID(metric)
	t.putMap(attrs)
	return t.number()
}

func (t *identities) putID(n id) { t.buf = binary.BigEndian.AppendUint32(t.buf, uint32(n)) }

func (t *identities) putString(s string) {
	t.buf = binary.AppendUvarint(t.buf, uint64(len(s)))
	t.buf = append(t.buf, s...)
}

// putMap writes a map as a set: sorted by key.
func (t *identities) putMap(m pcommon.Map) {
	from := len(t.entries)
	m.Range(func(key string, value pcommon.Value) bool {
		t.entries = append(t.entries, entry{key, value})
		return true
	})
	slices.SortStableFunc(t.entries[from:], func(a, b entry) int { return strings.Compare(a.key, b.key) })
	to := len(t.entries)
	t.buf = binary.AppendUvarint(t.buf, uint64(to-from))
	for i := from; i < to; i++ {
		e := t.entries[i]
		t.putString(e.key)
		t.putValue(e.value)
	}
	t.entries = t.entries[:from]
}

func (t *identities) putValue(v pcommon.Value) {
	t.buf = append(t.buf, byte(v.Type()))
	switch v.Type() {
	case pcommon.ValueTypeStr:
		t.putString(v.Str())
	case pcommon.ValueTypeBool:
		t.buf = append(t.buf, boolByte(v.Bool()))
	case pcommon.ValueTypeInt:
		t.buf = binary.BigEndian.AppendUint64(t.buf, uint64(v.Int()))
	case pcommon.ValueTypeDouble:
		t.buf = binary.BigEndian.AppendUint64(t.buf, math.Float64bits(v.Double()))
	case pcommon.ValueTypeBytes:
		t.putString(string(v.Bytes().AsRaw()))
	case pcommon.ValueTypeMap:
		t.putMap(v.Map())
	case pcommon.ValueTypeSlice:
		list := v.Slice()
		t.buf = binary.AppendUvarint(t.buf, uint64(list.Len()))
		for i := range list.Len() {
			t.putValue(list.At(i))
		}
	}
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
