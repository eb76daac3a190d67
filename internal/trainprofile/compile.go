package trainprofile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
	baseRemembered
	baseFirst
)

var epochBases = map[string]epochBase{"0": baseZero, "1": baseOne, "progress": baseProgress, "remembered": baseRemembered, "first": baseFirst}

// source is a sourceDoc, checked.
type source struct {
	from     ref
	like     *pattern
	constant any
	ifHas    ref
	concat   []source
	sum      []source
	extract  *regexp.Regexp
	typ      string
	lower    bool
	unless   []any
	values   map[string]any
	base     epochBase
	unit     string
	layout   string
	or       *source
	plain    bool // the value of one key as it stands
}

type setStep struct {
	target target
	source source
	sole   bool // nothing else of the rule reads what it reads
}

type spreadStep struct {
	keys   []pattern
	to, as string
	kind   valueKind
	deep   bool
	unless []any
}

// namedStep moves a value whose name stands in the object too.
type namedStep struct {
	name, value source
	step        spreadStep
}

// spreadGroup are the spread steps of one object of the source, in order.
type spreadGroup struct {
	id    int // of the group in its profile
	in    ref
	steps []spreadStep
	deep  bool // some step reads nested objects
}

type rule struct {
	when     *condition
	event    string
	phase    string
	goesOn   bool
	closes   bool
	header   []setStep
	set      []setStep
	spread   []*spreadGroup
	named    []namedStep
	remember []setStep
	partial  *rule // of an epoch.end: the step.end that it is where the epoch is no whole number
}

// Profile is a framework's mapping, ready for use. It does not change and may be shared.
type Profile struct {
	name         string
	framework    string
	description  string
	order        int
	numbers      numbers
	sure         *condition
	strong, weak *condition
	time         []source
	recordKeys   []setStep
	header       []setStep // an envelope's
	unwrap       *unwrap
	objective    []objective
	rules        []*rule
	attributes   *attributeMap
	gauges       *gaugeRules

	byKeys          bool // its rules ask for keys alone
	countsFromFirst bool // the first epoch of a stream tells how it counts
	sparse          bool // empty cells are no values
}

// Name of the profile, unique in a set.
func (p *Profile) Name() string { return p.name }

// Framework that records of the profile carry.
func (p *Profile) Framework() string { return p.framework }

// Description is a sentence about what the profile reads.
func (p *Profile) Description() string { return p.description }

// Parse reads a profile. The error names the file and the path of every mistake.
func Parse(file string, data []byte) (*Profile, error) {
	doc, lines, errs := readDocument(data)
	if len(errs) == 0 {
		c := compiler{lines: lines}
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
	lines  map[string]int
	common commonDocument
	groups int
	first  bool // some source is counted from the first epoch
}

func (c *compiler) fail(path, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: %s (line %d)", path, fmt.Sprintf(format, args...), c.lineOf(path)))
}

// lineOf gives the line of a path, or of what it stands in when it is not there.
func (c *compiler) lineOf(path string) int {
	for path != "" {
		if n, ok := c.lines[path]; ok {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 1
}

var profileName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func (c *compiler) profile(doc *document) *Profile {
	p := &Profile{
		name: doc.Profile, framework: doc.Framework, description: doc.Description,
		order: doc.Order, numbers: numbers{texts: doc.NumericStrings, nan: doc.NaN},
	}
	if !profileName.MatchString(p.name) {
		c.fail("profile", "want lower case letters, digits and _, got %q", p.name)
	}
	if p.framework == "" {
		p.framework = p.name
	}
	tracker := len(doc.Rules) == 0 && doc.Attributes != nil && doc.Gauges == nil && doc.Framework == ""
	if doc.Unwrap != nil || tracker {
		p.framework = trainrecord.Other
	}
	if known := trainrecord.Load().Values["framework"]; !slices.Contains(known, p.framework) {
		c.fail("framework", "%q is not in the registry; say framework: %s, or one of %v", p.framework, trainrecord.Other, known)
	}
	if p.order == 0 {
		p.order = defaultOrder
	}
	if doc.Detect != nil {
		p.sure, p.strong, p.weak = doc.Detect.Sure, doc.Detect.Strong, doc.Detect.Weak
		for name, cond := range map[string]*condition{"detect.sure": p.sure, "detect.strong": p.strong, "detect.weak": p.weak} {
			if cond != nil {
				cond.check(c.fail, name)
			}
		}
	}
	for i, s := range doc.Time {
		p.time = append(p.time, c.timeSource(s, fmt.Sprintf("time[%d]", i)))
	}
	own := c.headers(doc.Header, "header")
	if doc.Unwrap != nil {
		c.envelope(p, doc, own)
		return p
	}
	p.recordKeys = c.recordKeys(doc.RecordKeys, own)
	c.common = doc.Common
	c.commonChecks(doc)
	if len(doc.Rules) == 0 && doc.Attributes == nil && doc.Gauges == nil {
		c.fail("rules", "is empty; a profile needs at least one rule, unwrap, attributes or gauges")
	}
	c.attributes(p, doc)
	c.gauges(p, doc)
	p.objective = c.objectives(doc.Objective)
	c.without(doc.Without)
	p.rules = c.rules(doc.Rules, own)
	p.countsFromFirst, p.sparse = c.first, doc.Sparse
	p.byKeys = !slices.ContainsFunc(p.rules, func(r *rule) bool { return !r.when.asksKeys() })
	return p
}

func (c *compiler) rules(docs []ruleDocument, header []setStep) (out []*rule) {
	names := map[string]bool{}
	for i := range docs {
		r := &docs[i]
		path := fmt.Sprintf("rules[%d]", i)
		if r.Name == "" || names[r.Name] {
			c.fail(path+".name", "want a name of its own, got %q", r.Name)
		}
		names[r.Name] = true
		out = append(out, c.rule(r, header, path))
	}
	return out
}

func (c *compiler) rule(doc *ruleDocument, header []setStep, path string) *rule {
	r := &rule{when: doc.When, event: doc.Event, phase: doc.Phase, goesOn: doc.Continue, closes: doc.Closes}
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
	c.spreads(doc.Spread, r, doc.Event, path+".spread")
	r.remember = c.remembers(doc.Remember, path+".remember")
	var carried []spreadDoc
	for _, s := range c.common.Spread {
		if n, ok := bodyName(s.To); s.To == trainrecord.BodyFramework || ok && carries(n, doc.Event) {
			carried = append(carried, s)
		}
	}
	c.spreads(carried, r, doc.Event, "common.spread")
	r.markSole()
	r.partial = r.withoutCompletion()
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
