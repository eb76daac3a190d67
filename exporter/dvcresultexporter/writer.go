package dvcresultexporter

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// job is a result to be written.
type job struct {
	state   *trainrun.State
	verdict resultfile.Verdict
	version uint64
}

// writer looks at runs that are due. A run is in one writer at a time.
func (g *engine) writer() {
	defer g.wg.Done()
	for {
		select {
		case r := <-g.work:
			g.busy.Add(1)
			g.visit(r)
			g.busy.Add(-1)
		case <-g.quit:
			return
		}
	}
}

// visit decides about a run and writes its result, if one is due.
func (g *engine) visit(r *run) {
	ctx := context.Background()
	j, ok := g.decide(ctx, r)
	if !ok {
		return
	}
	files := resultfile.Render(j.state, j.verdict, resultfile.Options{MaxPoints: g.cfg.Plots.MaxPoints, FullFidelity: g.cfg.Plots.FullFidelity})
	result, err := g.out.write(resultSet(r.dir, files, j.state))
	if err != nil {
		g.telemetry.WriteErrors.Add(ctx, 1, g.telemetry.With("reason", string(atomicdir.ReasonOf(err))))
		g.report.failed(r, err)
	} else {
		g.wrote(ctx, r, j.verdict, result)
	}
	g.finish(ctx, r, j, err)
}

// resultSet is what atomicdir is to bring to disk.
func resultSet(dir string, files []resultfile.File, st *trainrun.State) atomicdir.Set {
	set := atomicdir.Set{
		Name: dir,
		Swept: []atomicdir.Swept{
			{Below: resultfile.PlotsDir, Suffix: resultfile.PlotsSuffix},
			{Below: resultfile.FullDir, Suffix: resultfile.FullSuffix},
		},
		Keep: func(marker []byte) bool { return resultfile.IsBetter(marker, st) },
	}
	for _, f := range files {
		set.Files = append(set.Files, atomicdir.Content{Name: f.Name, Bytes: f.Bytes})
	}
	return set
}

// decide computes a run's state and judges it.
func (g *engine) decide(ctx context.Context, r *run) (job, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if r.changed.IsZero() {
		if r.isLate(g.cfg, now) {
			g.close(ctx, r)
		}
		g.leave(ctx, r)
		return job{}, false
	}
	if err := g.load(ctx, r); err != nil {
		g.warn("The state of a run could not be read from the storage", err)
		g.later(r, now)
		g.leave(ctx, r)
		return job{}, false
	}
	st := r.fold.State()
	v, due := r.judge(st, g.cfg, g.blocked, now)
	if !due {
		r.retry = time.Time{}
		g.leave(ctx, r)
		return job{}, false
	}
	g.witness(ctx, r, v)
	return job{state: st, verdict: v, version: r.version}, true
}

// witness keeps that a run was seen falling silent before its result says so: after a kill between the two, the next start
// would know no more than that it is old.
func (g *engine) witness(ctx context.Context, r *run, v resultfile.Verdict) {
	if v.From == fromSilence && v != r.verdict {
		r.verdict = v
		r.settled, r.wallEnd = time.Time{}, 0
		g.keep(ctx, r)
	}
}

// leave puts a run back into the schedule.
func (g *engine) leave(ctx context.Context, r *run) {
	r.writing = false
	g.fix(r)
	g.shrink(ctx)
}

// later sets the time of the next attempt: 1 s, 2 s, 4 s up to 5 min.
func (g *engine) later(r *run, now time.Time) {
	wait := maxRetry
	if r.failures < 9 {
		wait = min(minRetry<<r.failures, maxRetry)
	}
	r.failures++
	r.retry = now.Add(wait)
}

// finish notes what became of a write.
func (g *engine) finish(ctx context.Context, r *run, j job, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.leave(ctx, r)
	now := time.Now()
	if err != nil {
		g.later(r, now)
		return
	}
	r.failures, r.retry = 0, time.Time{}
	r.lived, r.shown = now, j.version
	switch {
	case r.again: // it may be in the old directory
		r.again, r.changed, r.shown = false, now, nothingShown
	case r.version != j.version:
		r.changed = r.seen
	case j.verdict.Final:
		r.changed = time.Time{}
	}
	g.conclude(ctx, r, j.verdict, now)
}

// conclude keeps the verdict, also for the next start.
func (g *engine) conclude(ctx context.Context, r *run, v resultfile.Verdict, now time.Time) {
	before, settled := r.verdict, r.wallEnd
	r.verdict = v
	switch {
	case !v.Final || v.Provisional:
		r.settled, r.wallEnd = time.Time{}, 0
	case r.settled.IsZero():
		r.settled, r.wallEnd = now, now.UnixNano()
	}
	if v == before && r.wallEnd == settled || !v.Final {
		return
	}
	g.keep(ctx, r)
}

// keep stores what is known of a run besides its records.
func (g *engine) keep(ctx context.Context, r *run) {
	if err := g.store.batch(ctx, r.metaOperation(), g.store.indexOperation(g.store.first, g.keys())); err != nil {
		g.warn("The storage did not take the verdict on a run", err) // the next snapshot has it
	}
}

// wrote counts a result, and takes the trouble with the run back.
func (g *engine) wrote(ctx context.Context, r *run, v resultfile.Verdict, result atomicdir.Result) {
	g.report.worked(r)
	switch result {
	case atomicdir.Written:
		outcome := v.Outcome
		if outcome == "" {
			outcome = "running"
		}
		g.telemetry.WrittenResults.Add(ctx, 1, g.telemetry.With("outcome", outcome))
		if v.Final {
			g.logger.Info("Wrote a result", zap.String("run_directory", r.dir), zap.String("outcome", outcome), zap.Bool("provisional", v.Provisional))
		}
	case atomicdir.Kept:
		g.telemetry.KeptResults.Add(ctx, 1, g.telemetry.Self())
		g.report.kept(r)
	}
}
