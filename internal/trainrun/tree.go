package trainrun

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Bounds of a tree of parameters.
const (
	maxTreeDepth = 32
	maxTreeNodes = 8192
	maxTreeBytes = 1 << 20
)

// treeReader copies a map of parameters, in the order of its keys, within its bounds.
type treeReader struct {
	nodes, bytes int
	cut          int64
}

type member struct {
	key   string
	value pcommon.Value
}

func (t *treeReader) object(m pcommon.Map, depth int) Tree {
	members := make([]member, 0, m.Len())
	for k, v := range m.All() {
		members = append(members, member{strings.ToValidUTF8(k, "\uFFFD"), v})
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	out := make(map[string]any, len(members))
	for _, mb := range members {
		if len(mb.key) > maxName || !t.room(len(mb.key)) {
			t.cut++
			continue
		}
		out[mb.key] = t.value(mb.value, depth+1)
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

func (t *treeReader) value(v pcommon.Value, depth int) Tree {
	switch v.Type() {
	case pcommon.ValueTypeBool:
		return v.Bool()
	case pcommon.ValueTypeInt:
		return v.Int()
	case pcommon.ValueTypeDouble:
		return v.Double()
	case pcommon.ValueTypeStr:
		return t.text(v.Str())
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		switch {
		case depth >= maxTreeDepth:
			t.cut++
			return nil
		case v.Type() == pcommon.ValueTypeMap:
			return t.object(v.Map(), depth)
		default:
			return t.list(v.Slice(), depth)
		}
	default:
		return nil
	}
}

func (t *treeReader) list(s pcommon.Slice, depth int) Tree {
	out := make([]any, 0, min(s.Len(), maxTreeNodes))
	for _, v := range s.All() {
		if !t.room(0) {
			t.cut++
			continue
		}
		out = append(out, t.value(v, depth+1))
	}
	return out
}

func (t *treeReader) text(s string) Tree {
	if len(s) > MaxText {
		s = trainrecord.CutText([]byte(s), MaxText)
		t.cut++
	}
	if t.bytes+len(s) > maxTreeBytes {
		t.cut++
		return ""
	}
	t.bytes += len(s)
	return s
}
