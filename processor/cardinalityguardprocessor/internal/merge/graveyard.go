package merge

// tombstone is what is left of a forgotten source: enough to go on with its sum.
type tombstone struct {
	start, time int64
	value       uint64
	serial      uint32
	double      bool
}

type grave struct {
	id     Hash
	serial uint32
}

// graveyard holds tombstones, the oldest first to go.
type graveyard struct {
	stones map[Hash]tombstone
	queue  []grave
	serial uint32
}

func (g *graveyard) bury(id Hash, t tombstone) (added bool) {
	if g.stones == nil {
		g.stones = map[Hash]tombstone{}
	}
	g.serial++
	t.serial = g.serial
	_, there := g.stones[id]
	g.stones[id] = t
	g.queue = append(g.queue, grave{id, t.serial})
	if len(g.queue) > 2*len(g.stones)+64 {
		g.compact()
	}
	return !there
}

// raise takes a tombstone out.
func (g *graveyard) raise(id Hash) (tombstone, bool) {
	t, there := g.stones[id]
	if there {
		delete(g.stones, id)
	}
	return t, there
}

// forget drops the oldest tombstone.
func (g *graveyard) forget() bool {
	for len(g.queue) > 0 {
		oldest := g.queue[0]
		g.queue = g.queue[1:]
		if t, there := g.stones[oldest.id]; there && t.serial == oldest.serial {
			delete(g.stones, oldest.id)
			return true
		}
	}
	return false
}

func (g *graveyard) compact() {
	kept := make([]grave, 0, len(g.stones))
	for _, q := range g.queue {
		if t, there := g.stones[q.id]; there && t.serial == q.serial {
			kept = append(kept, q)
		}
	}
	g.queue = kept
}
