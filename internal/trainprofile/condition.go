package trainprofile

import (
	"fmt"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// types are the words of condition.type.
var types = []string{"integer", "float", "number", "string", "bool", "object", "array", "null", "fraction"}

// check reports the mistakes of a condition.
func (c *condition) check(fail func(path, format string, args ...any), path string) {
	if c.isEmpty() {
		fail(path, "says nothing; give at least one test")
	}
	for key, t := range c.Type {
		if !slices.Contains(types, t) {
			fail(join(join(path, "type"), key), "unknown type %q; known are %v", t, types)
		}
	}
	if len(c.Same) == 1 {
		fail(join(path, "same"), "needs two keys at least, whose values are compared")
	}
	for i := range c.Pairs {
		if p := &c.Pairs[i]; !p.star {
			fail(fmt.Sprintf("%s.pairs[%d]", path, i), "%q needs a *", p.text)
		}
	}
	for i := range c.Any {
		c.Any[i].check(fail, fmt.Sprintf("%s.any[%d]", path, i))
	}
	for i := range c.All {
		c.All[i].check(fail, fmt.Sprintf("%s.all[%d]", path, i))
	}
	if c.Not != nil {
		c.Not.check(fail, join(path, "not"))
	}
}

func (c *condition) isEmpty() bool {
	lists := len(c.Has) + len(c.HasAny) + len(c.Lacks) + len(c.Same) + len(c.Like) + len(c.Unlike) + len(c.Only) + len(c.Pairs)
	return lists+len(c.Type)+len(c.Match)+len(c.Equals)+len(c.Any)+len(c.All) == 0 && c.Not == nil
}

// met tells whether an object meets the condition. A nil condition is met.
func (c *condition) met(vs *views, w *view) bool {
	if c == nil {
		return true
	}
	if len(c.In) > 0 {
		if w = vs.inside(w, c.In); w == nil {
			return false
		}
	}
	return c.metKeys(vs, w) && c.metPatterns(w) && c.metValues(w) && c.metNested(vs, w)
}

func (c *condition) metKeys(vs *views, w *view) bool {
	has := func(r ref) bool {
		_, ok := vs.lookup(w, r)
		return ok
	}
	for _, r := range c.Has {
		if !has(r) {
			return false
		}
	}
	for _, r := range c.Lacks {
		if has(r) {
			return false
		}
	}
	return (len(c.HasAny) == 0 || slices.ContainsFunc(c.HasAny, has)) && c.metSame(vs, w)
}

// metSame compares the values of keys; a number equals a number of another type.
func (c *condition) metSame(vs *views, w *view) bool {
	for i := 1; i < len(c.Same); i++ {
		a, okA := vs.lookup(w, c.Same[0])
		b, okB := vs.lookup(w, c.Same[i])
		if !okA || !okB {
			return false
		}
		want, single := scalarOf(a.value).constant()
		if !single || !isEqual(b.value, want) {
			return false
		}
	}
	return true
}

func anyMatches(ps []pattern, key string) bool {
	for i := range ps {
		if ps[i].matches(key) {
			return true
		}
	}
	return false
}

func (c *condition) metPatterns(w *view) bool {
	if len(c.Like)+len(c.Unlike)+len(c.Only)+len(c.Pairs) == 0 {
		return true
	}
	like, pair := len(c.Like) == 0, len(c.Pairs) == 0
	for i := range w.entries {
		if w.entries[i].hidden {
			continue
		}
		key := w.entries[i].key
		if len(c.Unlike) > 0 && anyMatches(c.Unlike, key) {
			return false
		}
		if len(c.Only) > 0 && !anyMatches(c.Only, key) {
			return false
		}
		like = like || anyMatches(c.Like, key)
		pair = pair || c.paired(w, key)
	}
	return like && pair
}

func (c *condition) paired(w *view, key string) bool {
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.matches(key) && w.find(p.starOf(key)) >= 0 {
			return true
		}
	}
	return false
}

func (c *condition) metValues(w *view) bool {
	for key, t := range c.Type {
		i := w.find(key)
		if i < 0 || !isType(w.entries[i].value, t) {
			return false
		}
	}
	for key, re := range c.Match {
		i := w.find(key)
		if i < 0 || w.entries[i].value.Type() != pcommon.ValueTypeStr || !re.MatchString(w.entries[i].value.Str()) {
			return false
		}
	}
	for key, want := range c.Equals {
		i := w.find(key)
		if i < 0 || !isEqual(w.entries[i].value, want) {
			return false
		}
	}
	return true
}

func (c *condition) metNested(vs *views, w *view) bool {
	for i := range c.All {
		if !c.All[i].met(vs, w) {
			return false
		}
	}
	if c.Not != nil && c.Not.met(vs, w) {
		return false
	}
	for i := range c.Any {
		if c.Any[i].met(vs, w) {
			return true
		}
	}
	return len(c.Any) == 0
}

func isType(v pcommon.Value, t string) bool {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return t == "integer" || t == "number"
	case pcommon.ValueTypeDouble:
		return t == "float" || t == "number" || t == "fraction" && v.Double() != math.Trunc(v.Double()) && !math.IsNaN(v.Double())
	case pcommon.ValueTypeStr:
		return t == "string"
	case pcommon.ValueTypeBool:
		return t == "bool"
	case pcommon.ValueTypeMap:
		return t == "object"
	case pcommon.ValueTypeSlice:
		return t == "array"
	case pcommon.ValueTypeEmpty:
		return t == "null"
	default:
		return false
	}
}

func isEqual(v pcommon.Value, want any) bool {
	switch want := want.(type) {
	case string:
		return v.Type() == pcommon.ValueTypeStr && v.Str() == want
	case bool:
		return v.Type() == pcommon.ValueTypeBool && v.Bool() == want
	case int64:
		return v.Type() == pcommon.ValueTypeInt && v.Int() == want || v.Type() == pcommon.ValueTypeDouble && v.Double() == float64(want)
	case float64:
		return v.Type() == pcommon.ValueTypeInt && float64(v.Int()) == want || v.Type() == pcommon.ValueTypeDouble && v.Double() == want
	default:
		return false
	}
}
