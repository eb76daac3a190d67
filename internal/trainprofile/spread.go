package trainprofile

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// pathMark joins the keys of nested objects in one name.
const pathMark = "/"

// spread moves the values of matching keys into objects of the body.
func (m *Mapper) spread(p *Profile, g *spreadGroup, body pcommon.Map) {
	if w := m.views.inside(m.root, g.in); w != nil {
		m.spreadView(p, g, w, "", body)
	}
}

// spreadView moves what matches in one object; prefix is the path to it below the group's.
func (m *Mapper) spreadView(p *Profile, g *spreadGroup, w *view, prefix string, body pcommon.Map) {
	var plans []plan
	if m.shaped != nil && w == m.root {
		plans = m.shaped.planOf(g, w)
	}
	for i := range w.entries {
		e := &w.entries[i]
		if e.used || e.held || e.hidden {
			continue
		}
		var pl plan
		if plans != nil {
			pl = plans[i]
		} else {
			pl = m.plan(g, prefix, e.key)
		}
		if g.deep && !pl.stop && e.value.Type() == pcommon.ValueTypeMap {
			m.spreadView(p, g, m.views.childOf(e), prefix+e.key+pathMark, body)
			continue
		}
		if e.child != nil && e.child.anyUsed() {
			continue
		}
		if pl.step >= 0 && (prefix != "" || !g.steps[pl.step].hasBetter(w, e.key)) {
			m.move(p, &g.steps[pl.step], pl.name, e, w.entries[i:], body)
		}
	}
}

// spreadNamed moves a value whose name stands in the object.
func (m *Mapper) spreadNamed(p *Profile, n *namedStep, body pcommon.Map) {
	name, nameAt, ok := m.fetchFirst(&n.name)
	text, isText := name.text()
	if !ok || !isText {
		return
	}
	nameAt = slices.Clone(nameAt)
	as, takes := n.step.takes(text)
	if !takes || as == "" {
		return
	}
	c, valueAt, ok := m.fetchFirst(&n.value)
	if !ok || n.step.to == trainrecord.BodyFramework {
		return
	}
	if n.step.kind == kindNumber {
		if c, ok = c.number(p.numbers); !ok {
			return
		}
	}
	for _, at := range valueAt {
		if at.owner.entries[at.at].used || slices.ContainsFunc(n.step.unless, func(not any) bool { return isEqual(at.value, not) }) {
			return
		}
	}
	if dst, ok := m.named(&n.step, as, nil, body); ok {
		c.writeTo(dst)
		use(valueAt)
		use(nameAt)
	}
}

// plan finds the first step of a group that takes a key, and the name that it gives.
func (m *Mapper) plan(g *spreadGroup, prefix, key string) plan {
	if prefix != "" {
		return g.plan(prefix + key)
	}
	cache := m.plans[g]
	if pl, ok := cache[key]; ok {
		return pl
	}
	pl := g.plan(key)
	if cache == nil {
		cache = map[string]plan{}
		m.plans[g] = cache
	}
	if m.mayCache(len(cache), maxCachedKeys, key) {
		cache[strings.Clone(key)] = pl
	}
	return pl
}

func (g *spreadGroup) plan(key string) plan {
	for i := range g.steps {
		step := &g.steps[i]
		name, ok := step.takes(key)
		switch {
		case !ok || name == "":
			continue
		case step.to == trainrecord.BodyFramework:
			return plan{step: -1, stop: true}
		default:
			return plan{step: i, name: name, stop: !step.deep}
		}
	}
	return plan{step: -1}
}

func (s *spreadStep) takes(key string) (string, bool) {
	for i := range s.keys {
		if s.keys[i].matches(key) {
			return s.keys[i].rename(key, s.as, s.lower), true
		}
	}
	return "", false
}

// hasBetter tells whether the object has the key beside which the step leaves one.
func (s *spreadStep) hasBetter(w *view, key string) bool {
	if s.lacks == "" {
		return false
	}
	for i := range s.keys {
		if s.keys[i].matches(key) {
			return w.find(s.keys[i].rename(key, s.lacks, false)) >= 0
		}
	}
	return false
}

// remember keeps for the stream what an object tells of the objects after it.
func (m *Mapper) remember(p *Profile, step *setStep) {
	if m.stream == nil {
		return
	}
	if c, _, ok := m.read(p, step); ok {
		m.stream.remember(p, c.i, m.offset, m.weak)
	}
}

// objective names the metric that the framework chooses its best epoch by, in records that measure it.
func (m *Mapper) objective(p *Profile, event string, body pcommon.Map) {
	if len(p.objective) == 0 || event != trainrecord.EventEpochEnd && event != trainrecord.EventPhaseEnd && event != trainrecord.EventStepEnd {
		return
	}
	v, ok := body.Get(trainrecord.BodyMeasurements)
	if !ok {
		return
	}
	for i := range p.objective {
		o := &p.objective[i]
		for name := range v.Map().All() {
			if o.metric.matches(name) {
				to := object(body, trainrecord.BodyObjective)
				to.PutStr(trainrecord.BodyMetric, name)
				to.PutStr(trainrecord.InnerMode, o.mode)
				return
			}
		}
	}
}
