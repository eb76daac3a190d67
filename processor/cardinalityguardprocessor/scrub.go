package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// scrub removes or replaces what is forbidden in a set of attributes at every depth, counts it and says whether there was something. A nested
// map that becomes empty stays: its key is not forbidden.
func (w *worker) scrub(m pcommon.Map, at policy.Level) bool {
	if !w.forbiddenIn(m, at) {
		return false
	}
	w.removeFrom(m, at)
	return true
}

func (w *worker) removeFrom(m pcommon.Map, at policy.Level) {
	m.RemoveIf(func(key string, value pcommon.Value) bool {
		if goes, done := w.change(w.look.see(at, key).enforce, at, key, value); done {
			return goes
		}
		if t := value.Type(); t == pcommon.ValueTypeMap || t == pcommon.ValueTypeSlice {
			w.path.down(key)
			w.removeBelow(value, at)
			w.path.up()
		}
		return false
	})
}

// change does what a verdict wants with an attribute. Done: there is nothing more to do with it.
func (w *worker) change(v *policy.Verdict, at policy.Level, key string, value pcommon.Value) (goes, done bool) {
	if v == nil {
		return false, false
	}
	what, rule, word := v.Decide(value)
	return w.act(what, rule, word, at, key, value)
}

func (w *worker) act(what policy.Outcome, rule policy.RuleID, word string, at policy.Level, key string, value pcommon.Value) (goes, done bool) {
	if what == policy.Stay {
		return false, false
	}
	w.changed(at, rule, what, key, value)
	if what == policy.Replace {
		value.SetStr(word)
		return false, true
	}
	return true, true
}

// removeBelow cleans what is under the worker's path.
func (w *worker) removeBelow(value pcommon.Value, at policy.Level) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		value.Map().RemoveIf(func(key string, value pcommon.Value) bool {
			w.path.down(key)
			defer w.path.up()
			goes, done := w.change(w.look.inside(at, &w.path).enforce, at, "", value)
			if !done {
				w.removeBelow(value, at)
			}
			return goes
		})
	case pcommon.ValueTypeSlice:
		v := w.look.inside(at, &w.path).enforce
		value.Slice().RemoveIf(func(element pcommon.Value) bool {
			if v != nil {
				what, rule, word := v.Element(element)
				if goes, done := w.act(what, rule, word, at, "", element); done {
					return goes
				}
			}
			w.removeBelow(element, at)
			return false
		})
	}
}

// changed counts a removed or replaced attribute; without a key, the one that the worker's path leads to.
func (w *worker) changed(at policy.Level, rule policy.RuleID, what policy.Outcome, key string, value pcommon.Value) {
	if w.silent {
		return
	}
	w.counts.changed(at, rule, what)
	w.sample(rule, key, value)
}

// scrubExemplars removes forbidden filtered attributes; the trace context of an exemplar is no attribute and stays.
func (w *worker) scrubExemplars(exemplars pmetric.ExemplarSlice) {
	for i := range exemplars.Len() {
		w.scrub(exemplars.At(i).FilteredAttributes(), policy.Exemplar)
	}
}

// scrubEntities takes forbidden keys out of a resource's entity references; a reference that lost its identity goes.
func (w *worker) scrubEntities(res pcommon.Resource) {
	forbidden := func(key string) bool {
		rule := w.forbiddenRef(res, key)
		if rule != 0 {
			w.counts.changed(policy.Resource, rule, policy.Remove)
		}
		return rule != 0
	}
	entity.ResourceEntityRefs(res).RemoveIf(func(ref entity.EntityRef) bool {
		had := ref.IdKeys().Len()
		ref.IdKeys().RemoveIf(forbidden)
		ref.DescriptionKeys().RemoveIf(forbidden)
		return had > 0 && ref.IdKeys().Len() == 0
	})
}

// rejectPoints drops the points of a touched metric that have a value off a list which says so.
func (w *worker) rejectPoints(m pmetric.Metric) {
	if !w.policy.DropsPoints() {
		return
	}
	had := pointCount(m)
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		numbers(m).RemoveIf(func(p pmetric.NumberDataPoint) bool { return w.rejects(p.Attributes()) })
	case pmetric.MetricTypeHistogram:
		m.Histogram().DataPoints().RemoveIf(func(p pmetric.HistogramDataPoint) bool { return w.rejects(p.Attributes()) })
	case pmetric.MetricTypeExponentialHistogram:
		m.ExponentialHistogram().DataPoints().RemoveIf(func(p pmetric.ExponentialHistogramDataPoint) bool { return w.rejects(p.Attributes()) })
	case pmetric.MetricTypeSummary:
		m.Summary().DataPoints().RemoveIf(func(p pmetric.SummaryDataPoint) bool { return w.rejects(p.Attributes()) })
	}
	if n := had - pointCount(m); n > 0 {
		w.counts.dropped(m, becauseValue, n)
		if n == had {
			w.plan.metrics[w.at.metric] |= emptied
		}
	}
}

func (w *worker) rejects(m pcommon.Map) bool {
	rejected := false
	m.Range(func(key string, value pcommon.Value) bool {
		if v := w.look.see(policy.Datapoint, key).enforce; v != nil {
			what, rule, _ := v.Decide(value)
			if rejected = what == policy.DropPoint; rejected {
				w.sample(rule, key, value)
			}
		}
		return !rejected
	})
	return rejected
}

// refuse drops a metric that cannot stay.
func (w *worker) refuse(m pmetric.Metric, n *named) {
	if n.Reject == 0 {
		w.counts.dropped(m, becauseValue, pointCount(m))
		return
	}
	why := becauseName
	if n.OffList {
		why = becauseOffList
	}
	w.counts.refused(n.Reject)
	w.counts.dropped(m, why, pointCount(m))
}
