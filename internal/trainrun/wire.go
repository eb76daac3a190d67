package trainrun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The wire form of entries and snapshots: unsigned varints, zigzag varints, 8-byte floats (every bit survives), and strings
// that are written once and then named by their number.

var errWire = errors.New("not a valid encoding")

// ErrVersion says that a snapshot or a batch of entries has another form than this one.
var ErrVersion = errors.New("written by another version")

type writer struct {
	b    []byte
	dict map[string]uint64
}

func newWriter(dst []byte) *writer { return &writer{b: dst} }

func (w *writer) uint(n uint64)    { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) int(n int64)      { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) byte(c byte)      { w.b = append(w.b, c) }
func (w *writer) fixed32(n uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, n) }

func (w *writer) float(x float64) {
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(x))
}

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

// text writes a string the first time, its number later. The empty string is number 0.
func (w *writer) text(s string) {
	if s == "" {
		w.uint(0)
		return
	}
	if n, ok := w.dict[s]; ok {
		w.uint(n + 2)
		return
	}
	if w.dict == nil {
		w.dict = make(map[string]uint64, 16)
	}
	w.dict[s] = uint64(len(w.dict))
	w.uint(1)
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) optional(n *int64) {
	w.bool(n != nil)
	if n != nil {
		w.int(*n)
	}
}

func (w *writer) optInt(n Int) {
	w.bool(n.Set)
	if n.Set {
		w.int(n.V)
	}
}

// reader reads what writer wrote. It never fails by panic: after the first error everything reads as zero.
type reader struct {
	b    []byte
	pos  int
	dict []string
	err  error

	version byte // of what is read, where it has versions
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s at byte %d", errWire, what, r.pos)
	}
	r.pos = len(r.b)
}

func (r *reader) rest() int { return len(r.b) - r.pos }

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.b[r.pos:])
	if size <= 0 {
		r.fail("want a number")
		return 0
	}
	r.pos += size
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.b[r.pos:])
	if size <= 0 {
		r.fail("want a number")
		return 0
	}
	r.pos += size
	return n
}

func (r *reader) byte() byte {
	if r.rest() < 1 {
		r.fail("want a byte")
		return 0
	}
	r.pos++
	return r.b[r.pos-1]
}

func (r *reader) bool() bool { return r.byte() == 1 }

func (r *reader) bytes(n int) []byte {
	if n < 0 || r.rest() < n {
		r.fail("want more bytes")
		return nil
	}
	r.pos += n
	return r.b[r.pos-n : r.pos]
}

func (r *reader) fixed32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) float() float64 {
	if b := r.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *reader) hash() (h [16]byte) {
	copy(h[:], r.bytes(len(h)))
	return h
}

// count reads a length and refuses one that the rest cannot hold, each element taking at least size bytes.
func (r *reader) count(size int) int {
	n := r.uint()
	if n > uint64(r.rest()/size) {
		r.fail("length past the end")
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	switch n := r.uint(); {
	case n == 0:
		return ""
	case n == 1:
		s := string(r.bytes(r.count(1)))
		r.dict = append(r.dict, s)
		return s
	case n-2 < uint64(len(r.dict)):
		return r.dict[n-2]
	default:
		r.fail("unknown string")
		return ""
	}
}

func (r *reader) optional() *int64 {
	if !r.bool() {
		return nil
	}
	n := r.int()
	return &n
}

func (r *reader) optInt() Int {
	if !r.bool() {
		return Int{}
	}
	return Int{V: r.int(), Set: true}
}

// Kinds of nodes of a tree.
const (
	nodeNil byte = iota
	nodeFalse
	nodeTrue
	nodeInt
	nodeFloat
	nodeText
	nodeList
	nodeMap
)

func (w *writer) tree(t Tree) {
	switch v := t.(type) {
	case bool:
		w.byte(nodeFalse)
		if v {
			w.b[len(w.b)-1] = nodeTrue
		}
	case int64:
		w.byte(nodeInt)
		w.int(v)
	case float64:
		w.byte(nodeFloat)
		w.float(v)
	case string:
		w.byte(nodeText)
		w.text(v)
	case []any:
		w.byte(nodeList)
		w.uint(uint64(len(v)))
		for _, e := range v {
			w.tree(e)
		}
	case map[string]any:
		w.byte(nodeMap)
		w.uint(uint64(len(v)))
		for _, k := range sortedKeys(v) {
			w.text(k)
			w.tree(v[k])
		}
	default:
		w.byte(nodeNil)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (r *reader) tree(depth int) Tree {
	if depth > maxTreeDepth+1 {
		r.fail("tree too deep")
		return nil
	}
	switch kind := r.byte(); kind {
	case nodeNil:
		return nil
	case nodeFalse, nodeTrue:
		return kind == nodeTrue
	case nodeInt:
		return r.int()
	case nodeFloat:
		return r.float()
	case nodeText:
		return r.text()
	case nodeList:
		n := r.count(1)
		out := make([]any, 0, min(n, maxTreeNodes))
		for range n {
			if r.err != nil {
				return nil
			}
			out = append(out, r.tree(depth+1))
		}
		return out
	case nodeMap:
		n := r.count(2)
		out := make(map[string]any, min(n, maxTreeNodes))
		for range n {
			if r.err != nil {
				return nil
			}
			k := r.text()
			out[k] = r.tree(depth + 1)
		}
		return out
	default:
		r.fail("unknown node")
		return nil
	}
}
