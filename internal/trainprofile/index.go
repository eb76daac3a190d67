package trainprofile

import (
	"fmt"
	"slices"
)

// maxProfiles is how many profiles a set may have.
const maxProfiles = 128

// level is how much a condition of recognition proves.
type level int

const (
	levelEnvelope level = iota
	levelSure
	levelStrong
	levelWeak
	levelAttributes // of the section about attributes; no recognition
	levelCount
)

// bits is a set of profiles, by their place in the set.
type bits [maxProfiles / 64]uint64

func (b *bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b *bits) clear(i int)    { b[i/64] &^= 1 << (i % 64) }
func (b *bits) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b *bits) empty() bool    { return *b == bits{} }

// mask says for each level which profiles an object may be of.
type mask [levelCount]bits

func (m *mask) add(o *mask) {
	for l := range m {
		for i := range m[l] {
			m[l][i] |= o[l][i]
		}
	}
}

// index finds the profiles that an object may be of by its keys, so that recognition costs the same however many profiles
// there are. Every condition has anchors: keys, or patterns of keys, of which an object that meets it has one at least.
type index struct {
	always   mask // conditions without anchors
	keys     map[string]*mask
	patterns []anchoredPattern
}

type anchoredPattern struct {
	pattern *pattern
	mask    mask
}

func newIndex(profiles []*Profile) (*index, error) {
	if len(profiles) > maxProfiles {
		return nil, fmt.Errorf("there are %d profiles; a set holds %d", len(profiles), maxProfiles)
	}
	uses := map[string]int{}
	for _, p := range profiles {
		for l := range levelCount {
			p.condition(l).countKeys(uses)
		}
	}
	x := &index{keys: map[string]*mask{}}
	for i, p := range profiles {
		for l := range levelCount {
			if c := p.condition(l); c != nil {
				x.add(i, l, c.anchors(uses))
			}
		}
	}
	return x, nil
}

// condition gives the profile's condition of a level, nil when it has none.
func (p *Profile) condition(l level) *condition {
	switch {
	case l == levelAttributes:
		if p.attributes != nil {
			return p.attributes.when
		}
	case p.unwrap != nil:
		if l == levelEnvelope {
			return p.strong
		}
	case l == levelSure:
		return p.sure
	case l == levelStrong:
		return p.strong
	case l == levelWeak:
		return p.weak
	}
	return nil
}

func (x *index) add(profile int, l level, as anchors) {
	if len(as.keys)+len(as.patterns) == 0 {
		x.always[l].set(profile)
	}
	for _, key := range as.keys {
		if x.keys[key] == nil {
			x.keys[key] = &mask{}
		}
		x.keys[key][l].set(profile)
	}
	for _, p := range as.patterns {
		i := slices.IndexFunc(x.patterns, func(a anchoredPattern) bool { return a.pattern.text == p.text })
		if i < 0 {
			i = len(x.patterns)
			x.patterns = append(x.patterns, anchoredPattern{pattern: p})
		}
		x.patterns[i].mask[l].set(profile)
	}
}

// look gives what a key says, nil when it says nothing.
func (x *index) look(key string) *mask {
	var found *mask
	for i := range x.patterns {
		if a := &x.patterns[i]; a.pattern.matches(key) {
			if found == nil {
				found = &mask{}
			}
			found.add(&a.mask)
		}
	}
	exact := x.keys[key]
	if found == nil || exact == nil {
		if found == nil {
			return exact
		}
		return found
	}
	found.add(exact)
	return found
}

// anchors are keys and patterns of keys; none means that nothing is known.
type anchors struct {
	keys     []string
	patterns []*pattern
}

// patternCost is what a pattern counts as, against the number of uses of a key: keys are looked up, patterns are tried.
const patternCost = 3

func (as anchors) cost(uses map[string]int) int {
	n := patternCost * len(as.patterns)
	for _, key := range as.keys {
		n += uses[key]
	}
	return n
}

func (as anchors) none() bool { return len(as.keys)+len(as.patterns) == 0 }

// countKeys counts how many conditions ask for each key.
func (c *condition) countKeys(uses map[string]int) {
	if c == nil {
		return
	}
	for _, key := range c.asked() {
		uses[key]++
	}
	for i := range c.Any {
		c.Any[i].countKeys(uses)
	}
	for i := range c.All {
		c.All[i].countKeys(uses)
	}
}

// asked lists the keys each of which must be there.
func (c *condition) asked() (keys []string) {
	if len(c.In) > 0 {
		return []string{c.In[0].key}
	}
	for _, r := range c.Has {
		keys = append(keys, r[0].key)
	}
	for _, r := range c.Same {
		keys = append(keys, r[0].key)
	}
	for key := range c.Type {
		keys = append(keys, key)
	}
	for key := range c.Match {
		keys = append(keys, key)
	}
	for key := range c.Equals {
		keys = append(keys, key)
	}
	return keys
}

// anchors gives the cheapest list of keys and patterns of which an object that meets the condition has one at least.
func (c *condition) anchors(uses map[string]int) (best anchors) {
	offer := func(as anchors) {
		if !as.none() && (best.none() || as.cost(uses) < best.cost(uses)) {
			best = as
		}
	}
	keys := c.asked()
	slices.Sort(keys)
	for _, key := range keys {
		offer(anchors{keys: []string{key}})
	}
	if len(c.In) > 0 {
		return best
	}
	var one anchors
	for _, r := range c.HasAny {
		one.keys = append(one.keys, r[0].key)
	}
	offer(one)
	for _, ps := range [][]pattern{c.Like, c.Pairs} {
		one = anchors{}
		for i := range ps {
			one.patterns = append(one.patterns, &ps[i])
		}
		offer(one)
	}
	for i := range c.All {
		offer(c.All[i].anchors(uses))
	}
	one = anchors{}
	for i := range c.Any {
		as := c.Any[i].anchors(uses)
		if as.none() {
			return best
		}
		one.keys, one.patterns = append(one.keys, as.keys...), append(one.patterns, as.patterns...)
	}
	offer(one)
	return best
}
