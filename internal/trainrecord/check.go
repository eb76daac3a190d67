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
	events  uint32 // a bit for each that has the key
}

// bodyRules are by the length of the key: few have the same.
var bodyRules = func() (by [maxBodyKey + 1][]bodyRule) {
	for _, n := range Load().Names {
		if n.Kind != KindBody {
			continue
		}
		rule := bodyRule{name: n.Name, kind: n.Type, minimum: math.MinInt64}
		for _, e := range n.Events {
			rule.events |= 1 << eventOf(e)
		}
		if n.Minimum != nil {
			rule.minimum = *n.Minimum
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
	"int": "an integer of its range", "number": "a number", "string": "a string", "object": "an object",
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

// noNumbers counts the values of a body's measurements, learning rates and durations that are none, and says where the first is. null is absent.
func noNumbers(event eventKind, body pcommon.Map) (n int, first string) {
	for _, key := range [...]string{BodyMeasurements, BodyLearningRate, BodyDurations} {
		values, ok := body.Get(key)
		if !ok || values.Type() != pcommon.ValueTypeMap || ruleOf(event, key) == nil {
			continue
		}
		for _, v := range values.Map().All() {
			if _, ok := LargeNumber(v); ok || v.Type() == pcommon.ValueTypeEmpty {
				continue
			}
			n++
			if first == "" {
				first = wrongType(KeyBody+"."+key, "numbers").Error()
			}
		}
	}
	return n, first
}
