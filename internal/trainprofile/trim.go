package trainprofile

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// trimKeys rewrites a map whose keys have white space around them. A key whose trimmed form another key has stays as it is.
func trimKeys(m pcommon.Map) {
	out, wide := pcommon.NewMap(), trainrecord.Wide{}
	put, spelled := out.GetOrPutEmpty, func(key string) bool {
		_, ok := m.Get(key)
		return ok
	}
	if m.Len() < trainrecord.WideFrom {
		out.EnsureCapacity(m.Len())
	} else {
		put = func(key string) (pcommon.Value, bool) { return wide.Put(out, key) }
		spelled = keySet(m)
	}
	for k, v := range m.All() {
		key := strings.TrimSpace(k)
		if key != k && spelled(key) {
			key = k
		}
		dst, taken := put(key)
		if taken {
			dst, _ = put(k)
		}
		v.MoveTo(dst)
	}
	wide.Flush(out)
	out.MoveTo(m)
}

// keySet looks keys of a map up in one of Go's.
func keySet(m pcommon.Map) func(key string) bool {
	keys := make(map[string]struct{}, m.Len())
	for k := range m.All() {
		keys[k] = struct{}{}
	}
	return func(key string) bool {
		_, ok := keys[key]
		return ok
	}
}
