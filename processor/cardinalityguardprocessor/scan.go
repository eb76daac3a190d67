package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// finding is what a scan saw on a resource, a scope or a metric.
type finding uint8

const (
	// touches: something forbidden is on what belongs to the identity of a point.
	touches finding = 1 << iota
	// soils: something forbidden is on something else: an exemplar, the metadata of a metric, a reference to an entity.
	soils
	// misnamed: the metric cannot stay, because of its name or of a value on its resource or scope.
	misnamed
	// emptied: every point of the metric went or moved. The walk notes it, not the scan.
	emptied
)

// scan looks for what is forbidden. It changes nothing, but that it takes resources and scopes apart whose metrics need different changes. It
// stops at the first finding of each metric.
func (w *worker) scan(md pmetric.Metrics) {
	w.plan.reset()
	w.split(md)
	for i := range md.ResourceMetrics().Len() {
		rm := md.ResourceMetrics().At(i)
		w.see(w.firstOf(rm))
		resource := w.scanResource(rm.Resource())
		w.plan.resources = append(w.plan.resources, resource)
		for j := range rm.ScopeMetrics().Len() {
			sm := rm.ScopeMetrics().At(j)
			w.see(w.firstIn(sm))
			scope := resource &^ soils
			if w.forbiddenIn(sm.Scope().Attributes(), policy.Scope) {
				scope |= touches | w.refuses(sm.Scope().Attributes(), policy.Scope)
			}
			w.plan.scopes = append(w.plan.scopes, scope)
			w.plan.dirty = w.plan.dirty || resource|scope != 0
			for k := range sm.Metrics().Len() {
				found := w.scanMetric(sm.Metrics().At(k), scope)
				w.plan.metrics = append(w.plan.metrics, found)
				w.plan.hashed = append(w.plan.hashed, len(w.plan.hashes))
				w.plan.newest = append(w.plan.newest, w.newest)
				w.plan.dirty = w.plan.dirty || found != 0
			}
		}
		w.plan.dirty = w.plan.dirty || resource != 0
	}
	w.hashes = false
}

// see notes the lens of a resource or a scope and looks through it.
func (w *worker) see(l *lens) {
	w.plan.lenses = append(w.plan.lenses, l)
	w.look = l
}

// firstOf gives the lens of a resource: all its metrics need the same there.
func (w *worker) firstOf(rm pmetric.ResourceMetrics) *lens {
	for j := range rm.ScopeMetrics().Len() {
		if ms := rm.ScopeMetrics().At(j).Metrics(); ms.Len() > 0 {
			return w.of(ms.At(0).Name()).lens
		}
	}
	return w.of("").lens
}

func (w *worker) firstIn(sm pmetric.ScopeMetrics) *lens {
	if sm.Metrics().Len() > 0 {
		return w.of(sm.Metrics().At(0).Name()).lens
	}
	return w.of("").lens
}

func (w *worker) scanResource(res pcommon.Resource) finding {
	var found finding
	if w.forbiddenIn(res.Attributes(), policy.Resource) {
		found |= touches | w.refuses(res.Attributes(), policy.Resource)
	}
	refs := entity.ResourceEntityRefs(res)
	for i := range refs.Len() {
		if w.forbiddenAmong(res, refs.At(i).IdKeys()) || w.forbiddenAmong(res, refs.At(i).DescriptionKeys()) {
			found |= soils
		}
	}
	return found
}

// refuses says whether a value on a resource or a scope takes all its points with it.
func (w *worker) refuses(m pcommon.Map, at policy.Level) (found finding) {
	if !w.policy.DropsPoints() {
		return 0
	}
	m.Range(func(key string, value pcommon.Value) bool {
		if v := w.look.see(at, key).enforce; v != nil {
			if what, _, _ := v.Decide(value); what == policy.DropPoint {
				found = misnamed
			}
		}
		return found == 0
	})
	return found
}

