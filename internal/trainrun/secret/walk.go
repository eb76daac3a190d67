package secret

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

const (
	maxDepth = 64   // of maps and lists; what lies deeper is masked as a whole
	maxKinds = 4096 // names whose kind is remembered
	maxName  = 1024 // bytes of a name before a sign
)

// Walker masks values in place, by their names and by what their texts look like. It serves one call after another, not
// several at once.
type Walker struct {
	// URLs says how much of an URL with user information is masked.
	URLs Mode
	// Omit names the values that are removed whatever they hold; nil for none.
	Omit func(key string) bool
	// Known are texts that need no search; nil when none is remembered.
	Known *Known
	// Masked counts what was masked, Omitted what was removed.
	Masked, Omitted int64

	kinds map[string]keyKind
}

// Map masks a map.
func (w *Walker) Map(m pcommon.Map) { w.object(m, 0, keyPlain, false) }

// Value masks a value that has no name.
func (w *Walker) Value(v pcommon.Value) { w.value(v, 0, keyPlain) }

// Text gives a text without its secrets.
func (w *Walker) Text(s string) string {
	if s == "" || w.Known != nil && w.Known.harmless(s) {
		return s
	}
	s, n := maskText(s, w.URLs, w.Omit)
	w.Masked += n
	return s
}

// Named gives the text of a value that has a name.
func (w *Walker) Named(name, value string) string {
	if secretValue(w.kind(name), value) {
		w.Masked++
		return Mask
	}
	return w.Text(value)
}

func (w *Walker) kind(name string) keyKind {
	if k, ok := w.kinds[name]; ok {
		return k
	}
	k := secretKey(name)
	if len(w.kinds) >= maxKinds {
		clear(w.kinds)
	}
	if w.kinds == nil {
		w.kinds = map[string]keyKind{}
	}
	w.kinds[strings.Clone(name)] = k
	return k
}

// object masks a map below a key of some kind. In an environment every key is the name of a variable.
func (w *Walker) object(m pcommon.Map, depth int, kind keyKind, environment bool) {
	named := keyPlain
	if _, pair := m.Get("value"); pair { // {"name": "HF_TOKEN", "value": "x"}
		for k, v := range m.All() {
			if (k == "name" || k == "key") && v.Type() == pcommon.ValueTypeStr {
				named = max(named, w.kind(v.Str()))
			}
		}
	}
	if w.Omit != nil {
		m.RemoveIf(func(k string, _ pcommon.Value) bool {
			omit := w.Omit(k)
			if omit {
				w.Omitted++
			}
			return omit
		})
	}
	var rename []string
	for k, v := range m.All() {
		of := max(kind, w.kind(k))
		_, inKey := maskText(k, w.URLs, nil)
		switch {
		case inKey > 0: // the secret is in the key, not beside it
			of = kind
			rename = append(rename, k)
		case k == "value":
			of = max(of, named)
		case k == "key" && named > keyPlain: // it names the value beside it
			of = kind
		case environment && (of == keyMaybe || of == keyAlone):
			of = keyToken
		}
		if v.Type() == pcommon.ValueTypeMap && !holdsSecret(v, of, depth+1) && depth < maxDepth && isEnvironment(k) {
			w.object(v.Map(), depth+1, of, true)
		} else {
			w.value(v, depth+1, of)
		}
	}
	slices.Sort(rename) // whatever the order of the keys
	for _, k := range rename {
		w.rename(m, k)
	}
}

// rename masks a key. One that is there already gets a number.
func (w *Walker) rename(m pcommon.Map, key string) {
	old, _ := m.Get(key)
	value := pcommon.NewValueEmpty()
	old.MoveTo(value)
	m.Remove(key)
	masked := w.Text(key)
	name := masked
	for n := 2; ; n++ {
		if _, taken := m.Get(name); !taken {
			break
		}
		name = masked + "-" + strconv.Itoa(n)
	}
	value.MoveTo(m.PutEmpty(name))
}

func isEnvironment(key string) bool {
	ws := words(key)
	if len(ws) == 0 {
		return false
	}
	switch ws[0] {
	case "env", "envs", "environ", "environment":
		return true
	default:
		return false
	}
}

func (w *Walker) value(v pcommon.Value, depth int, kind keyKind) {
	switch v.Type() {
	case pcommon.ValueTypeInt, pcommon.ValueTypeDouble:
		if kind == keySecret {
			w.mask(v)
		}
	case pcommon.ValueTypeStr:
		w.text(v, kind)
	case pcommon.ValueTypeBytes:
		if s, n := maskText(string(v.Bytes().AsRaw()), w.URLs, w.Omit); kind >= keyToken || n > 0 {
			w.Masked += max(n, 1)
			v.SetEmptyBytes().FromRaw([]byte(s))
			if kind >= keyToken {
				v.SetStr(Mask)
			}
		}
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		w.branch(v, depth, kind)
	default: // a switch, or nothing
	}
}

func (w *Walker) text(v pcommon.Value, kind keyKind) {
	s := v.Str()
	if secretValue(kind, s) {
		w.mask(v)
	} else if masked, n := maskText(s, w.URLs, w.Omit); n > 0 {
		w.Masked += n
		v.SetStr(masked)
	}
}

// branch masks what is in a map or list; below the name of a secret it is masked whole.
func (w *Walker) branch(v pcommon.Value, depth int, kind keyKind) {
	switch {
	case holdsSecret(v, kind, depth), depth >= maxDepth:
		w.mask(v)
	case v.Type() == pcommon.ValueTypeMap:
		w.object(v.Map(), depth, kind, false)
	default:
		w.list(v.Slice(), depth, kind)
	}
}

func (w *Walker) mask(v pcommon.Value) {
	v.SetStr(Mask)
	w.Masked++
}

// holdsSecret says whether anything below the name of a secret is one.
func holdsSecret(v pcommon.Value, kind keyKind, depth int) bool {
	if kind < keyTokens || depth > maxDepth {
		return false
	}
	switch v.Type() {
	case pcommon.ValueTypeInt, pcommon.ValueTypeDouble:
		return kind == keySecret
	case pcommon.ValueTypeStr:
		return secretValue(kind, v.Str())
	case pcommon.ValueTypeMap:
		for _, e := range v.Map().All() {
			if holdsSecret(e, kind, depth+1) {
				return true
			}
		}
	case pcommon.ValueTypeSlice:
		for _, e := range v.Slice().All() {
			if holdsSecret(e, kind, depth+1) {
				return true
			}
		}
	default: // a switch, or nothing
	}
	return false
}
