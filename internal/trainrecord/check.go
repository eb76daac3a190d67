package trainrecord

import (
	"fmt"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// typeError says that a key of a record has a value of another type than the registry's.
type typeError struct{ key, want string }

func (e *typeError) Error() string { return fmt.Sprintf("%s: want %s", e.key, e.want) }

func wrongType(key, want string) error { return &typeError{key: key, want: want} }

// bodyRule is the registry's rule for one key of the body, or inside one of its objects.
type bodyRule struct {
	name    string
	kind    string
	minimum int64
	maximum int64
	bounded bool     // a number that must be finite and in between
	list    valueSet // of a text; nil for any
	closed  bool     // what is off the list is left out; else it becomes other wherever it is read, and is counted
	events  uint32   // a bit for each that has the key
	// inner are the rules of an object's known keys; rest is that of its other keys, whose names are free, or of an array's elements.
	inner []bodyRule
	rest  *bodyRule
}

// bodyRules are by the length of the key: few have the same.
var bodyRules = func() (by [maxBodyKey + 1][]bodyRule) {
	for _, n := range Load().Names {
		if n.Kind == KindBody {
			by[len(n.Name)] = append(by[len(n.Name)], newRule(n))
		}
	}
	return by
}()

const maxBodyKey = 32

func newRule(n Name) bodyRule {
	r := anyOf(n.Type)
	r.name, r.bounded, r.closed = n.Name, n.Minimum != nil || n.Maximum != nil, n.Closed
	if n.Minimum != nil {
		r.minimum = *n.Minimum
	}
	if n.Maximum != nil {
		r.maximum = *n.Maximum
	}
	for _, e := range n.Events {
		r.events |= 1 << eventOf(e)
	}
	switch {
	case n.Closed:
		r.list = newValueSet(append([]string{""}, Load().Values[n.Values]...))
	case n.Values != "" && n.Name != BodyTaskFamily && n.Name != BodyOutcome: // PutBodyAttributes counts those
		r.list = newValueSet(append([]string{"", Other}, Load().Values[n.Values]...))
	default:
	}
	var inner []bodyRule
	for key, kind := range n.Keys {
		if known, ok := Load().Inner(n, key); ok {
			inner = append(inner, newRule(known))
		} else {
			rest := anyOf(kind)
			r.rest = &rest
		}
	}
	if n.Elements == "" {
		r.inner = inner
		return r
	}
	element := anyOf(n.Elements)
	element.inner = inner
	r.rest = &element
	return r
}

// anyOf is the rule for any value of a type.
func anyOf(kind string) bodyRule {
	return bodyRule{kind: kind, minimum: math.MinInt64, maximum: math.MaxInt64}
}

// ruleOf gives the rule of an event's key, nil when it has none.
func ruleOf(event eventKind, key string) *bodyRule {
	if r := ruleNamed(key); r != nil && r.events&(1<<event) != 0 {
		return r
	}
	return nil
}

// ruleNamed gives the rule of a key, whichever events have it.
func ruleNamed(key string) *bodyRule {
	if len(key) > maxBodyKey {
		return nil
	}
	for i := range bodyRules[len(key)] {
		if r := &bodyRules[len(key)][i]; r.name == key {
			return r
		}
	}
	return nil
}

// of gives the rule of a key inside an object, nil when its name is free.
func (r *bodyRule) of(key string) *bodyRule {
	for i := range r.inner {
		if r.inner[i].name == key {
			return &r.inner[i]
		}
	}
	return nil
}

// wants says types of the registry in words.
var wants = map[string]string{
	"int": "an integer of its range", "number": "a number of its range", "string": "a string", "object": "an object",
	"array": "an array", "bool": "true or false",
}

func (r *bodyRule) wants() string {
	if r.closed {
		return "one of " + strings.Join(Load().Values[r.name], ", ")
	}
	return wants[r.kind]
}

// fits says whether all keys that the registry gives to an event have values of their types, ranges and lists, and none is null. An integer written as
// a float (3.0) becomes one.
func fits(event eventKind, body pcommon.Map) bool {
	for k, v := range body.All() {
		if r := ruleOf(event, k); r != nil && (v.Type() == pcommon.ValueTypeEmpty || !r.fits(v)) {
			return false
		}
	}
	return true
}

func (r *bodyRule) fits(v pcommon.Value) bool {
	switch r.kind {
	case "int":
		n, ok := Integer(v)
		ok = ok && n >= r.minimum && n <= r.maximum
		if ok && v.Type() == pcommon.ValueTypeDouble {
			v.SetInt(n)
		}
		return ok
	case "number":
		x, ok := LargeNumber(v)
		return ok && (!r.bounded || x >= float64(r.minimum) && x <= float64(r.maximum))
	case "string":
		return v.Type() == pcommon.ValueTypeStr && (r.list == nil || r.list.has(v.Str()))
	case "object":
		return v.Type() == pcommon.ValueTypeMap && r.fitsInside(v.Map())
	case "array":
		return v.Type() == pcommon.ValueTypeSlice && r.fitElements(v.Slice())
	case "bool":
		return v.Type() == pcommon.ValueTypeBool
	default:
		return true
	}
}

func (r *bodyRule) fitsInside(m pcommon.Map) bool {
	if r.rest == nil && len(r.inner) == 0 {
		return true
	}
	for key, v := range m.All() {
		rule := r.of(key)
		if rule == nil {
			rule = r.rest
		}
		if rule != nil && v.Type() != pcommon.ValueTypeEmpty && (key == "" || !rule.fits(v)) {
			return false
		}
	}
	return true
}

func (r *bodyRule) fitElements(l pcommon.Slice) bool {
	if r.rest == nil {
		return true
	}
	for _, v := range l.All() {
		if v.Type() != pcommon.ValueTypeEmpty && !r.rest.fits(v) {
			return false
		}
	}
	return true
}
