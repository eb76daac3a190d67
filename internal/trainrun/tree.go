package trainrun

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Bounds of a tree of parameters.
const (
	maxTreeDepth = 32
	maxTreeNodes = 8192
	maxTreeBytes = 1 << 20
)

// treeReader copies a map of parameters, in the order of its keys, without what is secret and within its bounds.
type treeReader struct {
	nodes, bytes int
	masked, cut  int64
}

func (t *treeReader) read(m pcommon.Map) Tree { return t.object(m, 0, keyPlain, false) }

type member struct {
	key   string
	value pcommon.Value
}

// object copies a map below a key of some kind. In an environment every key is the name of a variable.
func (t *treeReader) object(m pcommon.Map, depth int, kind keyKind, environment bool) Tree {
	members := make([]member, 0, m.Len())
	named := keyPlain
	for k, v := range m.All() {
		members = append(members, member{strings.ToValidUTF8(k, "\uFFFD"), v})
		if (k == "name" || k == "key") && v.Type() == pcommon.ValueTypeStr { // {"name": "HF_TOKEN", "value": "x"}
			named = max(named, secretKey(v.Str()))
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	out := make(map[string]any, len(members))
	for _, mb := range members {
		if len(mb.key) > maxName || !t.room(len(mb.key)) {
			t.cut++
			continue
		}
		of := max(kind, secretKey(mb.key))
		switch {
		case mb.key == "value":
			of = max(of, named)
		case environment && of == keyMaybe:
			of = keyToken
		}
		out[mb.key] = t.member(mb, depth+1, of)
	}
	return out
}

func (t *treeReader) member(mb member, depth int, kind keyKind) Tree {
	if mb.value.Type() == pcommon.ValueTypeMap && depth < maxTreeDepth && !holdsSecret(mb.value, kind, depth) && isEnvironment(mb.key) {
		return t.object(mb.value.Map(), depth, kind, true)
	}
	return t.value(mb.value, depth, kind)
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

// room takes one node and n bytes; it answers false when the tree is full.
func (t *treeReader) room(n int) bool {
	if t.nodes >= maxTreeNodes || t.bytes+n > maxTreeBytes {
		return false
	}
	t.nodes++
	t.bytes += n
	return true
}

func (t *treeReader) value(v pcommon.Value, depth int, kind keyKind) Tree {
	switch v.Type() {
	case pcommon.ValueTypeBool:
		return v.Bool()
	case pcommon.ValueTypeInt:
		if kind == keySecret {
			return t.mask()
		}
		return v.Int()
	case pcommon.ValueTypeDouble:
		if kind == keySecret {
			return t.mask()
		}
		return v.Double()
	case pcommon.ValueTypeStr:
		return t.text(v.Str(), kind)
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		return t.branch(v, depth, kind)
	default:
		return nil
	}
}

// branch copies a map or list; below the name of a secret it is masked whole.
func (t *treeReader) branch(v pcommon.Value, depth int, kind keyKind) Tree {
	switch {
	case holdsSecret(v, kind, depth):
		return t.mask()
	case depth >= maxTreeDepth:
		t.cut++
		return nil
	case v.Type() == pcommon.ValueTypeMap:
		return t.object(v.Map(), depth, kind, false)
	default:
		return t.list(v.Slice(), depth, kind)
	}
}

// holdsSecret says whether anything below the name of a secret is one.
func holdsSecret(v pcommon.Value, kind keyKind, depth int) bool {
	if kind < keyTokens || depth > maxTreeDepth {
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

// list copies a list. It may be the words of a command, in which a value follows its flag, or a name and its value.
func (t *treeReader) list(s pcommon.Slice, depth int, kind keyKind) Tree {
	out := make([]any, 0, min(s.Len(), maxTreeNodes))
	next, many := keyPlain, false
	for i, v := range s.All() {
		if !t.room(0) {
			t.cut++
			continue
		}
		word := ""
		if v.Type() == pcommon.ValueTypeStr {
			word = v.Str()
		}
		if isFlagName(word) && !strings.ContainsAny(word, "= \t\n") {
			next, many = secretKey(word), strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss")
			if isUserFlag(word) && i+1 < s.Len() && strings.Contains(s.At(i+1).AsString(), ":") {
				next = keyToken
			}
			out = append(out, t.value(v, depth+1, kind))
			continue
		}
		if s, ok := maskWord(word); ok && kind == keyPlain && next == keyPlain {
			t.masked++
			out = append(out, s)
			continue
		}
		out = append(out, t.value(v, depth+1, max(kind, next)))
		if !many {
			next = keyPlain
		}
		if i == 0 && s.Len() == 2 && !strings.ContainsAny(word, " =:") {
			next = secretKey(word)
		}
	}
	return out
}

// maskWord masks the value of an item such as name=value: it takes all that follows, spaces as well.
func maskWord(w string) (string, bool) {
	name, value, ok := strings.Cut(w, "=")
	if !ok || len(name) > maxName || strings.ContainsAny(name, " \t\n\"':/?;,{[(") || !secretValue(secretKey(name), value) {
		return w, false
	}
	return name + "=" + Mask, true
}

// isFlagName says that a word is a flag, and no value that begins like one: a number, or something random.
func isFlagName(w string) bool {
	name := strings.TrimLeft(w, "-")
	return len(name) > 0 && len(name) < len(w) && len(name) >= len(w)-2 && isAlnum(name[0]) && (name[0] < '0' || name[0] > '9') &&
		!looksRandom(w)
}

func (t *treeReader) text(s string, kind keyKind) Tree {
	if secretValue(kind, s) {
		return t.mask()
	}
	long := len(s) > MaxText
	s, masked := clean(s, MaxText, wholeURL)
	t.masked += masked
	if long {
		t.cut++
	}
	if t.bytes+len(s) > maxTreeBytes {
		t.cut++
		return ""
	}
	t.bytes += len(s)
	return s
}

func (t *treeReader) mask() Tree {
	t.masked++
	return Mask
}
