package dvcresultexporter

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

const (
	writers      = 4               // results written at the same time
	maxKnownRuns = 10_000          // runs remembered, closed ones included
	logInterval  = 5 * time.Minute // of lines about errors that go on
	minRetry     = time.Second     // after the first failed write
	maxRetry     = 5 * time.Minute // after many
	runOverhead  = 256             // bytes of a run besides its state and its id
	longWait     = 24 * time.Hour  // of the schedule when nothing is due
)

// engine holds the state of all runs and has their results written when they are due.
type engine struct {
	cfg       *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	out       *target
	report    *reporter

	mu      *latch
	runs    map[string]*run
	queue   schedule
	store   *store
	size    int64     // of all runs in memory
	blocked bool      // the storage takes nothing: silence is our fault
	refusal error     // of the storage, while it takes nothing
	flushAt time.Time // when the engine tries again to store what is pending; zero for never
	pauses  componentkit.BackOff
	stopped bool
	seldom  componentkit.Seldom
	lost    bool // the storage's index, or a part of the journal, was damaged: what it named is looked for when it is needed

	batches sync.Pool

	work chan *side
	kick chan struct{}
	quit chan struct{}
	wg   sync.WaitGroup
	busy atomic.Int32 // writers at work

	shown gauges
	meter *meter
	files *digests
}

func newEngine(e *resultExporter, host component.Host, client storage.Client) *engine {
	g := &engine{
		cfg: e.cfg, logger: e.set.Logger, telemetry: e.telemetry,
		out:    &target{path: e.cfg.Directory, minFree: uint64(e.cfg.MinFreeBytes), openFS: e.openFS},
		report: newReporter(e, host),
		mu:     newLatch(),
		runs:   map[string]*run{},
		store:  &store{client: client, telemetry: e.telemetry, least: minJournal},
		seldom: componentkit.Seldom{Every: logInterval},
		work:   make(chan *side),
		kick:   make(chan struct{}, 1),
		quit:   make(chan struct{}),
	}
	g.batches.New = func() any { return &batch{} }
	g.out.moved = g.moved
	g.meter, g.files = newMeter(g, client), newDigests(g)
	return g
}

// moved makes every run that has a result, and whose state is still there, due again: the directory is another folder.
func (g *engine) moved() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.seldom.Allow("moves") {
		g.logger.Warn("The directory of the results is another folder now; results of runs that are not closed are written there anew",
			zap.String("directory", g.cfg.Directory))
	}
	for _, r := range g.runs {
		if r.closed {
			continue
		}
		for _, s := range r.sides {
			s.shown, s.again = nothingShown, s.writing
			if s.changed.IsZero() {
				s.changed = now
			}
			g.fix(s)
		}
	}
}

// start restores the runs and begins to write. A directory that cannot be used now is tried again with each result; one
// that can never be used is an error.
func (g *engine) start(ctx context.Context) error {
	if err := g.out.open(); isNoDirectory(err) {
		return fmt.Errorf("directory: %w; want a folder, or a path at which one can be made", err)
	} else if err != nil {
		g.report.failed(nil, err)
	}
	if err := g.restore(ctx); err != nil {
		return errors.Join(err, g.out.close())
	}
	g.wg.Add(writers + 3)
	go g.schedule()
	go g.meter.run()
	go g.files.run()
	for range writers {
		go g.writer()
	}
	return nil
}

// stop ends the writers, keeps what the storage has not taken yet, and writes no result. It answers within its context even
// if a file system hangs, that of the results or that of the storage.
func (g *engine) stop(ctx context.Context) error {
	close(g.quit)
	done := make(chan struct{})
	go func() {
		g.wg.Wait()
		close(done)
	}()
	var errs []error
	if g.ended(ctx, done) {
		errs = append(errs, g.out.close())
	} else {
		errs = append(errs, fmt.Errorf("a result is still being written, or the storage hangs: %w", ctx.Err()))
	}
	if ctx.Err() != nil && len(g.mu.held) == 0 { // what hung was not the storage
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), longHeld)
		defer cancel()
	}
	if err := g.mu.lockWithin(ctx); err != nil {
		return errors.Join(append(errs, fmt.Errorf("storage: %w", err))...)
	}
	g.stopped = true
	closed := make(chan error, 1)
	go func() {
		defer g.mu.Unlock()
		closed <- g.store.close(ctx)
	}()
	select {
	case err := <-closed:
		errs = append(errs, err)
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("storage: close the client: %w", ctx.Err()))
	}
	return errors.Join(errs...)
}

// ended waits for the goroutines, beyond the context when none of them can hang.
func (g *engine) ended(ctx context.Context, done chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	if g.busy.Load() > 0 || !g.mu.TryLock() {
		return false
	}
	g.mu.Unlock()
	<-done
	return true
}

// schedule hands sides that are due to the writers.
func (g *engine) schedule() {
	defer g.wg.Done()
	timer := time.NewTimer(longWait)
	defer timer.Stop()
	for {
		ready, wait := g.ready(time.Now())
		for _, s := range ready {
			select {
			case g.work <- s:
			case <-g.quit:
				return
			}
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-g.kick:
		case <-g.quit:
			return
		}
	}
}

// ready takes the sides that are due out of the schedule, and says how long the next one has time.
func (g *engine) ready(now time.Time) ([]*side, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*side
	again := g.storeAgain(context.Background(), now)
	for len(g.queue) > 0 {
		if s := g.queue[0]; now.Before(s.due) {
			return out, min(again, s.due.Sub(now))
		}
		s := heap.Pop(&g.queue).(*side)
		s.writing = true
		out = append(out, s)
	}
	return out, again
}

// fix notes when a side is due. The caller holds the lock.
func (g *engine) fix(s *side) {
	if s.writing { // its writer does it
		return
	}
	s.due = s.next(g.cfg, g.blocked || s.run.isStuck())
	g.queue.fix(s)
	if s.index == 0 {
		g.wake()
	}
}

// wake has the schedule looked at.
func (g *engine) wake() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// resize brings the memory account up to date.
func (g *engine) resize(r *run) {
	before := r.size
	switch {
	case r.fold != nil:
		r.size = r.fold.SizeBytes()
	default:
		r.size = int64(len(r.packed))
	}
	r.size += runOverhead + 2*int64(len(r.id))
	g.size += r.size - before
}

// warn logs a trouble of the state, at most one line in five minutes. The caller holds the lock.
func (g *engine) warn(message string, err error) {
	if g.seldom.Allow("limits") {
		g.logger.Warn(message, zap.Error(err))
	}
}
