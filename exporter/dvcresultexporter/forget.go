package dvcresultexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// close ends a run for good: late records are counted only. The caller holds the lock.
func (g *engine) close(ctx context.Context, r *run) {
	r.closed = true
	if err := g.store.batch(ctx, storage.DeleteOperation(foldPrefix+r.key), g.metaOperation(r)); err != nil {
		r.closed = false
		for _, s := range r.sides {
			g.later(s, time.Now())
		}
		g.warn("The storage did not take the end of a run", err)
		return
	}
	r.fold, r.packed, r.stored, r.saved, r.digests = nil, nil, 0, r.version, nil
	g.meter.tracker.Forget(r.id)
	g.resize(r)
	for _, s := range r.sides {
		g.fix(s)
	}
}

// release gives up the runs of which nothing is missing in the results on disk, oldest first, when memory alone holds the
// state and there is too much of it. The caller holds the lock.
func (g *engine) release(ctx context.Context) {
	for g.size > g.maxState() {
		r := g.oldest(func(r *run) bool { return !r.closed && r.isSettled() && r.idle() })
		if r == nil {
			return
		}
		g.drop(ctx, r)
	}
}

// thin gives up points of the curves of the runs that are left, those that were touched longest ago first. What else a
// result says of a run stays. The caller holds the lock.
func (g *engine) thin(ctx context.Context) {
	for g.size > g.maxState() {
		r := g.oldest(func(r *run) bool { return !r.thin && !r.isWriting() && (r.fold != nil || r.packed != nil) })
		if r == nil {
			g.warn("The state of the runs is above max_state_bytes and cannot be made smaller; set storage, or a larger limit", nil)
			return
		}
		if err := g.thinRun(ctx, r); err != nil {
			g.warn("The state of a run could not be made smaller", err)
			r.thin = true
		}
	}
}

// thinRun halves the state of a run, as far as that goes.
func (g *engine) thinRun(ctx context.Context, r *run) error {
	parked := r.fold == nil
	if err := g.load(ctx, r); err != nil {
		return err
	}
	if !r.fold.Thin(r.fold.SizeBytes() / 2) {
		r.thin = true
	} else if !r.sparse {
		r.sparse = true
		g.telemetry.ThinnedRuns.Add(ctx, 1, g.telemetry.Self())
	}
	if parked {
		return g.park(ctx, r)
	}
	g.resize(r)
	return nil
}

// forget keeps the number of known runs bounded: closed ones go first, then settled ones, oldest first.
func (g *engine) forget(ctx context.Context) {
	for len(g.runs) >= maxKnownRuns {
		r := g.oldest(func(r *run) bool { return r.closed })
		if r == nil {
			r = g.oldest(func(r *run) bool { return r.idle() })
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
		if fits(r) && (found == nil || r.lastSeen().Before(found.lastSeen())) {
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
	g.meter.tracker.Forget(r.id)
	g.size, r.size = g.size-r.size, 0
	for _, s := range r.sides {
		s.due = time.Time{}
		g.queue.fix(s)
	}
	delete(g.runs, r.id)
}
