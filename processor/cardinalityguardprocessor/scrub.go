package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// level is where an attribute was removed.
type level uint8

const (
	onResource level = iota
	onScope
	onDatapoint
	onExemplar
	onMetadata
	levels // their number
)

var levelNames = [levels]string{"resource", "scope", "datapoint", "exemplar", "metadata"}

// scrub removes the forbidden keys of a set of attributes at every depth, counts them and says whether there was one.
// A nested map that becomes empty stays: its key is not forbidden.
func (w *worker) scrub(m pcommon.Map, at level) bool {
	if !w.forbiddenIn(m) {
		return false
	}
	w.removeFrom(m, at)
	return true
}

func (w *worker) removeFrom(m pcommon.Map, at level) {
	m.RemoveIf(func(key string, value pcommon.Value) bool {
		if v, _ := w.keys.get(key); v != allowed {
			w.counts.removed(at, v)
			return true
		}
		w.removeInside(value, at)
		return false
	})
}

func (w *worker) removeInside(value pcommon.Value, at level) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		w.removeFrom(value.Map(), at)
	case pcommon.ValueTypeSlice:
		list := value.Slice()
		for i := range list.Len() {
			w.removeInside(list.At(i), at)
		}
	}
}

// scrubExemplars removes forbidden filtered attributes; the trace context of an exemplar is no attribute and stays.
func (w *worker) scrubExemplars(exemplars pmetric.ExemplarSlice) {
	for i := range exemplars.Len() {
		w.scrub(exemplars.At(i).FilteredAttributes(), onExemplar)
	}
}

// scrubEntities takes forbidden keys out of a resource's entity references; a reference that lost its identity goes.
func (w *worker) scrubEntities(res pcommon.Resource) {
	forbidden := func(key string) bool {
		v, _ := w.keys.get(key)
		if v != allowed {
			w.counts.removed(onResource, v)
		}
		return v != allowed
	}
	entity.ResourceEntityRefs(res).RemoveIf(func(ref entity.EntityRef) bool {
		had := ref.IdKeys().Len()
		ref.IdKeys().RemoveIf(forbidden)
		ref.DescriptionKeys().RemoveIf(forbidden)
		return had > 0 && ref.IdKeys().Len() == 0
	})
}
