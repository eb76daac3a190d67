package cardinalityguardprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// watch is the goroutine that looks for another policy and writes the report.
type watch struct {
	source *policy.Source // nil: the policy does not change
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
	failed componentkit.Seldom

	writes   componentkit.Hangs[error] // of the report
	patience time.Duration             // with one
}

// first reads the policy at the start. A file must be there and right; a server may come later, and what the registry forbids holds until then.
func (g *guard) first(ctx context.Context) error {
	switch {
	case g.cfg.PolicyFile != "":
		g.watch.source = policy.File(g.cfg.PolicyFile)
		p, _, err := g.watch.source.Look(ctx)
		if err != nil {
			return errors.Join(errPolicyFile, err)
		}
		g.govern(p)
	case g.cfg.PolicyURL != "":
		g.watch.source = policy.URL(g.cfg.PolicyURL)
		look, cancel := context.WithTimeout(ctx, firstAnswer)
		defer cancel()
		p, result, err := g.watch.source.Look(look)
		g.took(ctx, p, result, err)
	}
	return nil
}

// firstAnswer is how long a start waits for a server: the collector takes nothing meanwhile, and each guard waits for itself.
const firstAnswer = 2 * time.Second

// reportPatience is how long a report may take before the guard, or its shutdown, goes on.
const reportPatience = 5 * time.Second

var errPolicyFile = errors.New("policy_file: not usable; correct the path or the file, or leave policy_file out: the rules of the registry hold without one")

// renew looks for another policy and puts it in force. Unsettled: it wants another look soon.
func (g *guard) renew(ctx context.Context) (unsettled bool) {
	p, result, err := g.watch.source.Look(ctx)
	return g.took(ctx, p, result, err)
}

// took tells of a look at the source, and puts the policy in force that it gave.
func (g *guard) took(ctx context.Context, p *policy.Policy, result policy.Result, err error) (unsettled bool) {
	if result == policy.Unchanged || result == policy.Unsettled || ctx.Err() != nil {
		return result == policy.Unsettled
	}
	t := g.merges.telemetry
	t.PolicyReloads.Add(ctx, 1, t.With(attribute.String("result", policy.ResultNames[result])))
	switch {
	case p != nil:
		before := g.government.Load().policy
		g.govern(p)
		tellPolicy(t, before, 0)
		tellPolicy(t, p, 1)
		g.log.logger.Info("Took another policy", zap.String("version", p.Version()), zap.String("mode", modeNames[p.Mode()]))
	case err != nil:
		g.log.logger.Error("Kept the policy before: there is no usable one", zap.String("result", policy.ResultNames[result]), zap.Error(err))
	}
	return false
}

// start begins to look and to report, if there is something to do.
func (w *watch) start(g *guard) {
	if w.source == nil && g.audit == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.done = cancel, make(chan struct{})
	go func() {
		defer close(w.done)
		look, stopLook := ticks(w.source != nil, g.cfg.PolicyPollInterval)
		defer stopLook()
		tell, stopTell := ticks(g.audit != nil, reportEvery)
		defer stopTell()
		var soon <-chan time.Time
		renew := func() {
			if soon = nil; g.renew(ctx) {
				soon = time.After(leastPoll)
			}
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-look:
				renew()
			case <-soon:
				renew()
			case <-tell:
				g.writeReport(ctx)
			}
		}
	}()
}

func ticks(wanted bool, every time.Duration) (<-chan time.Time, func()) {
	if !wanted {
		return nil, func() {}
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// stop ends the goroutine, after a last report.
func (w *watch) stop(ctx context.Context, g *guard) {
	if w.cancel == nil {
		return
	}
	w.once.Do(func() {
		w.cancel()
		<-w.done
		if g.audit != nil {
			g.writeReport(ctx)
		}
	})
}

// claimReport makes sure that no other guard writes the same report.
func (g *guard) claimReport() error {
	if g.audit == nil || g.state.claims.Take(g.audit.markdown, g) {
		return nil
	}
	return fmt.Errorf("audit_report: %s is another guard's report; give each guard, and each pipeline, a processor id and a file of its own", g.audit.markdown)
}

func (g *guard) releaseReport() {
	if g.audit != nil {
		g.state.claims.Release(g.audit.markdown, g)
	}
}

func (g *guard) writeReport(ctx context.Context) {
	now := g.now()
	err, hangs := g.watch.writes.Do(context.WithoutCancel(ctx), g.watch.patience, func() error { return g.audit.write(now) })
	if hangs != nil {
		err = hangs
	}
	if err == nil {
		return
	}
	t := g.merges.telemetry
	t.StorageErrors.Add(ctx, 1, t.With(attribute.String("reason", "report")))
	if g.watch.failed.Allow("") {
		g.log.logger.Warn("Could not write the audit report", zap.String("file", g.cfg.AuditReport), zap.Error(err))
	}
}
