package dvcresultexporter

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// block notes that the storage takes nothing. What it refused stays pending, and the engine brings it again by itself: the sender
// may have given up. The caller holds the lock.
func (g *engine) block(err error) error {
	g.blocked, g.refusal = true, err
	if g.flushAt.IsZero() {
		g.flushAt = time.Now().Add(g.pauses.Next())
		g.wake()
	}
	n := g.store.pendingRuns()
	if g.seldom.Allow("refusals") {
		g.logger.Error("The storage takes no records: they are refused, and no run counts as silent until it does",
			zap.Int("runs", n), zap.Error(err))
	}
	return fmt.Errorf("storage: append the records of %d runs: %w", n, err)
}

// room says whether a call may be applied: not while as much is pending as may be. Between two attempts a call does not ask the
// storage; one that is due it makes itself, as the engine may be held up by the file system of the results. The caller holds the
// lock.
func (g *engine) room(ctx context.Context, now time.Time) error {
	if !g.store.full() {
		return nil
	}
	g.storeAgain(ctx, now)
	if !g.store.full() {
		return nil
	}
	return g.block(g.refusal)
}

// storeAgain brings what is pending to the storage when that is due, and says how long there is time until the next attempt. The
// caller holds the lock.
func (g *engine) storeAgain(ctx context.Context, now time.Time) time.Duration {
	if g.flushAt.IsZero() {
		return longWait
	}
	if wait := g.flushAt.Sub(now); wait > 0 {
		return wait
	}
	if err := g.store.flush(ctx, now); err != nil {
		g.refusal = err
		wait := g.pauses.Next()
		g.flushAt = now.Add(wait)
		return wait
	}
	g.unblock()
	g.compact(ctx)
	g.shrink(ctx)
	return longWait
}

// unblock ends a time in which nothing could arrive: silence is counted from now. The caller holds the lock.
func (g *engine) unblock() {
	if !g.blocked {
		return
	}
	g.blocked, g.refusal, g.flushAt = false, nil, time.Time{}
	g.pauses.Reset()
	if g.seldom.Allow("recoveries") {
		g.logger.Info("The storage takes records again")
	}
	g.seldom.Forget("refusals")
	now := time.Now()
	for _, r := range g.runs {
		for _, s := range r.sides {
			s.seen, s.quiet = now, now
			g.fix(s)
		}
	}
}
