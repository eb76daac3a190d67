package cardinalityguardprocessor

import "strings"

const (
	cacheEntries = 4096 // keys that a cache remembers
	cacheKeySize = 256  // bytes of the longest key that is remembered
	memoKeys     = 64   // positions that a memo remembers
)

// cached is a verdict and the cache's own copy of the key.
type cached struct {
	key     string
	verdict verdict
}

// cache remembers verdicts. It is bounded and belongs to one goroutine at a time.
type cache struct {
	judge   func(string) verdict
	entries map[string]cached
}

func newCache(judge func(string) verdict) *cache {
	return &cache{judge: judge, entries: map[string]cached{}}
}

// get gives the verdict on a key and a copy of the key that outlives the batch; the copy is empty when the key is too
// long to be remembered.
func (c *cache) get(key string) (verdict, string) {
	if e, known := c.entries[key]; known {
		return e.verdict, e.key
	}
	v := c.judge(key)
	if len(key) > cacheKeySize {
		return v, ""
	}
	if len(c.entries) >= cacheEntries {
		clear(c.entries)
	}
	own := strings.Clone(key)
	c.entries[own] = cached{key: own, verdict: v}
	return v, own
}

// memo holds, by position, the allowed keys of the last attribute set: most sets of a batch have the same keys in the
// same order, and comparing is cheaper than looking up.
type memo [memoKeys]string

// forbidden judges the key at a position.
func (m *memo) forbidden(c *cache, at int, key string) bool {
	if at < memoKeys && m[at] == key && key != "" {
		return false
	}
	v, own := c.get(key)
	if v != allowed {
		return true
	}
	if at < memoKeys {
		m[at] = own
	}
	return false
}
