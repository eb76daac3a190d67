package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// split takes resources and scopes apart whose metrics need different changes there: a policy takes the workload's identity off the metrics of
// a training, and the host's metrics of the same resource keep it. Afterwards one look fits all metrics of a resource, and of a scope.
func (w *worker) split(md pmetric.Metrics) {
	if !w.policy.Selects() {
		return
	}
	for i := range md.ResourceMetrics().Len() {
		w.splitResource(md, md.ResourceMetrics().At(i))
	}
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		for j := range rm.ScopeMetrics().Len() {
			w.splitScope(rm, rm.ScopeMetrics().At(j))
		}
	}
}

// parting is the metrics that need the same changes.
type parting struct {
	of     map[string]int // group of each class
	result []pcommon.Map  // of each group; the first group stays where it is
	refs   []string       // of each group: the keys that entity references lose
}

// part groups the lenses of some metrics by what they make of attributes and of references to entities. It is nil when all metrics need the same.
func (w *worker) part(attrs pcommon.Map, at policy.Level, lenses []*lens, refs func() string) *parting {
	untouched := 0 // these come first
	for i, l := range lenses {
		w.look = l
		if !w.forbiddenIn(attrs, at) && refs() == "" {
			lenses[untouched], lenses[i] = lenses[i], lenses[untouched]
			untouched++
		}
	}
	if untouched == len(lenses) {
		return nil
	}
	p := &parting{of: map[string]int{}}
	w.silent = true
	defer func() { w.silent = false }()
	for _, l := range lenses {
		w.look = l
		lost := refs()
		result := pcommon.NewMap()
		attrs.CopyTo(result)
		w.scrub(result, at)
		n := 0
		for n < len(p.result) && (p.refs[n] != lost || !p.result[n].Equal(result)) {
			n++
		}
		if n == len(p.result) {
			p.result, p.refs = append(p.result, result), append(p.refs, lost)
		}
		p.of[l.class.ID()] = n
	}
	if len(p.result) < 2 {
		return nil
	}
	return p
}

// lostRefs lists the keys that the entity references of a resource lose.
func (w *worker) lostRefs(res pcommon.Resource) string {
	lost := ""
	refs := entity.ResourceEntityRefs(res)
	for i := range refs.Len() {
		for _, keys := range [...]pcommon.StringSlice{refs.At(i).IdKeys(), refs.At(i).DescriptionKeys()} {
			for _, key := range keys.All() {
				if w.forbiddenRef(res, key) != 0 {
					lost += key + "\x00"
				}
			}
		}
	}
	return lost
}

// differing lists the lenses of some metrics, if there is more than one.
func (w *worker) differing(found []*lens, ms pmetric.MetricSlice) []*lens {
	for k := range ms.Len() {
		l := w.of(ms.At(k).Name()).lens
		known := false
		for _, f := range found {
			known = known || f.class.ID() == l.class.ID()
		}
		if !known {
			found = append(found, l)
		}
	}
	return found
}

func (w *worker) splitResource(md pmetric.Metrics, rm pmetric.ResourceMetrics) {
	found := w.found[:0]
	for j := range rm.ScopeMetrics().Len() {
		found = w.differing(found, rm.ScopeMetrics().At(j).Metrics())
	}
	w.found = found
	if len(found) < 2 {
		return
	}
	p := w.part(rm.Resource().Attributes(), policy.Resource, found, func() string { return w.lostRefs(rm.Resource()) })
	if p == nil {
		return
	}
	for n := range p.result[1:] {
		other := md.ResourceMetrics().AppendEmpty()
		rm.Resource().CopyTo(other.Resource())
		other.SetSchemaUrl(rm.SchemaUrl())
		rm.ScopeMetrics().RemoveIf(func(sm pmetric.ScopeMetrics) bool {
			had := sm.Metrics().Len()
			moved := pmetric.NewMetricSlice()
			w.move(sm.Metrics(), moved, p, n+1)
			if moved.Len() == 0 {
				return false
			}
			to := other.ScopeMetrics().AppendEmpty()
			sm.Scope().CopyTo(to.Scope())
			to.SetSchemaUrl(sm.SchemaUrl())
			moved.MoveAndAppendTo(to.Metrics())
			return had > 0 && sm.Metrics().Len() == 0
		})
	}
}

func (w *worker) splitScope(rm pmetric.ResourceMetrics, sm pmetric.ScopeMetrics) {
	if sm.Scope().Attributes().Len() == 0 {
		return
	}
	w.found = w.differing(w.found[:0], sm.Metrics())
	if len(w.found) < 2 {
		return
	}
	p := w.part(sm.Scope().Attributes(), policy.Scope, w.found, func() string { return "" })
	if p == nil {
		return
	}
	for n := range p.result[1:] {
		other := rm.ScopeMetrics().AppendEmpty()
		sm.Scope().CopyTo(other.Scope())
		other.SetSchemaUrl(sm.SchemaUrl())
		w.move(sm.Metrics(), other.Metrics(), p, n+1)
	}
}

// move takes the metrics of a group to another slice.
func (w *worker) move(from, to pmetric.MetricSlice, p *parting, group int) {
	from.RemoveIf(func(m pmetric.Metric) bool {
		if p.of[w.of(m.Name()).lens.class.ID()] != group {
			return false
		}
		m.MoveTo(to.AppendEmpty())
		return true
	})
}
