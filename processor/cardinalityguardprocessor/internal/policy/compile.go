package policy

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Bounds of a policy.
const (
	maxSize           = 1 << 20 // bytes
	maxValuesLimit    = 10_000  // of values_per_attribute
	maxHistogramBound = 160
	maxRules          = 4096
)

// Parse reads a policy from YAML. The error tells every mistake with its line and key; file is what it calls the text.
func Parse(file string, text []byte) (*Policy, error) {
	d := &decoder{problems: problems{file: file}}
	if len(text) > maxSize {
		d.add("", "larger than %d bytes", maxSize)
		return nil, d.err()
	}
	doc := d.document(text)
	return compile(doc, &d.problems, trainrecord.Load())
}

// compiler makes a policy of a document.
type compiler struct {
	*problems
	doc *Document
	reg *trainrecord.Registry
	out *Policy
}

func compile(doc *Document, p *problems, reg *trainrecord.Registry) (*Policy, error) {
	c := &compiler{problems: p, doc: doc, reg: reg}
	c.out = &Policy{
		version: string(doc.Version), mode: doc.Mode.under(Unset), rules: []Rule{{}},
		allowances: map[string][]*allowance{}, limits: map[string]*limit{}, classes: map[string]*Class{},
		resource: &matcher{}, gauge: Last,
	}
	c.overflowing()
	c.allowed()
	c.addRegistry(reg)
	c.onResource()
	c.denied()
	c.train()
	c.keepers()
	c.shaped()
	c.named()
	c.exempted()
	c.merging()
	c.limited()
	if len(c.out.rules) > maxRules {
		c.add("", "more than %d rules", maxRules)
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.out, nil
}

// overflowing bounds the attribute of series over a limit, which no other rule looks at.
func (c *compiler) overflowing() {
	mode := c.doc.Mode.under(Unset)
	c.out.overflow = overflow{mode: mode, rule: c.rule("overflow", mode)}
}

// rule numbers a rule.
func (c *compiler) rule(reason string, mode Mode) RuleID {
	c.out.rules = append(c.out.rules, Rule{Reason: reason, Audit: mode == Audit})
	c.out.audits = c.out.audits || mode == Audit
	return RuleID(min(len(c.out.rules)-1, math.MaxUint16))
}

// reasonOf checks the name that an operator gave a rule: it becomes an attribute of the guard's own metrics.
func (c *compiler) reasonOf(path, name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	for i := range len(name) {
		if b := name[i]; len(name) > 64 || (!isLetter(b) && !isDigit(b) && b != '_' && b != '-') {
			c.add(path+".name", "want at most 64 letters, digits, _ and -, got %q", name)
			break
		}
	}
	return name
}

// pick numbers the selector of a rule.
func (c *compiler) pick(path string, s *Selector) int {
	if s == nil {
		return anyMetric
	}
	m := c.selector(path+".metrics", s)
	if m.empty() {
		c.add(path+".metrics", "selects nothing: give exact, prefix, glob or regex")
	}
	for i, other := range c.out.selectors {
		if slices.Equal(other.prefixes, m.prefixes) && maps.Equal(other.exact, m.exact) && len(other.expr) == 0 && len(m.expr) == 0 {
			return i
		}
	}
	c.out.selectors = append(c.out.selectors, m)
	return len(c.out.selectors) - 1
}

// item is the path of one of several that may stand alone.
func (c *compiler) item(path string, i int) string {
	at := index(path, i)
	if _, listed := c.lines[at]; listed || c.lines == nil {
		return at
	}
	return path
}

func (c *compiler) onResource() {
	r := &c.doc.Resource
	c.globs("resource.keep", r.Keep, c.out.resource)
	if len(r.Deny) == 0 {
		return
	}
	mode := r.Mode.under(c.doc.Mode)
	d := &denial{mode: mode, places: Resource.bit() | nested, selector: anyMetric, rule: c.rule("resource", mode)}
	c.globs("resource.deny", r.Deny, &d.keys)
	c.out.denials = append(c.out.denials, d)
}

func (c *compiler) denied() {
	for i := range c.doc.Attributes.Deny {
		in := &c.doc.Attributes.Deny[i]
		path := c.item("attributes.deny", i)
		mode := in.Mode.under(c.doc.Mode)
		d := &denial{
			mode: mode, places: c.placed(path, in.ApplyTo, anywhere), selector: c.pick(path, in.Metrics),
			rule: c.rule(c.reasonOf(path, in.Name, "deny"), mode), words: newConcepts(),
		}
		for j, pattern := range in.Normalized {
			if !d.words.add(pattern, d.rule) {
				c.add(index(path+".normalized", j), "want at least one letter or digit, got %q", pattern)
			}
		}
		for j, key := range in.Exact {
			c.notEmpty(index(path+".exact", j), key)
			d.keys.addExact(key)
		}
		c.globs(path+".glob", in.Glob, &d.keys)
		c.expressions(path+".regex", in.Regex, &d.keys)
		if len(in.Normalized)+len(in.Exact)+len(in.Glob)+len(in.Regex) == 0 {
			c.add(path, "no effect without normalized, exact, glob or regex")
		}
		c.out.denials = append(c.out.denials, d)
	}
}

func (c *compiler) train() {
	in := &c.doc.Training
	t := &c.out.training
	t.mode = in.Mode.under(c.doc.Mode)
	t.rule = c.rule("training", t.mode)
	t.prefixes, t.remove = in.Prefixes, map[string]struct{}{}
	for i, prefix := range in.Prefixes {
		c.notEmpty(index("training.prefixes", i), prefix)
	}
	for i, key := range in.Remove {
		if wholeKey(key) == "" {
			c.add(index("training.remove", i), "want at least one letter or digit, got %q", key)
		}
		t.remove[wholeKey(key)] = struct{}{}
	}
	if len(in.Remove) > 0 && len(in.Prefixes) == 0 {
		c.add("training.remove", "no effect without training.prefixes")
	}
}

func (c *compiler) keepers() {
	for i := range c.doc.Attributes.KeepOnly {
		in := &c.doc.Attributes.KeepOnly[i]
		path := c.item("attributes.keep_only", i)
		mode := in.Mode.under(c.doc.Mode)
		k := &keeper{
			mode: mode, places: c.placed(path, in.ApplyTo, onPoints), selector: c.pick(path, in.Metrics),
			rule: c.rule(c.reasonOf(path, in.Name, "keep_only"), mode), whole: map[string]struct{}{},
		}
		c.globs(path+".keys", in.Keys, &k.keys)
		for _, key := range in.Keys {
			if !strings.ContainsAny(key, `*?[\`) {
				k.whole[wholeKey(key)] = struct{}{}
			}
		}
		if in.Registry {
			for _, n := range c.reg.Names {
				if n.Kind == trainrecord.KindAttribute && onMetrics(n.Signals) {
					k.whole[wholeKey(c.reg.Namespace+"."+n.Name)] = struct{}{}
				}
			}
		}
		c.out.keepers = append(c.out.keepers, k)
	}
}

func (c *compiler) shaped() {
	for i := range c.doc.Attributes.Values {
		in := &c.doc.Attributes.Values[i]
		path := c.item("attributes.values", i)
		mode := in.Mode.under(c.doc.Mode)
		s := &shapeRule{mode: mode, places: c.placed(path, in.ApplyTo, anywhere), selector: c.pick(path, in.Metrics), replace: in.Action == replaceValue}
		c.globs(path+".keys", in.Keys, &s.keys)
		name := c.reasonOf(path, in.Name, "")
		named := RuleID(0)
		if name != "" {
			named = c.rule(name, mode)
		}
		for _, shape := range in.DenyPatterns {
			if shape == noShape {
				continue // a mistake that was told
			}
			s.set |= 1 << shape
			if s.rules[shape] = named; named == 0 {
				s.rules[shape] = c.rule(shape.String(), mode)
			}
		}
		if len(in.DenyPatterns) == 0 {
			c.add(path, "no effect without deny_patterns")
		}
		c.out.shapes = append(c.out.shapes, s)
	}
}

// allowed goes before the registry's own sets, so that an operator's list for a key is the one that counts.
func (c *compiler) allowed() {
	lists := c.doc.Attributes.AllowValues
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		for i := range lists[key] {
			path := c.item("attributes.allow_values."+key, i)
			a := c.allowance(path, &lists[key][i])
			if wholeKey(key) == "" {
				c.add(path, "want at least one letter or digit in the key")
			}
			c.out.allowances[wholeKey(key)] = append(c.out.allowances[wholeKey(key)], a)
		}
	}
}

func (c *compiler) allowance(path string, in *AllowList) *allowance {
	mode := in.Mode.under(c.doc.Mode)
	a := &allowance{
		mode: mode, selector: c.pick(path, in.Metrics), rule: c.rule("allow_values", mode), values: map[string]string{},
		otherwise: otherWord, outcome: Replace,
	}
	if in.Registry != "" {
		set, known := c.reg.Values[in.Registry]
		if !known {
			c.add(path+".registry", "want one of %s, got %q", strings.Join(slices.Sorted(maps.Keys(c.reg.Values)), ", "), in.Registry)
		}
		a.admit(set...)
	}
	for _, v := range in.Values {
		a.admit(string(v))
	}
	if len(a.values) == 0 && in.Registry == "" {
		c.add(path, "want values, or the name of a set of the registry")
	}
	switch in.Otherwise {
	case "":
	case dropAttribute:
		a.outcome = Remove
	case dropPoint:
		a.outcome = DropPoint
		c.out.dropsPoints = c.out.dropsPoints || mode == Enforce
	default:
		a.otherwise = string(in.Otherwise)
	}
	for _, from := range slices.Sorted(maps.Keys(in.Aliases)) {
		to := string(in.Aliases[from])
		at := path + ".aliases." + from
		if target, listed := a.values[to]; (!listed || target != to) && to != a.otherwise && to != otherWord && to != otelOther {
			c.add(at, "%q is not in the list of values", to)
		}
		if target, listed := a.values[from]; listed && target == from {
			c.add(at, "%q is in the list of values itself", from)
			continue
		}
		a.values[from] = to
	}
	return a
}
