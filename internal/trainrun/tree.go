package trainrun

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
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

func (t *treeReader) read(m pcommon.Map) Tree { return t.object(m, 0, false) }

type member struct {
	key   string
	value pcommon.Value
}

func (t *treeReader) object(m pcommon.Map, depth int, secret bool) Tree {
	members := make([]member, 0, m.Len())
	for k, v := range m.All() {
		members = append(members, member{k, v})
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	out := make(map[string]any, len(members))
	for _, mb := range members {
		if len(mb.key) > maxName || !t.room(len(mb.key)) {
			t.cut++
			continue
		}
		kind := secretKey(mb.key)
		if secret {
			kind = keySecret
		}
		out[mb.key] = t.value(mb.value, depth+1, kind)
	}
	return out
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
	case pcommon.ValueTypeMap:
		if depth >= maxTreeDepth {
			t.cut++
			return nil
		}
		return t.object(v.Map(), depth, kind == keySecret)
	case pcommon.ValueTypeSlice:
		return t.list(v.Slice(), depth, kind)
	default:
		return nil
	}
}

func (t *treeReader) list(s pcommon.Slice, depth int, kind keyKind) Tree {
	if depth >= maxTreeDepth {
		t.cut++
		return nil
	}
	out := make([]any, 0, min(s.Len(), maxTreeNodes))
	for _, v := range s.All() {
		if !t.room(0) {
			t.cut++
			continue
		}
		out = append(out, t.value(v, depth+1, kind))
	}
	return out
}

func (t *treeReader) text(s string, kind keyKind) Tree {
	if s != "" && (kind == keySecret || kind == keyToken || kind == keyMaybe && looksRandom(s) || secretShape(s)) {
		return t.mask()
	}
	if len(s) > MaxText {
		t.cut++
		s = trainrecord.CutText([]byte(s), MaxText)
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
