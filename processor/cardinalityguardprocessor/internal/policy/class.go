package policy

import (
	"slices"
	"strings"
)

// Class is the metrics that all rules see alike.
type Class struct {
	policy   *Policy
	bits     string
	training bool
	keeps    []*matcher
}

// ID tells classes of a policy apart.
func (c *Class) ID() string { return c.bits }

// in says whether the class is picked by a selector.
func (c *Class) in(selector int) bool { return selector == anyMetric || c.bits[selector] == 1 }

// Step stands between the keys of a path into maps.
const Step = "\x00"

// Judge says what is done with attributes of a key on a level: by the rules that are enforced, and by those that are audited. Nil: nothing. Inside
// of maps and arrays the key is a path: the keys down to there, with Step between them.
func (c *Class) Judge(at Level, inside bool, key string) (enforce, audit *Verdict) {
	j := judgement{class: c, at: at, inside: inside}
	j.spell(key)
	switch {
	case slices.ContainsFunc(c.keeps, j.matches):
		return nil, nil
	case j.names[0] == OverflowKey:
		if v := j.side(c.policy.overflow.mode); v != nil {
			v.overflow = c.policy.overflow.rule
		}
	default:
		j.remove()
		j.bound()
		j.shape()
		j.limit()
	}
	enforce, audit = &j.sides[0], &j.sides[1]
	enforce.weigh()
	if enforce.remove != 0 || audit.empty() {
		audit = nil
	}
	if enforce.empty() {
		enforce = nil
	}
	return enforce, audit
}

// judgement collects what the rules say about a key.
type judgement struct {
	class  *Class
	at     Level
	inside bool
	names  []string   // the key; inside of a map also with the keys above it, from the nearest on: id, run.id, ctx.run.id
	wholes []string   // the same, however the words are put together
	toks   []string   // of the longest
	own    int        // the first token of the key itself
	sides  [2]Verdict // enforced, audited
}

// spell takes the key or path apart.
func (j *judgement) spell(key string) {
	steps := []string{key}
	if j.inside {
		steps = strings.Split(key, Step)
	}
	var begins []int
	for _, step := range steps {
		begins = append(begins, len(j.toks))
		j.toks = append(j.toks, tokens(step)...)
	}
	j.own = begins[len(begins)-1]
	for i := len(steps) - 1; i >= 0; i-- {
		j.names = append(j.names, strings.Join(steps[i:], "."))
		j.wholes = append(j.wholes, strings.Join(j.toks[begins[i]:], "."))
	}
}

// matches says whether a matcher picks the key, or the path to it.
func (j *judgement) matches(m *matcher) bool { return slices.ContainsFunc(j.names, m.match) }

// among says whether a set of whole keys has the key, or the path to it.
func (j *judgement) among(set map[string]struct{}) bool {
	return slices.ContainsFunc(j.wholes, func(whole string) bool { return has(set, whole) })
}

// side gives the verdict that a rule of a mode adds to.
func (j *judgement) side(mode Mode) *Verdict {
	switch mode {
	case Enforce:
		return &j.sides[0]
	case Audit:
		return &j.sides[1]
	default:
		return nil
	}
}

func (j *judgement) applies(selector int, at places) bool {
	return j.class.in(selector) && at.has(j.at, j.inside)
}

func (j *judgement) removeBy(mode Mode, rule RuleID) {
	if v := j.side(mode); v != nil && v.remove == 0 {
		v.remove = rule
	}
}

func (j *judgement) remove() {
	p := j.class.policy
	for _, d := range p.denials {
		if !j.applies(d.selector, d.places) {
			continue
		}
		if rule := d.match(j); rule != 0 {
			j.removeBy(d.mode, rule)
		}
	}
	if j.class.training && j.among(p.training.remove) {
		j.removeBy(p.training.mode, p.training.rule)
	}
	for _, k := range p.keepers {
		if j.applies(k.selector, k.places) && !j.matches(&k.keys) && !j.among(k.whole) {
			j.removeBy(k.mode, k.rule)
		}
	}
}

func (d *denial) match(j *judgement) RuleID {
	for _, whole := range j.wholes {
		if rule, found := d.whole[whole]; found {
			return rule
		}
	}
	if d.words != nil {
		if rule := d.words.key(j.toks, j.own); rule != 0 {
			return rule
		}
	}
	if j.matches(&d.keys) {
		return d.rule
	}
	return 0
}

// bound adds the first list of values of each mode.
func (j *judgement) bound() {
	for _, whole := range j.wholes {
		for _, a := range j.class.policy.allowances[whole] {
			if v := j.side(a.mode); v != nil && v.allow == nil && j.class.in(a.selector) {
				v.allow = a
			}
		}
	}
}

func (j *judgement) shape() {
	p := j.class.policy
	if j.at == Resource && j.matches(p.resource) {
		return
	}
	for _, s := range p.shapes {
		v := j.side(s.mode)
		if v == nil || !j.applies(s.selector, s.places) || (!s.keys.empty() && !j.matches(&s.keys)) {
			continue
		}
		if v.allow == nil {
			v.shapes = append(v.shapes, s)
		}
	}
}

func (j *judgement) limit() {
	p := j.class.policy
	for _, whole := range j.wholes {
		if l := p.limits[whole]; l != nil {
			if v := j.side(l.mode); v != nil && v.allow == nil && v.limit == nil {
				v.limit = l
			}
		}
	}
}
