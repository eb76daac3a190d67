package trainrecord

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// typeError says that a key of a record has a value of another type than the registry's.
type typeError struct{ key, want string }

func (e *typeError) Error() string { return fmt.Sprintf("%s: want %s", e.key, e.want) }

func wrongType(key, want string) error { return &typeError{key: key, want: want} }

// bodyRule is the registry's rule for one key of the body.
type bodyRule struct {
	kind    string
	minimum int64
	events  map[string]bool
}

var bodyRules = func() map[string]bodyRule {
	rules := map[string]bodyRule{}
	for _, n := range Load().Names {
		if n.Kind != KindBody {
			continue
		}
		rule := bodyRule{kind: n.Type, events: map[string]bool{}}
		for _, e := range n.Events {
			rule.events[e] = true
		}
		if n.Minimum != nil {
			rule.minimum = *n.Minimum
		} else {
			rule.minimum = -1 << 63
		}
		rules[n.Name] = rule
	}
	return rules
}()

// wants says a type of the registry in words.
var wants = map[string]string{
	"int": "an integer of its range", "number": "a number", "string": "a string", "object": "an object",
	"array": "an array", "bool": "true or false",
}

// checkBody holds the keys that the registry gives to an event to their types. null counts as absent and is removed;
// an integer written as a float (3.0) becomes one.
func checkBody(event string, body pcommon.Map) error {
	var err error
	hasNull := false
	for k, v := range body.All() {
		rule, ok := bodyRules[k]
		if !ok || !rule.events[event] {
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
			return v.Type() == pcommon.ValueTypeEmpty && bodyRules[k].events[event]
		})
	}
	return err
}

func (r bodyRule) accepts(v pcommon.Value) bool {
	switch r.kind {
	case "int":
		n, ok := Integer(v)
		if ok && v.Type() == pcommon.ValueTypeDouble {
			v.SetInt(n)
		}
		return ok && n >= r.minimum
	case "number":
		_, ok := Number(v)
		return ok
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
