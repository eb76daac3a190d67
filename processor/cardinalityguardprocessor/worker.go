package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// worker guards one batch at a time. What it remembers between batches are verdicts and empty buffers; what is known of series is the engine's.
type worker struct {
	*government
	names    map[string]*named
	lenses   map[*policy.Class]*lens
	room     *room  // of the lenses
	look     *lens  // of what is looked at
	metric   string // that is looked at; empty on a resource or a scope
	found    []*lens
	silent   bool // nothing is counted
	tenant   string
	examples []example
	hits     []hit            // of one set of attributes, in a survey
	tally    map[change]int64 // of a batch, for the report; nil: not wanted
	plan     plan
	counts   counts
	engine   *merge.Engine
	batch    *merge.Batch
	native   bool                // native cumulative series are remembered
	hashes   bool                // those of the metric that is scanned are
	newest   int64               // time of its points
	alike    int                 // the number of attributes of its last point, whose keys are the memo's
	touched  map[string]struct{} // names of metrics with a touched point in the batch
	path     path                // into an attribute that is looked at
	at       place
	metrics  []managed
	byName   map[string]int32 // the last managed metric of a name
	heads    []int32          // the first one of each name
	writers  writers
}

// managed is a metric whose points go through the engine.
type managed struct {
	group merge.Group
	plan  int
	had   int   // points
	next  int32 // of the same name
}

const none = -1

const keptMetrics = 1 << 12 // above this a batch's tables are not kept for the next one

func newWorker(g *government, engine *merge.Engine, native bool) *worker {
	w := &worker{
		engine:  engine,
		native:  native,
		touched: map[string]struct{}{},
		byName:  map[string]int32{},
	}
	w.obey(g)
	w.batch = engine.NewBatch(w)
	return w
}

// place is where in the batch the worker is. The source identities are from before the removal, the output's from after.
type place struct {
	rm                       pmetric.ResourceMetrics
	sm                       pmetric.ScopeMetrics
	resource, scope          finding
	sourceResource, resultOf merge.Hash // of the resource
	sourceScope, resultScope merge.Hash
	resourceKnown            bool
	scopeKnown               bool
	metric                   int // index into the plan
}

// guard removes what is forbidden from a batch and hands what merges to the engine. A batch without either is not changed.
func (w *worker) guard(md pmetric.Metrics, now int64) {
	w.scan(md)
	w.noteTouched(md)
	w.notePassing(md, now)
	if !w.plan.dirty && !w.concerns(md) {
		w.release()
		return
	}
	w.walk(md)
	w.merge(now)
	w.settleWriters(now)
	w.prune(md)
	w.release()
}

// concerns says whether the engine has to see a metric of a batch in which nothing is forbidden.
func (w *worker) concerns(md pmetric.Metrics) bool {
	concerned := false
	w.eachMetric(md, func(m pmetric.Metric, _ finding) {
		concerned = concerned || (w.native && (merge.KindOf(m).Cumulative() || w.of(m.Name()).Single)) || w.engine.Merges(m.Name())
	})
	return concerned
}

