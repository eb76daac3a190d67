package trainingnormprocessor

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

var nothing = pcommon.NewMap()

// moving are the attributes that the registry allows on a signal, but neither on a resource nor on metrics.
func moving(signal string) map[string]bool {
	keys := map[string]bool{}
	reg := trainrecord.Load()
	for _, n := range reg.Names {
		forbidden := slices.Contains(n.Signals, "metric") || slices.Contains(n.Signals, "resource")
		if n.Kind == trainrecord.KindAttribute && slices.Contains(n.Signals, signal) && !forbidden {
			keys[reg.Namespace+"."+n.Name] = true
		}
	}
	return keys
}

// lifted are attributes on their way from a resource to what it describes.
type lifted struct {
	keys   map[string]bool
	values pcommon.Map
}

func newLifted(signal string) lifted { return lifted{keys: moving(signal), values: pcommon.NewMap()} }

// take removes the vocabulary's attributes and others that name a run from a resource; it gives their number.
func (l *lifted) take(resource pcommon.Map, others []string) int64 {
	l.values.Clear()
	resource.RemoveIf(func(key string, v pcommon.Value) bool {
		if !l.keys[key] && !slices.Contains(others, key) {
			return false
		}
		v.CopyTo(l.values.PutEmpty(key))
		return true
	})
	return int64(l.values.Len())
}

// put sets them where they are absent.
func (l *lifted) put(attributes pcommon.Map) {
	for key, v := range l.values.All() {
		if _, own := attributes.Get(key); !own {
			v.CopyTo(attributes.PutEmpty(key))
		}
	}
}
