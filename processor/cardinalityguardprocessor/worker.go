package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// worker guards one batch at a time. What it remembers between batches are verdicts and empty buffers.
type worker struct {
	keys, names *cache
	memo        memo
	plan        plan
	counts      counts
	ids         identities
	touched     map[string]struct{} // names of metrics with a touched point in the batch
	at          place
	table       table
	parts       []pmetric.NumberDataPoint // of the point being merged
	total       total
}

func newWorker(r *rules) *worker {
	w := &worker{
		keys:    newCache(r.key),
		names:   newCache(r.name),
		counts:  newCounts(len(r.reasons)),
		touched: map[string]struct{}{},
	}
	w.table.reset()
	w.ids.reset()
	return w
}

// place is where in the batch the worker is. The source identities are from before the removal, the output's from after.
type place struct {
	rm                       pmetric.ResourceMetrics
	sm                       pmetric.ScopeMetrics
	resource, scope          finding
	sourceResource, resultOf id // of the resource
	sourceScope, resultScope id
	resourceKnown            bool
	scopeKnown               bool
	metric                   int // index into the plan
}

// guard removes what is forbidden from a batch and merges or drops what a removal made ambiguous. A batch without
// anything forbidden is not changed.
func (w *worker) guard(md pmetric.Metrics) {
	w.scan(md)
	if !w.plan.dirty {
		return
	}
	w.noteTouched(md)
	w.walk(md)
	w.settle()
	w.emit()
	w.prune(md)
	w.release()
}

// release forgets the batch: nothing of it may stay in memory, nor the room that an unusually large one took.
func (w *worker) release() {
	w.table.reset()
	w.ids.reset()
	clear(w.touched)
	clear(w.parts[:cap(w.parts)])
	w.at = place{}
	if cap(w.parts) > keptIdentities {
		w.parts, w.total.doubles = nil, nil
	}
}

// noteTouched collects the names of touched metrics: an untouched point can only meet a point of the same name.
func (w *worker) noteTouched(md pmetric.Metrics) {
	w.eachMetric(md, func(m pmetric.Metric, found finding) {
		if found&touches != 0 {
			w.touched[m.Name()] = struct{}{}
		}
	})
}

// eachMetric visits the metrics in the order of the plan.
func (w *worker) eachMetric(md pmetric.Metrics, visit func(pmetric.Metric, finding)) {
	next := 0
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		for j := range rm.ScopeMetrics().Len() {
			ms := rm.ScopeMetrics().At(j).Metrics()
			for k := range ms.Len() {
				visit(ms.At(k), w.plan.metrics[next])
				next++
			}
		}
	}
}

// walk removes forbidden attributes and collects the points that may meet another.
func (w *worker) walk(md pmetric.Metrics) {
	scope, metric := 0, 0
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		w.enterResource(rm, w.plan.resources[i])
		for j := range rm.ScopeMetrics().Len() {
			sm := rm.ScopeMetrics().At(j)
			w.enterScope(sm, w.plan.scopes[scope])
			scope++
			for k := range sm.Metrics().Len() {
				w.at.metric = metric
				w.walkMetric(sm.Metrics().At(k), w.plan.metrics[metric])
				metric++
			}
		}
	}
}

func (w *worker) enterResource(rm pmetric.ResourceMetrics, found finding) {
	w.at = place{rm: rm, resource: found}
	if found&soils != 0 {
		w.scrubEntities(rm.Resource())
	}
	if found&touches != 0 {
		w.at.sourceResource = w.ids.resource(rm.Resource().Attributes())
		w.scrub(rm.Resource().Attributes(), onResource)
	}
}

func (w *worker) enterScope(sm pmetric.ScopeMetrics, found finding) {
	w.at.sm, w.at.scope, w.at.scopeKnown = sm, found, false
	if found&touches != 0 {
		w.at.sourceScope = w.ids.scope(sm.Scope())
		w.scrub(sm.Scope().Attributes(), onScope)
	}
}

// metricIDs numbers a metric before and after the removal. Resource and scope are numbered when first needed.
func (w *worker) metricIDs(m pmetric.Metric) (source, result id) {
	p := &w.at
	if !p.resourceKnown {
		p.resourceKnown = true
		p.resultOf = w.ids.resource(p.rm.Resource().Attributes())
		if p.resource&touches == 0 {
			p.sourceResource = p.resultOf
		}
	}
	if !p.scopeKnown {
		p.scopeKnown = true
		p.resultScope = w.ids.scope(p.sm.Scope())
		if p.scope&touches == 0 {
			p.sourceScope = p.resultScope
		}
	}
	source = w.ids.metric(p.sourceResource, p.sourceScope, m)
	result = w.ids.metric(p.resultOf, p.resultScope, m)
	return source, result
}

func (w *worker) walkMetric(m pmetric.Metric, found finding) {
	if found&misnamed != 0 {
		w.counts.dropped(m, becauseName, pointCount(m))
		return
	}
	if found&soils != 0 {
		w.scrub(m.Metadata(), onMetadata)
	}
	_, meets := w.touched[m.Name()]
	how := handlingOf(m)
	switch {
	case found == 0 && (!meets || how == dropped):
	case found&touches == 0 && (!meets || how == dropped):
		w.eachExemplars(m, w.scrubExemplars)
	case how == dropped:
		w.dropTouched(m)
	case how == oneWriter:
		w.collectAny(m)
	default:
		w.collectNumbers(m, how)
	}
}

// eachExemplars visits the exemplars of every point of a metric.
func (w *worker) eachExemplars(m pmetric.Metric, visit func(pmetric.ExemplarSlice)) {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		for _, p := range numbers(m).All() {
			visit(p.Exemplars())
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			visit(p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			visit(p.Exemplars())
		}
	}
}

// prune removes what the guard emptied: metrics, scopes, resources. What came in empty is not ours.
func (w *worker) prune(md pmetric.Metrics) {
	resource, scope, metric := 0, 0, 0
	md.ResourceMetrics().RemoveIf(func(rm pmetric.ResourceMetrics) bool {
		changed := w.plan.resources[resource] != 0
		resource++
		rm.ScopeMetrics().RemoveIf(func(sm pmetric.ScopeMetrics) bool {
			inScope := w.plan.scopes[scope] != 0
			scope++
			sm.Metrics().RemoveIf(func(pmetric.Metric) bool {
				found := w.plan.metrics[metric]
				metric++
				inScope = inScope || found != 0
				return found&(misnamed|emptied) != 0
			})
			if added, some := w.table.added[sm]; some {
				added.MoveAndAppendTo(sm.Metrics())
			}
			changed = changed || inScope
			return inScope && sm.Metrics().Len() == 0
		})
		return changed && rm.ScopeMetrics().Len() == 0
	})
}
