package trainrecord

import (
	"fmt"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// typeError says that a key of a record has a value of another type than the registry's.
type typeError struct{ key, want string }

func (e *typeError) Error() string { return fmt.Sprintf("%s: want %s", e.key, e.want) }

func wrongType(key, want string) error { return &typeError{key: key, want: want} }

// bodyRule is the registry's rule for one key of the body.
type bodyRule struct {
	name    string
	kind    string
	minimum int64
	maximum int64
	bounded bool   // a number that must be finite and in between
	events  uint32 // a bit for each that has the key
	// inner are the types of what an object has under its known keys; other of what else it has, or of an array's elements.
	inner []innerRule
	other string
}

type innerRule struct{ name, kind string }

// bodyRules are by the length of the key: few have the same.
var bodyRules = func() (by [maxBodyKey + 1][]bodyRule) {
	for _, n := range Load().Names {
		if n.Kind != KindBody {
			continue
		}
		rule := bodyRule{
			name: n.Name, kind: n.Type, minimum: math.MinInt64, maximum: math.MaxInt64,
			bounded: n.Minimum != nil || n.Maximum != nil, other: n.Elements,
		}
		for _, e := range n.Events {
			rule.events |= 1 << eventOf(e)
		}
		if n.Minimum != nil {
			rule.minimum = *n.Minimum
		}
		if n.Maximum != nil {
			rule.maximum = *n.Maximum
		}
		for name, kind := range n.Keys {
			if name == AnyKey {
				rule.other = kind
			} else {
				rule.inner = append(rule.inner, innerRule{name, kind})
			}
		}
		by[len(n.Name)] = append(by[len(n.Name)], rule)
	}
	return by
}()

const maxBodyKey = 32

// ruleOf gives the rule of an event's key, nil when it has none.
func ruleOf(event eventKind, key string) *bodyRule {
	if len(key) > maxBodyKey {
		return nil
	}
	for i := range bodyRules[len(key)] {
		if r := &bodyRules[len(key)][i]; r.name == key {
			if r.events&(1<<event) == 0 {
				return nil
			}
			return r
		}
	}
	return nil
}

// wants says a type of the registry in words.
var wants = map[string]string{
	"int": "an integer of its range", "number": "a number of its range", "string": "a string", "object": "an object",
	"array": "an array", "bool": "true or false",
}

// checkBody holds the keys that the registry gives to an event to their types. null counts as absent and is removed;
// an integer written as a float (3.0) becomes one.
func checkBody(event eventKind, body pcommon.Map) error {
	var err error
	hasNull := false
	for k, v := range body.All() {
		rule := ruleOf(event, k)
		if rule == nil {
			continue
		}
		if v.Type() == pcommon.ValueTypeEmpty {
			hasNull = true
			continue
		}
		if !rule.accepts(v) {
			err = wrongType(KeyBody+"."+k, wants[rule.kind])
			break
		}
	}
	if hasNull && err == nil {
		body.RemoveIf(func(k string, v pcommon.Value) bool {
			return v.Type() == pcommon.ValueTypeEmpty && ruleOf(event, k) != nil
		})
	}
	return err
}

func (r *bodyRule) accepts(v pcommon.Value) bool {
	switch r.kind {
	case "int":
		n, ok := Integer(v)
		if ok && v.Type() == pcommon.ValueTypeDouble {
			v.SetInt(n)
		}
		return ok && n >= r.minimum && n <= r.maximum
	case "number":
		x, ok := Number(v)
		return ok && (!r.bounded || x >= float64(r.minimum) && x <= float64(r.maximum))
	case "string":
		return v.Type() == pcommon.ValueTypeStr
	case "object":
		return v.Type() == pcommon.ValueTypeMap
	case "array":
		return v.Type() == pcommon.ValueTypeSlice
	case "bool":
		return v.Type() == pcommon.ValueTypeBool
	default:
		return true
	}
}

// misfits counts what objects and arrays of a body hold that is not of its type, and says what the first should be. null is absent.
func misfits(event eventKind, body pcommon.Map) (n int, first string) {
	for key, v := range body.All() {
		rule := ruleOf(event, key)
		if rule == nil || rule.other == "" && len(rule.inner) == 0 {
			continue
		}
		wrong, at, kind := rule.misfits(v)
		if n += wrong; wrong > 0 && first == "" {
			first = wrongType(KeyBody+"."+key+at, wants[kind]).Error()
		}
	}
	return n, first
}

// misfits gives the place inside the key and the type of the first, too.
func (r *bodyRule) misfits(v pcommon.Value) (n int, at, kind string) {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		for key, value := range v.Map().All() {
			want, known := r.innerKind(key)
			if isKind(want, value) {
				continue
			}
			if n++; n > 1 {
				continue
			}
			if kind = want; known {
				at = "." + key
			}
		}
	case pcommon.ValueTypeSlice:
		for _, value := range v.Slice().All() {
			if !isKind(r.other, value) {
				n++
			}
		}
		at, kind = "[]", r.other
	default:
	}
	return n, at, kind
}

func (r *bodyRule) innerKind(key string) (kind string, known bool) {
	for i := range r.inner {
		if r.inner[i].name == key {
			return r.inner[i].kind, true
		}
	}
	return r.other, false
}

// isKind says whether a value has a type of the registry, whatever its range.
func isKind(kind string, v pcommon.Value) bool {
	if kind == "number" {
		if _, ok := LargeNumber(v); ok {
			return true
		}
	}
	rule := bodyRule{kind: kind, minimum: math.MinInt64, maximum: math.MaxInt64}
	return v.Type() == pcommon.ValueTypeEmpty || rule.accepts(v)
}
