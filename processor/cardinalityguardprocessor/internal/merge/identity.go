package merge

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Hash is the identity of a resource, a scope, a metric or a series: 128 bits over its canonical bytes. Sources and outputs are hashed alike,
// so a point that nothing was removed from has equal identities.
type Hash = xxh3.Uint128

// Kinds of identities, so that two of different kind never meet.
const (
	ofResource byte = iota
	ofScope
	ofMetric
	ofKeys
	ofAttributes
	ofTenant
)

// shapes is the number of attribute layouts that a hasher remembers.
const shapes = 4

// Hasher computes identities. It belongs to one goroutine at a time.
type Hasher struct {
	buf     []byte
	entries []entry
	known   [shapes]shape
	recent  int
}

// entry is a key and its value while a map is being sorted.
type entry struct {
	key   string
	value pcommon.Value
}

// shape is the keys of an attribute set in the order in which they came. Most sets of a batch have one of few shapes: the keys then need no
// sorting and no hashing again.
type shape struct {
	keys  []string
	order []int // positions, sorted by key
	id    Hash  // of the sorted keys
}

// Resource gives the identity of a resource.
func (h *Hasher) Resource(attrs pcommon.Map) Hash {
	h.buf = append(h.buf[:0], ofResource)
	h.putMap(attrs)
	return xxh3.Hash128(h.buf)
}

// Tenant gives the identity of a resource of a tenant; without one, the resource's own.
func (h *Hasher) Tenant(resource Hash, tenant string) Hash {
	if tenant == "" {
		return resource
	}
	h.buf = append(h.buf[:0], ofTenant)
	h.putHash(resource)
	h.putString(tenant)
	return xxh3.Hash128(h.buf)
}

// Scope gives the identity of a scope.
func (h *Hasher) Scope(scope pcommon.InstrumentationScope) Hash {
	h.buf = append(h.buf[:0], ofScope)
	h.putString(scope.Name())
	h.putString(scope.Version())
	h.putMap(scope.Attributes())
	return xxh3.Hash128(h.buf)
}

// Metric gives the identity of a metric; description, metadata and the kind of number are no part of it.
func (h *Hasher) Metric(resource, scope Hash, m pmetric.Metric) Hash {
	h.buf = append(h.buf[:0], ofMetric)
	h.putHash(resource)
	h.putHash(scope)
	h.putString(m.Name())
	h.putString(m.Unit())
	temporality, monotonic := temporalityOf(m)
	h.buf = append(h.buf, byte(m.Type()), byte(temporality), boolByte(monotonic))
	return xxh3.Hash128(h.buf)
}

// Point gives the identity of a series of a metric.
func (h *Hasher) Point(metric Hash, attrs pcommon.Map) Hash {
	return PointOf(metric, h.Attributes(attrs))
}

// PointOf is Point where the identity of the attributes is known. Both are hashes already, so that their sum is as good as a hash of them.
func PointOf(metric, attrs Hash) Hash {
	lo, carry := bits.Add64(metric.Lo, attrs.Lo, 0)
	hi, _ := bits.Add64(metric.Hi, attrs.Hi, carry)
	return Hash{Hi: hi, Lo: lo}
}

// Attributes gives the identity of the attributes of a point.
func (h *Hasher) Attributes(attrs pcommon.Map) Hash {
	h.Begin()
	attrs.Range(h.Put)
	return h.Sum(false)
}

// Begin begins with the attributes of a point, which Put adds and Sum gives the identity of.
func (h *Hasher) Begin() { h.entries = h.entries[:0] }

// Put adds an attribute. It never stops a range.
func (h *Hasher) Put(key string, value pcommon.Value) bool {
	h.entries = append(h.entries, entry{key, value})
	return true
}

