package cardinalityguardprocessor

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
)

// flushes is the goroutine that flushes.
type flushes struct {
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
	failed componentkit.Seldom
}

func (f *flushes) start(g *guard) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel, f.done = cancel, make(chan struct{})
	go func() {
		defer close(f.done)
		ticker := time.NewTicker(g.cfg.FlushInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				g.flush(ctx, false)
			}
		}
	}()
}

// stop ends the goroutine and says whether it ran until now and is gone: a next component that never answers is not waited for.
func (f *flushes) stop(ctx context.Context) (ran bool) {
	if f.cancel == nil {
		return false
	}
	f.once.Do(func() {
		f.cancel()
		select {
		case <-f.done:
			ran = true
		case <-ctx.Done():
		}
	})
	return ran
}

// flush sends on what the engine has. What the next component did not take, but may take later, goes out with the next flush.
func (g *guard) flush(ctx context.Context, last bool) {
	var counts merge.Counts
	began := time.Now()
	now := g.now().UnixNano()
	portions := g.engine.Flush(now, &counts, last)
	t := g.merges.telemetry
	t.FlushDuration.Record(ctx, time.Since(began).Seconds(), g.merges.plain)
	g.merges.report(ctx, &counts)
	g.merges.size(ctx, g.engine.Size(), &g.cfg.Limits)
	if len(portions) == 0 {
		if g.engine.Lapsed() {
			g.state.update(ctx, g)
		}
		return
	}
	if g.state.save(ctx, g) != nil {
		for _, p := range portions {
			g.engine.Rollback(p.Tenant, now)
		}
		return
	}
	refused := false
	for _, p := range portions {
		refused = !g.send(ctx, p, now) || refused
	}
	if refused { // what was to be gone is not
		g.state.update(ctx, g)
	}
}

// send sends a portion on, with the metadata of its tenant, and says whether it is gone for good.
func (g *guard) send(ctx context.Context, p merge.Portion, now int64) (gone bool) {
	points := p.Metrics.DataPointCount()
	err := g.next.ConsumeMetrics(withTenant(ctx, p.Tenant), p.Metrics)
	if err == nil {
		g.engine.Commit(p.Tenant)
		return true
	}
	reason := "retryable"
	if gone = componentkit.Final(err); gone {
		reason = "permanent"
		g.engine.Commit(p.Tenant)
	} else {
		g.engine.Rollback(p.Tenant, now)
	}
	t := g.merges.telemetry
	t.FlushFailures.Add(ctx, 1, t.With(attribute.String("reason", reason)))
	if _, due := g.flushes.failed.Note(reason, 1); due {
		g.log.logger.Warn("The next component did not take merged points",
			zap.Int("points", points), zap.String("reason", reason), zap.Error(err))
	}
	return gone
}

// thinExemplars takes off what the configuration does not want on any exemplar.
func thinExemplars(md pmetric.Metrics, mode string) {
	if mode == exemplarsScrub {
		return
	}
	thin := func(exemplars pmetric.ExemplarSlice) {
		if mode == exemplarsDrop {
			exemplars.RemoveIf(func(pmetric.Exemplar) bool { return true })
			return
		}
		for _, e := range exemplars.All() {
			e.SetTraceID([16]byte{})
			e.SetSpanID([8]byte{})
		}
	}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				eachExemplars(m, thin)
			}
		}
	}
}
