package cardinalityguardprocessor

import (
	"strings"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

const (
	cacheEntries = 4096 // names of metrics that a worker remembers
	cacheKeys    = 8192 // keys that a worker remembers, of all classes and levels
	cacheKeySize = 256  // bytes of the longest name or key that is remembered
	memoKeys     = 64   // positions that a memo remembers
	maxLenses    = 64   // classes of metrics that a worker remembers
)

// seen is what the policy says of a key, and the cache's own copy of the key.
type seen struct {
	key            string
	enforce, audit *policy.Verdict
}

// lens is how a worker sees the metrics of a class: what the policy says of the keys on them, remembered. It is bounded and belongs to one
// goroutine at a time.
type lens struct {
	class *policy.Class
	keys  [policy.Levels][2]map[string]seen // outside and inside of maps and arrays
	memo  memo
	other bool // a key was not the memo's
	room  *room
}

// room is shared by the lenses of a worker, so that what they remember together is bounded.
type room struct {
	entries int
	lenses  map[*policy.Class]*lens
}

// take makes room for a key. When there is none, everything is forgotten.
func (r *room) take() {
	if r.entries++; r.entries <= cacheKeys {
		return
	}
	r.entries = 1
	for _, l := range r.lenses {
		l.keys = [policy.Levels][2]map[string]seen{}
	}
}

// see gives what the policy says of a key on a level. The copy of the key is empty when the key is too long to be remembered.
func (l *lens) see(at policy.Level, key string) seen {
	cache := &l.keys[at][0]
	if s, known := (*cache)[key]; known {
		return s
	}
	return l.judge(cache, at, false, key)
}

// inside is see for what a path inside of maps and arrays leads to.
func (l *lens) inside(at policy.Level, p *path) seen {
	cache := &l.keys[at][1]
	if s, known := (*cache)[string(p.last())]; known {
		return s
	}
	return l.judge(cache, at, true, string(p.last()))
}

func (l *lens) judge(cache *map[string]seen, at policy.Level, inside bool, key string) seen {
	enforce, audit := l.class.Judge(at, inside, key)
	if len(key) > cacheKeySize {
		return seen{enforce: enforce, audit: audit}
	}
	l.room.take()
	if *cache == nil {
		*cache = map[string]seen{}
	}
	own := strings.Clone(key)
	s := seen{own, enforce, audit}
	(*cache)[own] = s
	return s
}

// memo holds, by position, the keys of the last attribute set of a point and what is said of them: most sets of a batch have the same keys in
// the same order, and comparing is cheaper than looking up.
type memo [memoKeys]struct {
	key     string
	verdict *policy.Verdict
}

// point is see for the attributes of points; at is the position.
func (l *lens) point(at int, key string) *policy.Verdict {
	if at < memoKeys {
		if m := &l.memo[at]; m.key == key && key != "" {
			return m.verdict
		}
	}
	l.other = true
	s := l.see(policy.Datapoint, key)
	if at < memoKeys {
		l.memo[at].key, l.memo[at].verdict = s.key, s.enforce
	}
	return s.enforce
}

// named is what the policy says of a metric by its name.
type named struct {
	policy.Metric
	lens *lens
}

// of gives what the policy says of a metric.
func (w *worker) of(name string) *named {
	if n, known := w.names[name]; known {
		return n
	}
	m := w.policy.Metric(name)
	n := &named{Metric: m, lens: w.lensOf(m.Class)}
	if len(name) > cacheKeySize {
		return n
	}
	if len(w.names) >= cacheEntries {
		clear(w.names)
	}
	w.names[strings.Clone(name)] = n
	return n
}

func (w *worker) lensOf(class *policy.Class) *lens {
	l, known := w.lenses[class]
	if !known {
		if len(w.lenses) >= maxLenses {
			clear(w.lenses)
			clear(w.names)
			w.room.entries = 0
		}
		l = &lens{class: class, room: w.room}
		w.lenses[class] = l
	}
	return l
}

// obey takes another policy. What was remembered of the one before goes.
func (w *worker) obey(g *government) {
	w.government = g
	w.names, w.lenses = map[string]*named{}, map[*policy.Class]*lens{}
	w.room = &room{lenses: w.lenses}
	w.counts = newCounts(len(g.policy.Rules()))
	w.look = nil
}
