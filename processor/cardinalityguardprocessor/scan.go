package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// finding is what a scan saw on a resource, a scope or a metric.
type finding uint8

const (
	// touches: a forbidden key is on something that belongs to the identity of a point.
	touches finding = 1 << iota
	// soils: a forbidden key is on something else: an exemplar, the metadata of a metric, a reference to an entity.
	soils
	// misnamed: the metric's name cannot stay.
	misnamed
	// emptied: every point of the metric went or moved. The walk notes it, not the scan.
	emptied
)

// plan is what a scan saw on the resources, scopes and metrics of a batch, each in order.
type plan struct {
	resources, scopes, metrics []finding
	dirty                      bool
}

func (p *plan) reset() {
	p.resources, p.scopes, p.metrics = p.resources[:0], p.scopes[:0], p.metrics[:0]
	p.dirty = false
}

// scan looks for forbidden keys and changes nothing. It stops at the first one of each metric.
func (w *worker) scan(md pmetric.Metrics) {
	w.plan.reset()
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		resource := w.scanResource(rm.Resource())
		w.plan.resources = append(w.plan.resources, resource)
		for j := range rm.ScopeMetrics().Len() {
			sm := rm.ScopeMetrics().At(j)
			scope := resource & touches
			if w.forbiddenIn(sm.Scope().Attributes()) {
				scope |= touches
			}
			w.plan.scopes = append(w.plan.scopes, scope)
			w.plan.dirty = w.plan.dirty || resource|scope != 0
			for k := range sm.Metrics().Len() {
				found := w.scanMetric(sm.Metrics().At(k), scope)
				w.plan.metrics = append(w.plan.metrics, found)
				w.plan.dirty = w.plan.dirty || found != 0
			}
		}
		w.plan.dirty = w.plan.dirty || resource != 0
	}
}

func (w *worker) scanResource(res pcommon.Resource) finding {
	var found finding
	if w.forbiddenIn(res.Attributes()) {
		found |= touches
	}
	refs := entity.ResourceEntityRefs(res)
	for i := range refs.Len() {
		if w.forbiddenAmong(refs.At(i).IdKeys()) || w.forbiddenAmong(refs.At(i).DescriptionKeys()) {
			found |= soils
		}
	}
	return found
}

// scanMetric looks at one metric. Where its scope is touched already, its points need no look.
func (w *worker) scanMetric(m pmetric.Metric, scope finding) finding {
	found := scope & touches
	if v, _ := w.names.get(m.Name()); v != allowed {
		return found | misnamed
	}
	if w.forbiddenIn(m.Metadata()) {
		found |= soils
	}
	if found&touches != 0 {
		return found
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		return found | scanNumbers(w, numbers(m))
	case pmetric.MetricTypeHistogram:
		return found | scanSampled(w, m.Histogram().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		return found | scanSampled(w, m.ExponentialHistogram().DataPoints())
	case pmetric.MetricTypeSummary:
		return found | scanPoints(w, m.Summary().DataPoints())
	}
	return found
}

// scanNumbers is scanSampled for the most frequent kind, without the cost of type parameters.
func scanNumbers(w *worker, points pmetric.NumberDataPointSlice) finding {
	var found finding
	for i := range points.Len() {
		p := points.At(i)
		if w.forbiddenIn(p.Attributes()) {
			return found | touches
		}
		if p.Exemplars().Len() > 0 && w.soiled(p.Exemplars()) {
			found |= soils
		}
	}
	return found
}

func scanSampled[P sampled, S pointSlice[P]](w *worker, points S) finding {
	var found finding
	for i := range points.Len() {
		p := points.At(i)
		if w.forbiddenIn(p.Attributes()) {
			return found | touches
		}
		if w.soiled(p.Exemplars()) {
			found |= soils
		}
	}
	return found
}

func scanPoints[P dataPoint, S pointSlice[P]](w *worker, points S) finding {
	for i := range points.Len() {
		if w.forbiddenIn(points.At(i).Attributes()) {
			return touches
		}
	}
	return 0
}

// soiled says whether an exemplar has a forbidden key.
func (w *worker) soiled(exemplars pmetric.ExemplarSlice) bool {
	for i := range exemplars.Len() {
		if w.forbiddenInside(exemplars.At(i).FilteredAttributes()) {
			return true
		}
	}
	return false
}

// forbiddenIn says whether a set of attributes has a forbidden key at any depth.
func (w *worker) forbiddenIn(m pcommon.Map) bool {
	if m.Len() == 0 {
		return false
	}
	at, found := 0, false
	m.Range(func(key string, value pcommon.Value) bool {
		found = w.memo.forbidden(w.keys, at, key) || w.forbiddenInValue(value)
		at++
		return !found
	})
	return found
}

// forbiddenInside is forbiddenIn for sets that rarely resemble the one before.
func (w *worker) forbiddenInside(m pcommon.Map) bool {
	found := false
	m.Range(func(key string, value pcommon.Value) bool {
		v, _ := w.keys.get(key)
		found = v != allowed || w.forbiddenInValue(value)
		return !found
	})
	return found
}

func (w *worker) forbiddenInValue(value pcommon.Value) bool {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		return w.forbiddenInside(value.Map())
	case pcommon.ValueTypeSlice:
		list := value.Slice()
		for i := range list.Len() {
			if w.forbiddenInValue(list.At(i)) {
				return true
			}
		}
	}
	return false
}

func (w *worker) forbiddenAmong(keys pcommon.StringSlice) bool {
	for i := range keys.Len() {
		if v, _ := w.keys.get(keys.At(i)); v != allowed {
			return true
		}
	}
	return false
}
