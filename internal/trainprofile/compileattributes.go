package trainprofile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Signal is a kind of OpenTelemetry data.
type Signal int

// Signals whose attributes are mapped.
const (
	SignalLog Signal = iota
	SignalSpan
	SignalMetric
	signalCount
)

var signalNames = [signalCount]string{"log", "span", "metric"}

// attributeMap says what the attributes of a framework or a tracker are in the vocabulary.
type attributeMap struct {
	when  *condition
	spans []pattern // names of spans that are coarse work of a training
	set   []attributeStep
}

// attributeStep sets one attribute of the vocabulary.
type attributeStep struct {
	setStep
	key      string
	on       [signalCount]bool
	identity bool // it may not stand on a resource
}

// attributes compiles the section.
func (c *compiler) attributes(p *Profile, doc *document) {
	d := doc.Attributes
	if d == nil {
		return
	}
	a := &attributeMap{when: d.When, spans: d.Spans}
	if a.when == nil {
		c.fail("attributes.when", "is required: say which attributes, or which $name or $scope, are the framework's")
	} else {
		a.when.check(c.fail, "attributes.when")
	}
	for _, f := range d.Set {
		at := join("attributes.set", f.Target)
		step, err := attributeTarget(f.Target)
		if err != nil {
			c.fail(at, "%v", err)
			continue
		}
		c.constantFits(&step.target, f.Source, at)
		step.source = c.source(f.Source, step.target.kind, at)
		for src := &step.source; src != nil; src = src.or {
			if src.base == baseRemembered || src.base == baseFirst {
				c.fail(join(at, "base"), "attributes have no stream; want 0, 1 or progress")
			}
		}
		a.set = append(a.set, step)
	}
	if p.framework != trainrecord.Other {
		a.set = c.ownFramework(p, a.set)
	}
	p.attributes = a
}

// ownFramework adds the profile's framework to what a section sets. A tracker's section has none.
func (c *compiler) ownFramework(p *Profile, steps []attributeStep) []attributeStep {
	step, err := attributeTarget(trainrecord.KeyFramework)
	if err != nil || slices.ContainsFunc(steps, func(s attributeStep) bool { return s.key == step.key }) {
		return steps
	}
	step.source = source{constant: p.framework}
	return append(steps, step)
}

// attributeTarget finds an attribute of the vocabulary that spans carry, by its name without the namespace.
func attributeTarget(name string) (attributeStep, error) {
	reg := trainrecord.Load()
	for _, n := range reg.Names {
		if n.Kind != trainrecord.KindAttribute || n.Name != name || !isMappedAttribute(n) {
			continue
		}
		s := attributeStep{key: reg.Namespace + "." + n.Name, identity: !slices.Contains(n.Signals, "metric")}
		s.target = target{spelling: n.Name, name: n.Name, minimum: 0}
		s.target.describe(n.Name, n.Type, n)
		if s.key == trainrecord.AttrEpochCurrent {
			s.target.kind = kindEpoch
		}
		for i, signal := range signalNames {
			s.on[i] = slices.Contains(n.Signals, signal)
		}
		// The framework of a log record is a setting: it would decide how the record is read.
		s.on[SignalLog] = s.on[SignalLog] && s.key != trainrecord.AttrFramework
		return s, nil
	}
	return attributeStep{}, fmt.Errorf("the vocabulary has no attribute %q; known are %s", name, strings.Join(attributeNames(), ", "))
}

// isMappedAttribute leaves out what only this program writes.
func isMappedAttribute(n trainrecord.Name) bool {
	return slices.Contains(n.Signals, "span") && slices.Contains(n.Signals, "log")
}

func attributeNames() []string {
	var names []string
	for _, n := range trainrecord.Load().Names {
		if n.Kind == trainrecord.KindAttribute && isMappedAttribute(n) {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}
