package trainrecord

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Ends of the ranges of the registry. MaxEpochs is more than any training has: a Unix time under the name of an epoch is above it. Up to MaxCount each
// integer is exact as a double, and so in every reader of JSON; curves are drawn over no more. MaxSize is what fits.
const (
	MaxEpochs = 1_000_000_000
	MaxCount  = 1 << 53
	MaxSize   = math.MaxInt64
)

// Inner gives the entry of a key inside an object of the body, or inside the objects of an array. Its range and list are those of the body's key of the
// same name and type; without one, the list is that of its name.
func (r *Registry) Inner(of Name, key string) (Name, bool) {
	kind, ok := of.Keys[key]
	if !ok || key == AnyKey {
		return Name{}, false
	}
	inner := Name{Name: key, Kind: KindBody, Type: kind, Events: of.Events}
	for _, n := range r.Names {
		if n.Kind == KindBody && n.Name == key && n.Type == kind {
			inner.Minimum, inner.Maximum, inner.Values = n.Minimum, n.Maximum, n.Values
			return inner, true
		}
	}
	if _, listed := r.Values[key]; listed {
		inner.Values, inner.Closed = key, true
	}
	return inner, true
}

// BodyInteger gives the integer of a key of the body, or of the key of that name inside one of its objects; none outside its range: not every record
// has passed the decoder.
func BodyInteger(key string, v pcommon.Value) (int64, bool) {
	n, ok := Integer(v)
	if r := ruleNamed(key); r != nil {
		ok = ok && n >= r.minimum && n <= r.maximum
	}
	return n, ok
}

// BodyNumber is BodyInteger for a number.
func BodyNumber(key string, v pcommon.Value) (float64, bool) {
	x, ok := Number(v)
	if r := ruleNamed(key); r != nil && r.bounded {
		ok = ok && x >= float64(r.minimum) && x <= float64(r.maximum)
	}
	return x, ok
}

// BodyText reports whether the value may be a text's, as the other two do: of a key that takes anything, such as message, any may.
func BodyText(key string, v pcommon.Value) bool {
	r := ruleNamed(key)
	return v.Type() == pcommon.ValueTypeStr || r != nil && r.kind == "any"
}