// Sum gives the identity of the attributes; alike says that they have the keys of those before, in the same order.
func (h *Hasher) Sum(alike bool) Hash {
	s := &h.known[h.recent]
	if !alike {
		s = h.shape()
	}
	h.buf = append(h.buf[:0], ofAttributes)
	h.putHash(s.id)
	for _, at := range s.order {
		v := h.entries[at].value
		if v.Type() != pcommon.ValueTypeStr { // few are not
			h.putValue(v)
			continue
		}
		text := v.Str()
		if len(text) < 0x80 {
			h.buf = append(append(h.buf, byte(pcommon.ValueTypeStr), byte(len(text))), text...)
		} else {
			h.buf = append(h.buf, byte(pcommon.ValueTypeStr))
			h.putString(text)
		}
	}
	return xxh3.Hash128(h.buf)
}

// Release forgets the batch, and the room that an unusually large set of attributes took.
func (h *Hasher) Release() {
	const kept = 1 << 10
	if cap(h.entries) > kept {
		h.entries = nil
	}
	clear(h.entries[:cap(h.entries)])
	for i := range h.known {
		if len(h.known[i].keys) > kept {
			h.known[i] = shape{}
		}
	}
	if cap(h.buf) > 1<<16 {
		h.buf = nil
	}
}

// shape finds or makes the shape of the collected entries.
func (h *Hasher) shape() *shape {
	for i := range shapes {
		s := &h.known[(h.recent+i)%shapes]
		if h.fits(s) {
			h.recent = (h.recent + i) % shapes
			return s
		}
	}
	h.recent = (h.recent + shapes - 1) % shapes
	s := &h.known[h.recent]
	s.keys, s.order = s.keys[:0], s.order[:0]
	for i, e := range h.entries {
		s.keys = append(s.keys, strings.Clone(e.key))
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return strings.Compare(s.keys[a], s.keys[b]) })
	h.buf = append(h.buf[:0], ofKeys)
	for _, at := range s.order {
		h.putString(s.keys[at])
	}
	s.id = xxh3.Hash128(h.buf)
	return s
}

func (h *Hasher) fits(s *shape) bool {
	if len(s.keys) != len(h.entries) || s.id == (Hash{}) {
		return false
	}
	for i := range s.keys {
		if s.keys[i] != h.entries[i].key {
			return false
		}
	}
	return true
}

func (h *Hasher) putHash(id Hash) {
	h.buf = binary.LittleEndian.AppendUint64(h.buf, id.Hi)
	h.buf = binary.LittleEndian.AppendUint64(h.buf, id.Lo)
}

func (h *Hasher) putString(s string) {
	if len(s) < 0x80 {
		h.buf = append(h.buf, byte(len(s)))
	} else {
		h.buf = binary.AppendUvarint(h.buf, uint64(len(s)))
	}
	h.buf = append(h.buf, s...)
}

// putMap writes a map as a set: sorted by key.
func (h *Hasher) putMap(m pcommon.Map) {
	from := len(h.entries)
	m.Range(h.Put)
	slices.SortStableFunc(h.entries[from:], func(a, b entry) int { return strings.Compare(a.key, b.key) })
	to := len(h.entries)
	h.buf = binary.AppendUvarint(h.buf, uint64(to-from))
	for i := from; i < to; i++ {
		e := h.entries[i]
		h.putString(e.key)
		h.putValue(e.value)
	}
	h.entries = h.entries[:from]
}

func (h *Hasher) putValue(v pcommon.Value) {
	kind := v.Type()
	h.buf = append(h.buf, byte(kind))
	switch kind {
	case pcommon.ValueTypeStr:
		h.putString(v.Str())
	case pcommon.ValueTypeBool:
		h.buf = append(h.buf, boolByte(v.Bool()))
	case pcommon.ValueTypeInt:
		h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(v.Int()))
	case pcommon.ValueTypeDouble:
		h.buf = binary.LittleEndian.AppendUint64(h.buf, math.Float64bits(v.Double()))
	case pcommon.ValueTypeBytes:
		h.putString(string(v.Bytes().AsRaw()))
	case pcommon.ValueTypeMap:
		h.putMap(v.Map())
	case pcommon.ValueTypeSlice:
		list := v.Slice()
		h.buf = binary.AppendUvarint(h.buf, uint64(list.Len()))
		for i := range list.Len() {
			h.putValue(list.At(i))
		}
	}
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
