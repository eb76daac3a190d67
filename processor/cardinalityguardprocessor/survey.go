package cardinalityguardprocessor

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// hit is a rule that changes, or would change, an attribute.
type hit struct {
	rule policy.RuleID
	what policy.Outcome
	at   policy.Level
	key  string
}

// change is what a report tells: a rule on a metric and a key. A name that a rule refuses has no key.
type change struct {
	rule        policy.RuleID
	what        policy.Outcome
	at          policy.Level
	metric, key string
}

// lensHits is what rules find on a resource or a scope, seen through a lens.
type lensHits struct {
	lens *lens
	hits []hit
	on   []hit // of a scope: what rules find on its resource
}

// survey has a worker look at a batch, and adds what it found to the report.
func (g *guard) survey(w *worker, md pmetric.Metrics) {
	if g.audit == nil {
		w.survey(md)
		return
	}
	if w.tally == nil {
		w.tally = map[change]int64{}
	}
	w.survey(md)
	g.audit.add(w.policy, w.tally, md.DataPointCount())
	clear(w.tally)
}

// survey looks at a whole batch before anything is done to it. It counts what rules in audit would change and adds up, for the report, what
// every rule finds, by metric and key, in points. It changes nothing.
func (w *worker) survey(md pmetric.Metrics) {
	for _, rm := range md.ResourceMetrics().All() {
		var onResource []lensHits
		for _, sm := range rm.ScopeMetrics().All() {
			var onScope []lensHits
			for _, m := range sm.Metrics().All() {
				n := w.of(m.Name())
				w.look, w.metric = n.lens, m.Name()
				if w.surveyName(m, n) {
					continue
				}
				var res, scope []hit
				onResource, res = w.surveyAbove(onResource, rm.Resource().Attributes(), policy.Resource, nil)
				w.add(m, res, pointCount(m))
				onScope, scope = w.surveyAbove(onScope, sm.Scope().Attributes(), policy.Scope, res)
				w.add(m, scope, pointCount(m))
				w.add(m, w.surveyMap(m.Metadata(), policy.Metadata), pointCount(m))
				w.surveyPoints(m)
			}
		}
	}
	w.metric = ""
}

// surveyName says whether the metric would be dropped for its name.
func (w *worker) surveyName(m pmetric.Metric, n *named) bool {
	rule := n.Reject
	if rule == 0 {
		if rule = n.Audit; rule == 0 {
			return false
		}
		w.counts.refused(rule)
	}
	if w.tally != nil {
		w.tally[change{rule: rule, what: policy.DropPoint, metric: withoutValues(m.Name())}] += int64(pointCount(m))
	}
	return true
}

// withoutValues is a metric's name without what looks like a value in it: the name may be refused because of that.
func withoutValues(name string) string {
	var b strings.Builder
	digits := false
	for _, c := range name {
		if c >= '0' && c <= '9' {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(c)
	}
	return b.String()
}

// surveyAbove finds, once for each lens, what rules find on a resource or a scope. It counts once for all lenses that find the same: enforced, their
// metrics stay under one resource, and one scope.
func (w *worker) surveyAbove(known []lensHits, attrs pcommon.Map, at policy.Level, on []hit) ([]lensHits, []hit) {
	for i := range known {
		if known[i].lens == w.look {
			return known, known[i].hits
		}
	}
	w.silent = true
	hits := append([]hit(nil), w.surveyMap(attrs, at)...)
	w.silent = false
	if !slices.ContainsFunc(known, func(other lensHits) bool { return slices.Equal(other.hits, hits) && slices.Equal(other.on, on) }) {
		for _, h := range hits {
			if w.policy.Rules()[h.rule].Audit {
				w.counts.changed(h.at, h.rule, h.what)
			}
		}
	}
	return append(known, lensHits{w.look, hits, on}), hits
}

func (w *worker) surveyPoints(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		for _, p := range numbers(m).All() {
			w.surveyPoint(m, p.Attributes(), p.Exemplars())
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			w.surveyPoint(m, p.Attributes(), p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			w.surveyPoint(m, p.Attributes(), p.Exemplars())
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			w.add(m, w.surveyMap(p.Attributes(), policy.Datapoint), 1)
		}
	}
}

func (w *worker) surveyPoint(m pmetric.Metric, attrs pcommon.Map, exemplars pmetric.ExemplarSlice) {
	w.add(m, w.surveyMap(attrs, policy.Datapoint), 1)
	for i := range exemplars.Len() {
		w.add(m, w.surveyMap(exemplars.At(i).FilteredAttributes(), policy.Exemplar), 1)
	}
}

// add adds hits to the report's tally.
func (w *worker) add(m pmetric.Metric, hits []hit, points int) {
	if w.tally == nil {
		return
	}
	for _, h := range hits {
		w.tally[change{h.rule, h.what, h.at, m.Name(), h.key}] += int64(points)
	}
}

// surveyMap lists what rules find in a set of attributes. The list is good until the next one.
func (w *worker) surveyMap(m pcommon.Map, at policy.Level) []hit {
	w.hits = w.hits[:0]
	m.Range(func(key string, value pcommon.Value) bool {
		if w.find(w.look.see(at, key), at, key, value) {
			return true
		}
		if t := value.Type(); t == pcommon.ValueTypeMap || t == pcommon.ValueTypeSlice {
			w.path.down(key)
			w.surveyBelow(value, at)
			w.path.up()
		}
		return true
	})
	return w.hits
}

// find notes what rules find on an attribute and says whether it goes. What a rule in audit finds stays, and what is inside may be another rule's.
func (w *worker) find(s seen, at policy.Level, key string, value pcommon.Value) (goes bool) {
	if s.enforce != nil {
		if what, rule, _ := s.enforce.Decide(value); w.hit(at, rule, what, key, value) {
			return true
		}
	}
	if s.audit != nil {
		what, rule, _ := s.audit.Decide(value)
		w.hit(at, rule, what, key, value)
	}
	return false
}

// surveyBelow looks at what is under the worker's path.
func (w *worker) surveyBelow(value pcommon.Value, at policy.Level) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		value.Map().Range(func(key string, value pcommon.Value) bool {
			w.path.down(key)
			if s := w.look.inside(at, &w.path); s.enforce == nil && s.audit == nil || !w.find(s, at, w.path.String(), value) {
				w.surveyBelow(value, at)
			}
			w.path.up()
			return true
		})
	case pcommon.ValueTypeSlice:
		s := w.look.inside(at, &w.path)
		key := w.path.String()
		for _, element := range value.Slice().All() {
			if s.enforce != nil {
				if what, rule, _ := s.enforce.Element(element); w.hit(at, rule, what, key, element) {
					continue
				}
			}
			if s.audit != nil {
				what, rule, _ := s.audit.Element(element)
				w.hit(at, rule, what, key, element)
			}
			w.surveyBelow(element, at)
		}
	}
}

// hit notes what a rule finds and says whether it removes the attribute, or would.
func (w *worker) hit(at policy.Level, rule policy.RuleID, what policy.Outcome, key string, value pcommon.Value) bool {
	if what == policy.Stay {
		return false
	}
	w.hits = append(w.hits, hit{rule, what, at, key})
	if w.policy.Rules()[rule].Audit {
		if !w.silent {
			w.counts.changed(at, rule, what)
		}
		w.sample(rule, key, value)
	}
	return what != policy.Replace
}