// release forgets the batch: nothing of it may stay in memory, nor the room that an unusually large one took.
func (w *worker) release() {
	clear(w.metrics)
	w.metric = ""
	clear(w.touched)
	clear(w.byName)
	w.metrics, w.heads = w.metrics[:0], w.heads[:0]
	w.writers.reset()
	w.at = place{}
	w.path.release()
	w.batch.Hasher.Release()
	if cap(w.metrics) > keptMetrics {
		w.metrics, w.heads = nil, nil
		w.touched, w.byName = map[string]struct{}{}, map[string]int32{}
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

// walk removes forbidden attributes and collects the metrics whose points may meet others.
func (w *worker) walk(md pmetric.Metrics) {
	scope, metric, lens := 0, 0, 0
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		w.look, w.metric = w.plan.lenses[lens], ""
		lens++
		w.enterResource(rm, w.plan.resources[i])
		for j := range rm.ScopeMetrics().Len() {
			sm := rm.ScopeMetrics().At(j)
			w.look, w.metric = w.plan.lenses[lens], ""
			lens++
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
		w.at.sourceResource = w.batch.Hasher.Tenant(w.batch.Hasher.Resource(rm.Resource().Attributes()), w.tenant)
		w.scrub(rm.Resource().Attributes(), policy.Resource)
	}
}

func (w *worker) enterScope(sm pmetric.ScopeMetrics, found finding) {
	w.at.sm, w.at.scope, w.at.scopeKnown = sm, found, false
	if found&touches != 0 {
		w.at.sourceScope = w.batch.Hasher.Scope(sm.Scope())
		w.scrub(sm.Scope().Attributes(), policy.Scope)
	}
}

// identify gives the identity of a metric from before and after the removal. Resource and scope are looked at when first needed.
func (w *worker) identify(m pmetric.Metric) (source, result merge.Hash) {
	p, h := &w.at, &w.batch.Hasher
	if !p.resourceKnown {
		p.resourceKnown = true
		p.resultOf = h.Tenant(h.Resource(p.rm.Resource().Attributes()), w.tenant)
		if p.resource&touches == 0 {
			p.sourceResource = p.resultOf
		}
	}
	if !p.scopeKnown {
		p.scopeKnown = true
		p.resultScope = h.Scope(p.sm.Scope())
		if p.scope&touches == 0 {
			p.sourceScope = p.resultScope
		}
	}
	result = h.Metric(p.resultOf, p.resultScope, m)
	if p.scope&touches == 0 {
		return result, result
	}
	return h.Metric(p.sourceResource, p.sourceScope, m), result
}

func (w *worker) walkMetric(m pmetric.Metric, found finding) {
	n := w.plan.named[w.at.metric]
	w.look, w.metric = n.lens, m.Name()
	if found&misnamed != 0 {
		w.refuse(m, n)
		return
	}
	if found&touches != 0 {
		w.rejectPoints(m)
	}
	if found&soils != 0 {
		w.scrub(m.Metadata(), policy.Metadata)
	}
	_, meets := w.touched[m.Name()]
	switch {
	case n.Single:
		if meets || w.native {
			w.collectWriter(m)
		} else {
			w.cleanExemplars(m, found)
		}
	case meets || w.engine.Merges(m.Name()) || (w.native && merge.KindOf(m).Cumulative()):
		w.manage(m, found)
	default:
		w.cleanExemplars(m, found)
	}
}

func (w *worker) cleanExemplars(m pmetric.Metric, found finding) {
	if found != 0 {
		eachExemplars(m, w.ScrubExemplars)
	}
}

// manage collects a metric for the engine.
func (w *worker) manage(m pmetric.Metric, found finding) {
	source, result := w.identify(m)
	var hashes []merge.Hash
	if found&touches == 0 { // otherwise points may have gone since
		hashes = w.plan.hashesOf(w.at.metric)
	}
	at := int32(len(w.metrics))
	w.metrics = append(w.metrics, managed{next: none, plan: w.at.metric, had: pointCount(m), group: merge.Group{
		Metric:   m,
		Resource: w.at.rm.Resource(), ResourceSchema: w.at.rm.SchemaUrl(),
		Scope: w.at.sm.Scope(), ScopeSchema: w.at.sm.SchemaUrl(), Tenant: w.tenant,
		Source: source, Output: result,
		Touched: w.at.scope&touches != 0, Clean: found&(touches|soils) == 0,
		Attributes: hashes,
	}})
	if before, known := w.byName[m.Name()]; known {
		w.metrics[before].next = at
	} else {
		w.heads = append(w.heads, at)
	}
	w.byName[m.Name()] = at
}

// merge hands the metrics to the engine, all of one name at once.
func (w *worker) merge(now int64) {
	generation := w.generation
	for _, head := range w.heads {
		w.metric = w.metrics[head].group.Metric.Name()
		w.look = w.of(w.metric).lens
		for i := head; i != none; i = w.metrics[i].next {
			w.batch.Add(w.metrics[i].group)
		}
		w.batch.Apply(now, generation)
		for i := head; i != none; i = w.metrics[i].next {
			if c := &w.metrics[i]; c.had > 0 && pointCount(c.group.Metric) == 0 {
				w.plan.metrics[c.plan] |= emptied
			}
		}
	}
}

// ScrubPoint cleans the attributes of a point.
func (w *worker) ScrubPoint(attrs pcommon.Map) bool { return w.scrub(attrs, policy.Datapoint) }

// ScrubExemplars cleans exemplars.
func (w *worker) ScrubExemplars(exemplars pmetric.ExemplarSlice) { w.scrubExemplars(exemplars) }

// prune removes what the guard emptied: metrics, scopes, resources. What came in empty is not ours.
func (w *worker) prune(md pmetric.Metrics) {
	resource, scope, metric := 0, 0, 0
	md.ResourceMetrics().RemoveIf(func(rm pmetric.ResourceMetrics) bool {
		pruned := false
		resource++
		rm.ScopeMetrics().RemoveIf(func(sm pmetric.ScopeMetrics) bool {
			inScope := false
			scope++
			sm.Metrics().RemoveIf(func(pmetric.Metric) bool {
				found := w.plan.metrics[metric]
				metric++
				inScope = inScope || found&(misnamed|emptied) != 0
				return found&(misnamed|emptied) != 0
			})
			pruned = pruned || inScope
			return inScope && sm.Metrics().Len() == 0
		})
		return pruned && rm.ScopeMetrics().Len() == 0
	})
}
