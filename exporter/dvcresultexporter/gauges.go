package dvcresultexporter

import "sync"

// gauges are what was last observed: while the storage hangs under the lock, the self-metrics answer all the same.
type gauges struct {
	mu                    sync.Mutex
	open, settled, closed int64
	size                  int64
}

// observe gives the gauges.
func (g *engine) observe(runs func(state string, n int64), size func(bytes int64)) {
	v := &g.shown
	v.mu.Lock()
	defer v.mu.Unlock()
	if g.mu.TryLock() {
		g.look(v)
		g.mu.Unlock()
	}
	runs("open", v.open)
	runs("settled", v.settled)
	runs("closed", v.closed)
	size(v.size)
}

func (g *engine) look(v *gauges) {
	v.open, v.settled, v.closed, v.size = 0, 0, 0, g.size+g.store.waiting
	for _, r := range g.runs {
		switch {
		case r.closed:
			v.closed++
		case r.isSettled():
			v.settled++
		default:
			v.open++
		}
	}
}
