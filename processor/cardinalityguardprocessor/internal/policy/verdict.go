package policy

import (
	"strconv"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Verdict is what the rules of one mode do with attributes of a key.
type Verdict struct {
	remove   RuleID
	overflow RuleID // for OverflowKey
	allow    *allowance
	shapes   []*shapeRule
	limit    *limit
	likely   likely // when there are only shapes
}

// Leaves says, at little cost, that a text stays as it is. False: Decide.
func (v *Verdict) Leaves(text string) bool { return v.likely.set != 0 && !v.likely.some(text) }

// weigh notes which texts need a closer look, once the rules are known.
func (v *Verdict) weigh() {
	if v.remove != 0 || v.overflow != 0 || v.allow != nil || v.limit != nil {
		return
	}
	var set shapeSet
	for _, s := range v.shapes {
		set |= s.set
	}
	v.likely = likelyOf(set)
}

func (v *Verdict) empty() bool {
	return v.remove == 0 && v.overflow == 0 && v.allow == nil && len(v.shapes) == 0 && v.limit == nil
}

// Outcome is what becomes of an attribute.
type Outcome uint8

// Outcomes.
const (
	Stay Outcome = iota
	Remove
	Replace   // its value, by a word
	DropPoint // and the point with it
)

// Key gives the rule that removes the key whatever its value, or 0.
func (v *Verdict) Key() RuleID { return v.remove }

// Decide judges an attribute with a value. Of an array, Element judges what is inside.
func (v *Verdict) Decide(value pcommon.Value) (what Outcome, rule RuleID, word string) {
	switch {
	case v.remove != 0:
		return Remove, v.remove, ""
	case v.overflow != 0:
		if value.Type() == pcommon.ValueTypeBool && value.Bool() || value.Type() == pcommon.ValueTypeStr && value.Str() == "true" {
			return Stay, 0, ""
		}
		return Remove, v.overflow, ""
	case v.allow != nil:
		return v.allow.decide(value)
	}
	if what, rule, word = v.Element(value); what != Stay {
		return what, rule, word
	}
	if v.limit != nil && !v.limit.admits(value) {
		return Replace, v.limit.rule, otherWord
	}
	return Stay, 0, ""
}

// Element judges an element of an array under the key.
func (v *Verdict) Element(value pcommon.Value) (what Outcome, rule RuleID, word string) {
	if len(v.shapes) == 0 || value.Type() != pcommon.ValueTypeStr {
		return Stay, 0, ""
	}
	text := value.Str()
	for _, s := range v.shapes {
		if shape := s.set.find(text); shape != noShape {
			if s.replace {
				return Replace, s.rules[shape], otherWord
			}
			return Remove, s.rules[shape], ""
		}
	}
	return Stay, 0, ""
}

// allowance bounds the values of an attribute.
type allowance struct {
	mode      Mode
	selector  int
	rule      RuleID
	values    map[string]string // what is allowed or has another name, and what it becomes
	otherwise string            // the word for all others
	outcome   Outcome           // of all others
}

func (a *allowance) admit(values ...string) {
	for _, v := range values {
		a.values[v] = v
	}
}

// decide looks a value up. An absent value stays absent.
func (a *allowance) decide(value pcommon.Value) (what Outcome, rule RuleID, word string) {
	to, known := "", false
	var room [24]byte
	switch value.Type() {
	case pcommon.ValueTypeEmpty:
		return Stay, 0, ""
	case pcommon.ValueTypeStr:
		text := value.Str()
		if text == "" || text == otherWord || text == otelOther || text == a.otherwise {
			return Stay, 0, ""
		}
		if to, known = a.values[text]; known && to == text {
			return Stay, 0, ""
		}
	case pcommon.ValueTypeInt:
		text := strconv.AppendInt(room[:0], value.Int(), 10)
		if to, known = a.values[string(text)]; known && to == string(text) {
			return Stay, 0, ""
		}
	case pcommon.ValueTypeBool, pcommon.ValueTypeDouble:
		text := value.AsString()
		if to, known = a.values[text]; known && to == text {
			return Stay, 0, ""
		}
	}
	if known {
		return Replace, a.rule, to
	}
	return a.outcome, a.rule, a.otherwise
}

// shapeRule denies values by their shape.
type shapeRule struct {
	mode     Mode
	places   places
	selector int
	set      shapeSet
	rules    [shapes]RuleID
	keys     matcher // no key: every attribute
	replace  bool
}

// limit remembers the first values of an attribute; others are other. Reading it takes no lock.
type limit struct {
	mode Mode
	rule RuleID
	max  int

	seen  atomic.Pointer[map[string]struct{}]
	mu    sync.Mutex
	order []string
}

// longestRemembered is the longest value that a limit remembers; longer ones are other.
const longestRemembered = 256

func (l *limit) admits(value pcommon.Value) bool {
	var room [24]byte
	var text []byte
	switch value.Type() {
	case pcommon.ValueTypeEmpty:
		return true
	case pcommon.ValueTypeStr:
		s := value.Str()
		if s == "" || s == otherWord || s == otelOther || has(*l.seen.Load(), s) {
			return true
		}
		return l.learn(s)
	case pcommon.ValueTypeInt:
		text = strconv.AppendInt(room[:0], value.Int(), 10)
	case pcommon.ValueTypeBool, pcommon.ValueTypeDouble:
		text = append(room[:0], value.AsString()...)
	default:
		return false
	}
	if _, known := (*l.seen.Load())[string(text)]; known {
		return true
	}
	return l.learn(string(text))
}

// learn takes a new value while there is room.
func (l *limit) learn(text string) bool {
	if len(text) > longestRemembered || len(*l.seen.Load()) >= l.max {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := *l.seen.Load()
	if has(old, text) {
		return true
	}
	if len(old) >= l.max {
		return false
	}
	text = string(append([]byte(nil), text...)) // its own copy: a batch may not stay in memory
	grown := make(map[string]struct{}, len(old)+1)
	for v := range old {
		grown[v] = struct{}{}
	}
	grown[text] = struct{}{}
	l.order = append(l.order, text)
	l.seen.Store(&grown)
	return true
}

func (l *limit) inherit(old *limit) {
	old.mu.Lock()
	order := old.order
	old.mu.Unlock()
	for _, text := range order {
		l.learn(text)
	}
}

func newLimit(mode Mode, rule RuleID, n int) *limit {
	l := &limit{mode: mode, rule: rule, max: n}
	l.seen.Store(&map[string]struct{}{})
	return l
}
