package trainprofile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// defaultOrder is the place of a profile that names none in the order of detection.
const defaultOrder = 500

// epochBase says how a framework counts epochs.
type epochBase int

const (
	baseNone epochBase = iota
	baseZero
	baseOne
	baseProgress
)

var epochBases = map[string]epochBase{"0": baseZero, "1": baseOne, "progress": baseProgress}

// source is a sourceDoc, checked.
type source struct {
	from     ref
	like     *pattern
	constant any
	ifHas    ref
	concat   []source
	extract  *regexp.Regexp
	values   map[string]any
	base     epochBase
	unit     string
	layout   string
	or       *source
}

type setStep struct {
	target target
	source source
}

type spreadStep struct {
	keys   []pattern
	to, as string
	kind   valueKind
}

// spreadGroup are the spread steps of one object of the source, in order.
type spreadGroup struct {
	in    ref
	steps []spreadStep
}

type rule struct {
	when     *condition
	event    string
	phase    string
	goesOn   bool
	header   []setStep
	set      []setStep
	spread   []*spreadGroup
	document *ruleDocument
}

// Profile is a framework's mapping, ready for use. It does not change and may be shared.
type Profile struct {
	name           string
	framework      string
	description    string
	order          int
	numericStrings bool
	strong, weak   *condition
	time           []source
	recordKeys     []setStep
	rules          []*rule
}

// Name of the profile, unique in a set.
func (p *Profile) Name() string { return p.name }

// Framework that records of the profile carry.
func (p *Profile) Framework() string { return p.framework }

// Description is a sentence about what the profile reads.
func (p *Profile) Description() string { return p.description }

// Parse reads a profile. The error names the file and the path of every mistake.
func Parse(file string, data []byte) (*Profile, error) {
	doc, errs := readDocument(data)
	if len(errs) == 0 {
		c := compiler{}
		if p := c.profile(&doc); len(c.errs) == 0 {
			return p, nil
		}
		errs = c.errs
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("profile %s: %w", file, err)
	}
	return nil, errors.Join(errs...)
}

// compiler checks a document and builds the profile; it collects mistakes.
type compiler struct {
	errs   []error
	common commonDocument
}

func (c *compiler) fail(path, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

var profileName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func (c *compiler) profile(doc *document) *Profile {
	p := &Profile{
		name: doc.Profile, framework: doc.Framework, description: doc.Description,
		order: doc.Order, numericStrings: doc.NumericStrings,
	}
	if !profileName.MatchString(p.name) {
		c.fail("profile", "want lower case letters, digits and _, got %q", p.name)
	}
	if p.framework == "" {
		p.framework = p.name
	}
	if known := trainrecord.Load().Values["framework"]; !slices.Contains(known, p.framework) {
		c.fail("framework", "%q is not in the registry; say framework: %s, or one of %v", p.framework, trainrecord.Other, known)
	}
	if p.order == 0 {
		p.order = defaultOrder
	}
	if doc.Detect != nil {
		p.strong, p.weak = doc.Detect.Strong, doc.Detect.Weak
		for name, cond := range map[string]*condition{"detect.strong": p.strong, "detect.weak": p.weak} {
			if cond != nil {
				cond.check(c.fail, name)
			}
		}
	}
	for i, s := range doc.Time {
		p.time = append(p.time, c.timeSource(s, fmt.Sprintf("time[%d]", i)))
	}
	own := c.headers(doc.Header, "header")
	p.recordKeys = c.recordKeys(doc.RecordKeys, own)
	c.common = doc.Common
	c.commonChecks(doc)
	if len(doc.Rules) == 0 {
		c.fail("rules", "is empty; a profile needs at least one rule")
	}
	names := map[string]bool{}
	for i := range doc.Rules {
		r := &doc.Rules[i]
		path := fmt.Sprintf("rules[%d]", i)
		if r.Name == "" || names[r.Name] {
			c.fail(path+".name", "want a name of its own, got %q", r.Name)
		}
		names[r.Name] = true
		p.rules = append(p.rules, c.rule(r, own, path))
	}
	return p
}

func (c *compiler) rule(doc *ruleDocument, header []setStep, path string) *rule {
	r := &rule{when: doc.When, event: doc.Event, phase: doc.Phase, goesOn: doc.Continue, document: doc}
	if r.when != nil {
		r.when.check(c.fail, path+".when")
	}
	if !trainrecord.IsEvent(doc.Event) || doc.Event == trainrecord.EventStreamStatus {
		c.fail(path+".event", "%q is no event of a trainer; known are %v", doc.Event, trainrecord.Load().Values["event"])
		return r
	}
	if known := trainrecord.Load().Values["phase"]; doc.Phase != "" && !slices.Contains(known, doc.Phase) {
		c.fail(path+".phase", "unknown phase %q; known are %v", doc.Phase, known)
	}
	r.header = mergeSteps(c.headers(doc.Header, path+".header"), header)
	r.set = c.sets(doc.Set, doc.Event, path+".set")
	for _, f := range c.common.Set {
		t, err := bodyTarget(f.Target, doc.Event)
		if taken := slices.ContainsFunc(r.set, func(s setStep) bool { return s.target.spelling == t.spelling }); err == nil && !taken {
			r.set = append(r.set, setStep{target: t, source: c.source(f.Source, t.kind, "common.set."+f.Target)})
		}
	}
	r.spread = c.spreads(doc.Spread, r.spread, doc.Event, path+".spread")
	var carried []spreadDoc
	for _, s := range c.common.Spread {
		if n, ok := bodyName(s.To); s.To == trainrecord.BodyFramework || ok && carries(n, doc.Event) {
			carried = append(carried, s)
		}
	}
	r.spread = c.spreads(carried, r.spread, doc.Event, "common.spread")
	return r
}

// commonChecks finds the mistakes of the common part that no rule would show: a target that no rule's event carries.
func (c *compiler) commonChecks(doc *document) {
	for _, f := range doc.Common.Set {
		var last error
		used := slices.ContainsFunc(doc.Rules, func(r ruleDocument) bool {
			_, err := bodyTarget(f.Target, r.Event)
			if err != nil {
				last = err
			}
			return err == nil
		})
		if !used && last != nil {
			c.fail("common.set."+f.Target, "%v", last)
		}
	}
	for i, s := range doc.Common.Spread {
		c.spreadKind(s, "", fmt.Sprintf("common.spread[%d]", i))
	}
}

// mergeSteps gives the first list and of the second what the first does not set.
func mergeSteps(first, second []setStep) []setStep {
	out := slices.Clone(first)
	for _, s := range second {
		if !slices.ContainsFunc(first, func(f setStep) bool { return f.target.name == s.target.name }) {
			out = append(out, s)
		}
	}
	return out
}
