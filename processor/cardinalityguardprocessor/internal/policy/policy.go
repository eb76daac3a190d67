package policy

import (
	"strings"
	"sync"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// RuleID numbers the rules of a policy; 0 is none.
type RuleID uint16

// Rule is what telemetry says of a rule.
type Rule struct {
	Reason string // bounded: a concept of the registry, a shape, or a name from the policy
	Audit  bool   // it changes nothing
}

// Policy is a compiled policy. It never changes; only what it remembers of classes and of the values of limited attributes grows, within bounds.
type Policy struct {
	version     string
	mode        Mode
	rules       []Rule
	selectors   []*matcher
	overflow    overflow
	core        *denial // of the registry
	denials     []*denial
	allowances  map[string][]*allowance // by whole key
	shapes      []*shapeRule
	limits      map[string]*limit // by whole key
	limitRule   RuleID
	keepers     []*keeper
	resource    *matcher // keys that shapes leave alone on resources
	training    training
	names       names
	exempts     []*exempt
	gauges      []metricRule[Gauge]
	gauge       Gauge
	bounds      []metricRule[[]float64]
	summaries   []metricRule[bool]
	summary     bool
	series      int
	audits      bool
	dropsPoints bool

	mu      sync.Mutex
	classes map[string]*Class
}

// maxClasses bounds what a policy remembers of combinations of its selectors.
const maxClasses = 256

// denial removes attributes by their keys.
type denial struct {
	mode     Mode
	places   places
	selector int // index into Policy.selectors, or none
	rule     RuleID
	keys     matcher
	whole    map[string]RuleID // whole keys, however their words are put together
	words    *concepts
}

const anyMetric = -1

// overflow keeps values off the attribute of series over a limit.
type overflow struct {
	mode Mode
	rule RuleID
}

// keeper removes every attribute that it does not list.
type keeper struct {
	mode     Mode
	places   places
	selector int
	rule     RuleID
	keys     matcher
	whole    map[string]struct{}
}

type training struct {
	mode     Mode
	rule     RuleID
	prefixes []string
	remove   map[string]struct{} // whole keys
}

type names struct {
	mode  Mode
	rule  RuleID
	allow *matcher // nil: every name may pass
	all   bool     // metrics that are not of a training are subject to the list too
}

type exempt struct {
	metrics  *matcher
	selector int // when something is kept
	keep     matcher
	single   bool
}

type metricRule[T any] struct {
	metrics matcher
	rule    T
}

// Version is the policy's own version; empty when it has none.
func (p *Policy) Version() string { return p.version }

// Mode is the mode of the whole policy.
func (p *Policy) Mode() Mode { return p.mode }

// Audits says whether a rule only counts and reports.
func (p *Policy) Audits() bool { return p.audits }

// Rules lists the rules by number; the first is none.
func (p *Policy) Rules() []Rule { return p.rules }

// DropsPoints says whether a value off a list can take its point with it.
func (p *Policy) DropsPoints() bool { return p.dropsPoints }

// Selects says whether what happens to an attribute may depend on the metric.
func (p *Policy) Selects() bool { return len(p.selectors) > 0 || len(p.training.prefixes) > 0 }

// SeriesLimit is the number of series of a metric; 0 when the policy does not say.
func (p *Policy) SeriesLimit(string) int { return p.series }

// GaugeRule says how a gauge merges and whether that was decided for this gauge or is the default.
func (p *Policy) GaugeRule(metric string) (rule Gauge, decided bool) {
	if rule, decided = ruleOf(p.gauges, metric); decided {
		return rule, true
	}
	return p.gauge, false
}

// Bounds are the bounds of a histogram's merged series; nil: what its sources have in common.
func (p *Policy) Bounds(metric string) []float64 {
	b, _ := ruleOf(p.bounds, metric)
	return b
}

// DropSummary says whether summaries that would merge are dropped.
func (p *Policy) DropSummary(metric string) bool {
	if drop, decided := ruleOf(p.summaries, metric); decided {
		return drop
	}
	return p.summary
}

// ruleOf finds a rule that names the metric exactly, else the first that matches.
func ruleOf[T any](rules []metricRule[T], metric string) (rule T, found bool) {
	for i := range rules {
		if has(rules[i].metrics.exact, metric) {
			return rules[i].rule, true
		}
	}
	for i := range rules {
		if rules[i].metrics.match(metric) {
			return rules[i].rule, true
		}
	}
	return rule, false
}

// Metric is what the policy says about a metric by its name.
type Metric struct {
	Class         *Class
	Reject, Audit RuleID // the rule that forbids the name, or would; 0: none
	OffList       bool   // the name is refused because it is not on the list
	Single        bool   // one source writes each series, whatever attributes change
}

// Metric judges a metric's name.
func (p *Policy) Metric(name string) Metric {
	m := Metric{Class: p.classOf(name)}
	for _, e := range p.exempts {
		m.Single = m.Single || (e.single && e.metrics.match(name))
	}
	note := func(mode Mode, rule RuleID) {
		switch {
		case rule == 0:
		case mode == Enforce && m.Reject == 0:
			m.Reject = rule
		case mode == Audit && m.Audit == 0:
			m.Audit = rule
		}
	}
	listed := p.names.allow != nil && has(p.names.allow.exact, name)
	if !listed {
		if p.core.mode != Off && p.core.words.name(name) != 0 {
			note(p.core.mode, p.core.rule)
		}
		if p.names.allow != nil && (p.names.all || m.Class.training) && !p.names.allow.match(name) {
			note(p.names.mode, p.names.rule)
		}
	}
	if m.Reject != 0 {
		m.Audit, m.OffList = 0, m.Reject == p.names.rule
	}
	return m
}

// classOf finds the class of a metric.
func (p *Policy) classOf(name string) *Class {
	bits := make([]byte, len(p.selectors)+1)
	for i, s := range p.selectors {
		if s.match(name) {
			bits[i] = 1
		}
	}
	for _, prefix := range p.training.prefixes {
		if strings.HasPrefix(name, prefix) {
			bits[len(p.selectors)] = 1
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, known := p.classes[string(bits)]
	if !known {
		c = &Class{policy: p, bits: string(bits), training: bits[len(p.selectors)] == 1}
		for _, e := range p.exempts {
			if !e.keep.empty() && c.in(e.selector) {
				c.keeps = append(c.keeps, &e.keep)
			}
		}
		if len(p.classes) < maxClasses {
			p.classes[c.bits] = c
		}
	}
	return c
}

// Inherit takes over from the policy before which values limited attributes have had, so that a reload changes no series.
func (p *Policy) Inherit(old *Policy) {
	for key, l := range p.limits {
		if before := old.limits[key]; before != nil {
			l.inherit(before)
		}
	}
}

// Default is the policy of a guard that was given none: what the registry forbids, and single writers for DCGM.
func Default() *Policy {
	p, err := compile(&Document{Version: "registry"}, &problems{}, trainrecord.Load())
	if err != nil {
		panic(err) // a test compiles it
	}
	return p
}
