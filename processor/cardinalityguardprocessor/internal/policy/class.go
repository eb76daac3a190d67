package policy

import "strings"

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

// Judge says what is done with attributes of a key on a level, or inside a map or an array there: by the rules that are enforced, and by those
// that are audited. Nil: nothing.
func (c *Class) Judge(at Level, inside bool, key string) (enforce, audit *Verdict) {
	if key == OverflowKey || c.keep(key) {
		return nil, nil
	}
	j := judgement{class: c, at: at, inside: inside, key: key, toks: tokens(key)}
	j.remove()
	j.bound()
	j.shape()
	j.limit()
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

func (c *Class) keep(key string) bool {
	for _, k := range c.keeps {
		if k.match(key) {
			return true
		}
	}
	return false
}

// judgement collects what the rules say about a key.
type judgement struct {
	class  *Class
	at     Level
	inside bool
	key    string
	toks   []string
	whole  string
	sides  [2]Verdict // enforced, audited
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
	j.whole = strings.Join(j.toks, ".")
	for _, d := range p.denials {
		if !j.applies(d.selector, d.places) {
			continue
		}
		if rule := d.match(j); rule != 0 {
			j.removeBy(d.mode, rule)
		}
	}
	if j.class.training && has(p.training.remove, j.whole) {
		j.removeBy(p.training.mode, p.training.rule)
	}
	for _, k := range p.keepers {
		if j.applies(k.selector, k.places) && !k.keys.match(j.key) && !has(k.whole, j.whole) {
			j.removeBy(k.mode, k.rule)
		}
	}
}

func (d *denial) match(j *judgement) RuleID {
	if rule, found := d.whole[j.whole]; found {
		return rule
	}
	if d.words != nil {
		if rule := d.words.key(j.toks); rule != 0 {
			return rule
		}
	}
	if d.keys.match(j.key) {
		return d.rule
	}
	return 0
}

// bound adds the first list of values of each mode.
func (j *judgement) bound() {
	for _, a := range j.class.policy.allowances[j.whole] {
		if v := j.side(a.mode); v != nil && v.allow == nil && j.class.in(a.selector) {
			v.allow = a
		}
	}
}

func (j *judgement) shape() {
	p := j.class.policy
	if j.at == Resource && p.resource.match(j.key) {
		return
	}
	for _, s := range p.shapes {
		v := j.side(s.mode)
		if v == nil || !j.applies(s.selector, s.places) || (!s.keys.empty() && !s.keys.match(j.key)) {
			continue
		}
		if v.allow == nil {
			v.shapes = append(v.shapes, s)
		}
	}
}

func (j *judgement) limit() {
	p := j.class.policy
	if l := p.limits[j.whole]; l != nil {
		if v := j.side(l.mode); v != nil && v.allow == nil {
			v.limit = l
		}
	}
}
