package trainprofile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// gaugeRole is what the value of a gauge is in a record.
type gaugeRole int

const (
	gaugeNone gaugeRole = iota
	gaugeStep
	gaugeLearningRate
	gaugeMeasurement
)

// gaugeRules say which gauges of a framework are points of its learning curves, and which of them form a row.
type gaugeRules struct {
	scopes       []pattern
	skip         []pattern
	step         string
	row          []string          // attributes whose values tell rows apart
	learningRate map[string]string // gauge to parameter group
	measurements []gaugeNameDoc

	// What a point of the row is in the vocabulary, from the section about attributes; nil where that has nothing.
	phase, part, rank *attributeStep
}

// gauges compiles the section. The one about attributes is compiled before.
func (c *compiler) gauges(p *Profile, doc *document) {
	d := doc.Gauges
	if d == nil {
		return
	}
	g := &gaugeRules{scopes: d.Scopes, skip: d.Skip, step: d.Step, row: d.Row, learningRate: map[string]string{}, measurements: d.Measurements}
	for i, n := range d.Measurements {
		at := fmt.Sprintf("gauges.measurements[%d]", i)
		if len(n.Keys) == 0 {
			c.fail(at+".keys", "is empty; name a gauge, or a pattern of names")
		}
		for j := range n.Keys {
			if err := n.Keys[j].checkTemplate(n.As); err != nil {
				c.fail(at+".as", "%v", err)
			}
		}
	}
	for _, group := range slices.Sorted(maps.Keys(d.LearningRate)) {
		gauge := d.LearningRate[group]
		if _, taken := g.learningRate[gauge]; taken || gauge == "" || group == "" || gauge == d.Step {
			c.fail(join("gauges.learning_rate", group), "want a gauge of its own, got %q", gauge)
		}
		g.learningRate[gauge] = group
	}
	if a := p.attributes; a != nil {
		for i := range a.set {
			switch step := &a.set[i]; step.key {
			case trainrecord.AttrPhase:
				g.phase = step
			case trainrecord.AttrRunPart:
				g.part = step
			case trainrecord.AttrRunRank:
				g.rank = step
			default:
			}
		}
	}
	p.gauges = g
}

// role tells what a gauge is: the step, a learning rate and its group, or a measurement and its name without the prefix of
// its phase.
func (g *gaugeRules) role(scope, name string) (gaugeRole, string) {
	if len(g.scopes) > 0 && !anyMatches(g.scopes, scope) {
		return gaugeNone, ""
	}
	if g.step != "" && name == g.step {
		return gaugeStep, ""
	}
	if group, ok := g.learningRate[name]; ok {
		return gaugeLearningRate, group
	}
	if anyMatches(g.skip, name) {
		return gaugeNone, ""
	}
	for i := range g.measurements {
		for j := range g.measurements[i].Keys {
			if k := &g.measurements[i].Keys[j]; k.matches(name) {
				as := k.rename(name, g.measurements[i].As, false)
				if as == "" {
					return gaugeNone, ""
				}
				return gaugeMeasurement, as
			}
		}
	}
	return gaugeNone, ""
}

// gaugeProfile gives the first profile that reads a gauge; nil when none does.
func (s *Set) gaugeProfile(scope, name string) (p *Profile, role gaugeRole, as string) {
	for _, p := range s.profiles {
		if p.gauges == nil {
			continue
		}
		if role, as := p.gauges.role(scope, name); role != gaugeNone {
			return p, role, as
		}
	}
	return nil, gaugeNone, ""
}
