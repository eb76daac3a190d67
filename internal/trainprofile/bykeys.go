package trainprofile

import "slices"

// byKeys tells what the keys of an object alone say of a condition: whether an object with these keys may meet it, and
// whether each does.
func (c *condition) byKeys(w *view) (may, always bool) {
	if c == nil {
		return true, true
	}
	has := func(r ref) bool { return w.find(r[0].key) >= 0 }
	if len(c.In) > 0 {
		return has(c.In), false
	}
	if !c.metPatterns(w) {
		return false, false
	}
	always = len(c.Same)+len(c.Type)+len(c.Match)+len(c.Equals) == 0
	for _, key := range c.asked() {
		if w.find(key) < 0 {
			return false, false
		}
	}
	whole := func(r ref) bool { return len(r) == 1 }
	always = always && !slices.ContainsFunc(c.Has, func(r ref) bool { return !whole(r) })
	for _, r := range c.Lacks {
		if has(r) && whole(r) {
			return false, false
		}
		always = always && !has(r)
	}
	if len(c.HasAny) > 0 {
		if !slices.ContainsFunc(c.HasAny, has) {
			return false, false
		}
		always = always && slices.ContainsFunc(c.HasAny, func(r ref) bool { return has(r) && whole(r) })
	}
	may, sure := c.nestedByKeys(w)
	return may, may && always && sure
}

// nestedByKeys does so for the conditions inside a condition.
func (c *condition) nestedByKeys(w *view) (may, always bool) {
	always = true
	for i := range c.All {
		can, must := c.All[i].byKeys(w)
		if !can {
			return false, false
		}
		always = always && must
	}
	if c.Not != nil {
		can, must := c.Not.byKeys(w)
		if must {
			return false, false
		}
		always = always && !can
	}
	if len(c.Any) == 0 {
		return true, always
	}
	some, certain := false, false
	for i := range c.Any {
		can, must := c.Any[i].byKeys(w)
		some, certain = some || can, certain || must
	}
	return some, some && always && certain
}
