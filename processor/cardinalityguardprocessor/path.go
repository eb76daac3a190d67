package cardinalityguardprocessor

import (
	"strings"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

const (
	pathSteps = 8  // keys of a path that are looked at together, counted from its end
	stepSize  = 64 // bytes of a key above the last one, from its end
)

// path is the keys that lead into the maps of an attribute. A concept may be spread over them: run: {id: ...}. What is looked at is bounded, so that
// neither depth nor length makes a batch cost more than its size.
type path struct {
	keys   []byte
	begins []int // of each key
}

// down goes into the map of a key; up goes back.
func (p *path) down(key string) {
	if n := len(p.begins); n > 0 {
		p.shorten(p.begins[n-1])
		p.keys = append(p.keys, policy.Step...)
	}
	p.begins = append(p.begins, len(p.keys))
	p.keys = append(p.keys, key...)
}

// shorten leaves the end of the last key.
func (p *path) shorten(from int) {
	if over := len(p.keys) - from - stepSize; over > 0 {
		copy(p.keys[from:], p.keys[from+over:])
		p.keys = p.keys[:len(p.keys)-over]
	}
}

func (p *path) up() {
	last := len(p.begins) - 1
	p.keys = p.keys[:max(p.begins[last]-len(policy.Step), 0)]
	p.begins = p.begins[:last]
}

// release gives back the room that a long path took.
func (p *path) release() {
	if cap(p.keys) > 1<<12 || cap(p.begins) > 1<<10 {
		*p = path{}
	}
}

// last is the end of the path.
func (p *path) last() []byte { return p.keys[p.begins[max(len(p.begins)-pathSteps, 0)]:] }

// String is the path as a person reads it.
func (p *path) String() string { return strings.ReplaceAll(string(p.last()), policy.Step, ".") }
