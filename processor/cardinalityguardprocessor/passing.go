package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
)

// notePassing tells the engine what goes by without being remembered. Points of a name
// that merges, or that the batch touches, are left to the merge.
func (w *worker) notePassing(md pmetric.Metrics, now int64) {
	at := 0
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		w.at = place{rm: rm}
		for j := range rm.ScopeMetrics().Len() {
			sm := rm.ScopeMetrics().At(j)
			w.at.sm, w.at.scopeKnown = sm, false
			for k := range sm.Metrics().Len() {
				m, newest, found := sm.Metrics().At(k), w.plan.newest[at], w.plan.metrics[at]
				at++
				if newest == 0 || found&(touches|misnamed) != 0 {
					continue
				}
				if _, meets := w.touched[m.Name()]; !meets && !w.engine.Merges(m.Name()) {
					_, result := w.identify(m)
					w.engine.Passed(result, merge.KindOf(m), newest, now)
				}
			}
		}
	}
	w.at = place{}
}
