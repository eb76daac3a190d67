package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
)

const keptHashes = 1 << 15 // above this the room for them is not kept for the next batch

// plan is what a scan saw on the resources, scopes and metrics of a batch, each in order.
type plan struct {
	resources, scopes, metrics []finding
	named                      []*named     // metrics
	lenses                     []*lens      // resources and scopes, in the order of the walk
	hashes                     []merge.Hash // of the attributes of points
	hashed                     []int        // for each metric, where its hashes end
	newest                     []int64      // for each metric, the newest time of its points, if they are not remembered when they pass
	dirty                      bool
}

func (p *plan) reset() {
	p.resources, p.scopes, p.metrics = p.resources[:0], p.scopes[:0], p.metrics[:0]
	clear(p.named)
	clear(p.lenses)
	p.named, p.lenses = p.named[:0], p.lenses[:0]
	p.hashes, p.hashed, p.newest = p.hashes[:0], p.hashed[:0], p.newest[:0]
	if cap(p.hashes) > keptHashes {
		p.hashes = nil
	}
	p.dirty = false
}

// hashesOf gives the hashes of the attributes of a metric's points, as far as they were made.
func (p *plan) hashesOf(metric int) []merge.Hash {
	from := 0
	if metric > 0 {
		from = p.hashed[metric-1]
	}
	return p.hashes[from:p.hashed[metric]]
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

// forbiddenOnPoint is forbiddenOn, and notes the identity of attributes that the engine will ask for: while they are looked at, they are near.
func (w *worker) forbiddenOnPoint(attrs pcommon.Map) bool {
	if !w.hashes {
		return w.forbiddenOn(attrs)
	}
	l, h := w.look, &w.batch.Hasher
	l.other = false
	h.Begin()
	if w.forbiddenOn(attrs) {
		return true
	}
	n := attrs.Len()
	alike := !l.other && n == w.alike
	w.alike = n
	w.plan.hashes = append(w.plan.hashes, h.Sum(alike))
	return false
}
