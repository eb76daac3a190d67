package trainprofile

import (
	"errors"
	"fmt"
	"reflect"
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
	lacks    []ref
	concat   []source
	sum      []source
	extract  *regexp.Regexp
	typ      string
	lower    bool
	unless   []any
	values   map[string]any
	words    []clause
	base     epochBase
	unit     string
	layout   string
	or       *source
	plain    bool // the value of one key as it stands
}

type setStep struct {
	id     int // of the step in its profile's rules, from 1; 0 elsewhere
	target target
	source source
	sole   bool // nothing else of the rule reads what it reads
}

type spreadStep struct {
	keys   []pattern
	to, as string
	kind   valueKind
	deep   bool
	lower  bool
	lacks  string // template of the key beside which a key stays
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
	id       int // of the rule in its profile
	when     *condition
	event    string
	phase    string
	goesOn   bool
	closes   bool
	beside   bool
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

	countsFromFirst bool // the first epoch of a stream tells how it counts
	sparse          bool // empty cells are no values

	readsEvents bool     // some rule asks for an event or a type
	beside      *Profile // the rules that read lines beside another profile's rows, nil for none
	guest       bool     // it is such rules
	epochs      epochCount
}

// Name of the profile, unique in a set.
func (p *Profile) Name() string { return p.name }

// Framework that records of the profile carry.
func (p *Profile) Framework() string { return p.framework }

// Description is a sentence about what the profile reads.
func (p *Profile) Description() string { return p.description }

// Parse reads a profile. The error names the file and the path of every mistake.
func Parse(file string, data []byte) (*Profile, error) {
	words, err := loadWords()
	if err != nil {
		return nil, err
	}
	return parse(file, data, words)
}

func parse(file string, data []byte, words wordLists) (*Profile, error) {
	var doc document
	lines, errs := readYAML(data, reflect.ValueOf(&doc).Elem())
	if len(errs) == 0 {
		c := compiler{lines: lines, words: words}
		if p := c.profile(&doc); len(c.errs) == 0 {
			return p, nil
		}
		errs = c.errs
	}
	return nil, inFile("profile", file, errs)
}

// inFile names the file of mistakes.
func inFile(what, file string, errs []error) error {
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s %s: %w", what, file, err)
	}
	return errors.Join(errs...)
}

// compiler checks a document and builds the profile; it collects mistakes.
type compiler struct {
	errs   []error
	lines  map[string]int
	words  wordLists
	common commonDocument
	groups int
	steps  int
	made   int  // rules
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
	p.readsEvents, p.beside = readsEvents(p.rules), besideOf(p)
	p.epochs = epochCountOf(p.rules)
	return p
}
