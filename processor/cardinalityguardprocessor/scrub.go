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
	w.removeFrom(m, at, false)
	return true
}

func (w *worker) removeFrom(m pcommon.Map, at policy.Level, inside bool) {
	m.RemoveIf(func(key string, value pcommon.Value) bool {
		if v := w.look.see(at, inside, key).enforce; v != nil {
			what, rule, word := v.Decide(value)
			if what != policy.Stay {
				w.changed(at, rule, what, key, value)
			}
			switch what {
			case policy.Remove, policy.DropPoint:
				return true
			case policy.Replace:
				value.SetStr(word)
				return false
			}
		}
		w.removeInside(value, at, key)
		return false
	})
}

func (w *worker) removeInside(value pcommon.Value, at policy.Level, key string) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		w.removeFrom(value.Map(), at, true)
	case pcommon.ValueTypeSlice:
		v := w.look.see(at, true, key).enforce
		value.Slice().RemoveIf(func(element pcommon.Value) bool {
			if v != nil {
				what, rule, word := v.Element(element)
				if what != policy.Stay {
					w.changed(at, rule, what, key, element)
				}
				switch what {
				case policy.Remove:
					return true
				case policy.Replace:
					element.SetStr(word)
					return false
				}
			}
			w.removeInside(element, at, key)
			return false
		})
	}
}

// changed counts a removed or replaced attribute.
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
		if v := w.look.see(policy.Datapoint, false, key).enforce; v != nil {
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
