package dvcresultexporter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Reasons why a record changed no state.
const (
	notARecord = "not_a_record"
	noRunID    = "no_run_id"
	duplicate  = "duplicate"
	tooLate    = "late"
	tornLine   = "torn"
	longRunID  = "long_run_id"
)

// Reasons why a value is not in the state as it came.
const (
	badValue     = "bad_value"
	badAttribute = "bad_attribute"
)

// tally counts what became of the records of a call.
type tally struct {
	taken   int64
	masked  int64
	cut     int64
	misfits int64
	ignored map[string]int64
}

func (t *tally) ignore(reason string) { t.ignored[reason]++ }

func (g *engine) count(ctx context.Context, t *tally) {
	if t.taken > 0 {
		g.telemetry.Records.Add(ctx, t.taken, g.telemetry.Self())
	}
	if t.masked > 0 {
		g.telemetry.MaskedValues.Add(ctx, t.masked, g.telemetry.Self())
	}
	if t.cut > 0 {
		g.telemetry.ReplacedValues.Add(ctx, t.cut, g.telemetry.With("reason", badValue))
	}
	if t.misfits > 0 {
		g.telemetry.ReplacedValues.Add(ctx, t.misfits, g.telemetry.With("reason", badAttribute))
	}
	for reason, n := range t.ignored {
		g.telemetry.IgnoredRecords.Add(ctx, n, g.telemetry.With("reason", reason))
	}
}

// consume takes the training records among the logs into the state and the storage.
func (g *engine) consume(ctx context.Context, ld plog.Logs) error {
	t := &tally{ignored: map[string]int64{}}
	defer g.count(ctx, t)
	b := g.batches.Get().(*batch)
	b.reduce(ld, t)
	if len(b.entries) == 0 && len(b.told) == 0 {
		return nil
	}
	if err := g.mu.enter(ctx); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	defer g.mu.Unlock()
	defer g.done(b)
	if g.stopped {
		return errStopped
	}
	now := time.Now()
	if err := g.room(ctx, now); err != nil {
		return err
	}
	g.heed(b.told, now)
	entries := b.entries
	touched := map[*side]bool{}
	for i := range entries {
		r, err := g.runOf(ctx, entries[i].RunID, now)
		if err != nil {
			return g.settle(ctx, touched, err)
		}
		late := r.closed
		targets := r.targets(&entries[i])
		if !late {
			late = !slices.ContainsFunc(targets, func(s *side) bool { return !s.isLate(g.cfg.LateWindow, now) })
		}
		switch {
		case late:
			t.ignore(tooLate)
		case !r.fold.Apply(entries[i]):
			t.ignore(duplicate)
		default:
			t.taken++
			t.masked += entries[i].Masked
			t.cut += entries[i].Cut
			t.misfits += entries[i].Misfit
			g.store.add(entries[i])
			r.version++
			r.tells(&entries[i], b.files[i])
			g.meter.mark(&entries[i], now)
			r.thin = false
			for _, s := range targets {
				s.touch(&entries[i], now)
				touched[s] = true
			}
		}
	}
	return g.settle(ctx, touched, nil)
}

// settle makes what a call has applied durable, and answers for the call. Entries that the storage did not take stay
// pending: the call that brings them again finds them applied, and waits for them all the same.
func (g *engine) settle(ctx context.Context, touched map[*side]bool, err error) error {
	for s := range touched {
		g.resize(s.run)
		g.fix(s)
	}
	if flushErr := g.store.flush(ctx, time.Now()); flushErr != nil {
		return g.block(flushErr)
	}
	g.unblock()
	if err != nil {
		return err
	}
	g.compact(ctx)
	g.shrink(ctx)
	return nil
}

// runOf gives the run of an id with its state in memory; a closed one has none.
func (g *engine) runOf(ctx context.Context, id string, now time.Time) (*run, error) {
	r := g.runs[id]
	if r == nil {
		g.forget(ctx)
		r = g.firstSeen(id, now)
		g.runs[id] = r
	}
	return r, g.load(ctx, r)
}

// firstSeen makes a run that no index names. When the index was lost, the storage may know it all the same.
func (g *engine) firstSeen(id string, now time.Time) *run {
	r := g.newRun(id, now)
	if !g.lost {
		r.fold = trainrun.New(id)
	}
	return r
}