// scanMetric looks at one metric. Where its scope is touched already, its points need no look.
func (w *worker) scanMetric(m pmetric.Metric, scope finding) finding {
	found := scope & (touches | misnamed)
	w.newest = 0
	n := w.of(m.Name())
	w.plan.named = append(w.plan.named, n)
	w.look = n.lens
	if n.Reject != 0 || found&misnamed != 0 {
		return found | misnamed
	}
	if w.forbiddenIn(m.Metadata(), policy.Metadata) {
		found |= soils
	}
	if found&touches != 0 {
		return found
	}
	w.hashes, w.alike = w.native && !n.Single && merge.KindOf(m).Cumulative(), none
	found |= w.scanAll(m)
	if w.hashes || n.Single {
		w.newest = 0 // they are remembered
	}
	return found
}

// forbiddenOn says whether the attributes of a point have something forbidden at any depth.
func (w *worker) forbiddenOn(m pcommon.Map) bool {
	if m.Len() == 0 {
		return false
	}
	l, hashes := w.look, w.hashes
	at, found := 0, false
	m.Range(func(key string, value pcommon.Value) bool {
		if hashes {
			w.batch.Hasher.Put(key, value)
		}
		v := l.point(at, key)
		at++
		switch value.Type() {
		case pcommon.ValueTypeStr: // most of them
			found = v != nil && !v.Leaves(value.Str()) && acts(v, value)
		case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
			found = (v != nil && acts(v, value)) || w.forbiddenInside(value, policy.Datapoint, key)
		default:
			found = v != nil && acts(v, value)
		}
		return !found
	})
	return found
}

func acts(v *policy.Verdict, value pcommon.Value) bool {
	what, _, _ := v.Decide(value)
	return what != policy.Stay
}

// forbiddenIn is forbiddenOn for sets that rarely resemble the one before.
func (w *worker) forbiddenIn(m pcommon.Map, at policy.Level) bool {
	if at == policy.Datapoint {
		return w.forbiddenOn(m)
	}
	found := false
	m.Range(func(key string, value pcommon.Value) bool {
		v := w.look.see(at, key).enforce
		found = (v != nil && acts(v, value)) || w.forbiddenInside(value, at, key)
		return !found
	})
	return found
}

// forbiddenInside looks into an attribute that is a map or an array.
func (w *worker) forbiddenInside(value pcommon.Value, at policy.Level, key string) bool {
	if t := value.Type(); t != pcommon.ValueTypeMap && t != pcommon.ValueTypeSlice {
		return false
	}
	w.path.down(key)
	defer w.path.up()
	return w.forbiddenBelow(value, at)
}

// forbiddenBelow looks at what is under the worker's path.
func (w *worker) forbiddenBelow(value pcommon.Value, at policy.Level) (found bool) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		value.Map().Range(func(key string, value pcommon.Value) bool {
			w.path.down(key)
			v := w.look.inside(at, &w.path).enforce
			found = (v != nil && acts(v, value)) || w.forbiddenBelow(value, at)
			w.path.up()
			return !found
		})
	case pcommon.ValueTypeSlice:
		list := value.Slice()
		v := w.look.inside(at, &w.path).enforce
		for i := range list.Len() {
			if v != nil {
				if what, _, _ := v.Element(list.At(i)); what != policy.Stay {
					return true
				}
			}
			if w.forbiddenBelow(list.At(i), at) {
				return true
			}
		}
	}
	return found
}

func (w *worker) forbiddenAmong(res pcommon.Resource, keys pcommon.StringSlice) bool {
	for i := range keys.Len() {
		if rule := w.forbiddenRef(res, keys.At(i)); rule != 0 {
			return true
		}
	}
	return false
}

// forbiddenRef gives the rule that takes a key, or the attribute that it refers to, off a resource.
func (w *worker) forbiddenRef(res pcommon.Resource, key string) policy.RuleID {
	v := w.look.see(policy.Resource, key).enforce
	if v == nil {
		return 0
	}
	if rule := v.Key(); rule != 0 {
		return rule
	}
	if value, some := res.Attributes().Get(key); some {
		if what, rule, _ := v.Decide(value); what == policy.Remove {
			return rule
		}
	}
	return 0
}
