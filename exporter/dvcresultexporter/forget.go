package dvcresultexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// close ends a run for good: late records are counted only. The caller holds the lock.
func (g *engine) close(ctx context.Context, r *run) {
	r.closed = true
	if err := g.store.batch(ctx, storage.DeleteOperation(foldPrefix+r.key), r.metaOperation()); err != nil {
		r.closed = false
		g.later(r, time.Now())
		g.warn("The storage did not take the end of a run", err)
		return
	}
	r.fold, r.packed, r.stored, r.saved = nil, nil, 0, r.version
	g.resize(r)
}

// release gives up the results on disk that nothing is missing in, oldest first, when memory alone holds the state and
// there is too much of it. The caller holds the lock.
func (g *engine) release(ctx context.Context) {
	if g.store.client != nil {
		return
	}
	for g.size > g.cfg.MaxStateBytes {
		r := g.oldest(func(r *run) bool { return !r.closed && !r.writing && r.isSettled() && r.changed.IsZero() })
		if r == nil {
			g.warn("The state of the runs is above max_state_bytes, and none is over; set storage, or a larger limit", nil)
			return
		}
		g.drop(ctx, r)
	}
}

// forget keeps the number of known runs bounded: closed ones go first, then settled ones, oldest first.
func (g *engine) forget(ctx context.Context) {
	for len(g.runs) >= maxKnownRuns {
		r := g.oldest(func(r *run) bool { return r.closed })
		if r == nil {
			r = g.oldest(func(r *run) bool { return !r.writing && r.changed.IsZero() })
		}
		if r == nil {
			return
		}
		g.drop(ctx, r)
	}
}

func (g *engine) oldest(fits func(*run) bool) *run {
	var found *run
	for _, r := range g.runs {
		if fits(r) && (found == nil || r.seen.Before(found.seen)) {
			found = r
		}
	}
	return found
}

// drop forgets a run; the storage's journal may still name it, which brings back no more than its last records.
func (g *engine) drop(ctx context.Context, r *run) {
	if err := g.store.batch(ctx, storage.DeleteOperation(foldPrefix+r.key), storage.DeleteOperation(metaPrefix+r.key)); err != nil {
		g.warn("The storage did not give up a run", err)
	}
	if !r.closed {
		g.telemetry.DroppedRuns.Add(ctx, 1, g.telemetry.Self())
	}
	r.fold, r.packed = nil, nil
	g.resize(r)
	r.due = time.Time{}
	g.queue.fix(r)
	delete(g.runs, r.id)
}
