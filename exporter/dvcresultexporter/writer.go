package dvcresultexporter

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// job is a result to be written, and the directories that only another set of records would have had.
type job struct {
	stale   []string
	state   *trainrun.State
	verdict resultfile.Verdict
	version uint64
	seen    int64    // wallSeen of the side
	files   []string // that told of the training, when they are of several folders
	gpus    *gpuuse.Report
	digests map[string]digest.Digest
	own     bool // the result on disk is of this state
	foreign bool // what is on disk then is not, or not of it alone
	patient bool // a lock of another collector's is no error yet
}

// patience is how many attempts in a row may meet another collector's lock on a result before that is an error: seven seconds of them.
const patience = 3

// writer looks at runs that are due. A run is in one writer at a time.
func (g *engine) writer() {
	defer g.wg.Done()
	for {
		select {
		case s := <-g.work:
			g.busy.Add(1)
			g.visit(s)
			g.busy.Add(-1)
		case <-g.quit:
			return
		}
	}
}

// visit decides about a side and writes its result, if one is due.
func (g *engine) visit(s *side) {
	ctx := context.Background()
	j, ok := g.decide(ctx, s)
	if !ok {
		return
	}
	var kept resultfile.Params
	read := func(name string) []byte { return g.out.read(s.dir, name) }
	j.gpus = resultfile.GPUsOf(read(resultfile.ResultName), j.state.RunID, j.gpus)
	if !j.own {
		j.state, kept, j.foreign = resultfile.Continue(j.state, read)
	}
	files := resultfile.Render(j.state, j.verdict, resultfile.Options{
		Kept: kept, Directory: s.run.dir, Report: g.cfg.Report,
		MaxPoints: g.cfg.Plots.MaxPoints, FullFidelity: g.cfg.Plots.FullFidelity, GPUs: j.gpus, Digests: j.digests,
	})
	result, err := g.out.write(g.resultSet(s.dir, files, &j, s.wrote))
	j.foreign = j.foreign || result == atomicdir.Kept
	for _, dir := range j.stale {
		if err == nil {
			var removed atomicdir.Result
			if removed, err = g.out.write(g.staleSet(dir, j.state.RunID)); removed == atomicdir.Removed {
				g.logger.Info("Removed a result that more records of the run have joined with another", zap.String("run_directory", dir))
			}
		}
	}
	switch {
	case err == nil:
		g.wrote(ctx, s, &j, result)
	case j.patient && errors.Is(err, atomicdir.ErrLocked): // another collector writes it just now
	default:
		g.telemetry.WriteErrors.Add(ctx, 1, g.telemetry.With("reason", string(atomicdir.ReasonOf(err))))
		g.report.failed(s, err)
	}
	g.finish(ctx, s, j, err)
}

// decide computes the state of a side and judges it.
func (g *engine) decide(ctx context.Context, s *side) (job, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if s.gone || s.changed.IsZero() {
		if s.run.isLate(g.cfg.LateWindow, now) {
			g.close(ctx, s.run)
		}
		g.leave(ctx, s)
		return job{}, false
	}
	if err := g.load(ctx, s.run); err != nil {
		g.warn("The state of a run could not be read from the storage", err)
		g.later(s, now)
		g.leave(ctx, s)
		return job{}, false
	}
	st := g.part(s, now)
	if st == nil {
		g.leave(ctx, s)
		return job{}, false
	}
	v, due := s.judge(st, g.cfg, g.blocked || s.run.isStuck(), now)
	if !due {
		s.retry, s.hold = time.Time{}, time.Time{}
		g.leave(ctx, s)
		return job{}, false
	}
	if v.Final && v.From != fromEnd {
		g.meter.over(s.run.id, now)
	}
	g.witness(ctx, s, v)
	g.claim(ctx, s, st.Attempt)
	var sums map[string]digest.Digest
	if v.Final {
		var whole bool
		if sums, whole = g.files.of(s, st); g.files.hold(s, whole, now) {
			g.leave(ctx, s)
			return job{}, false
		}
	} else {
		s.hold = time.Time{} // the next final result waits by itself
	}
	return job{
		state: st, verdict: v, version: s.version, seen: s.wallSeen, stale: s.stale(), files: s.run.files, gpus: g.meter.report(s), digests: sums, own: s.own,
		patient: s.failures < patience,
	}, true
}

// witness keeps that a run was seen falling silent before its result says so: after a kill between the two, the next start
// would know no more than that it is old.
func (g *engine) witness(ctx context.Context, s *side, v resultfile.Verdict) {
	if v.From == fromSilence && (v != s.verdict || s.isReopened()) {
		s.verdict, s.told = v, s.wallSeen
		s.settled, s.wallEnd = time.Time{}, 0
		g.keep(ctx, s.run)
	}
}

// claim keeps that results up to an attempt are to be written. Rows may turn out to tell of no second attempt: after a kill, the result that
// has two is known for this collector's own.
func (g *engine) claim(ctx context.Context, s *side, attempt int64) {
	if attempt > max(s.wrote, 1) {
		s.wrote = attempt
		g.keep(ctx, s.run)
	}
}

// leave puts a run back into the schedule.
func (g *engine) leave(ctx context.Context, s *side) {
	s.writing = false
	g.fix(s)
	g.shrink(ctx)
}

// later sets the time of the next attempt: 1 s, 2 s, 4 s up to 5 min.
func (g *engine) later(s *side, now time.Time) {
	wait := maxRetry
	if s.failures < 9 {
		wait = min(minRetry<<s.failures, maxRetry)
	}
	s.failures++
	s.retry = now.Add(wait)
}

// finish notes what became of a write.
func (g *engine) finish(ctx context.Context, s *side, j job, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.leave(ctx, s)
	now := time.Now()
	if s.gone { // it was, while it was written: the owner removes it once more
		g.change(s.run.owner(), now)
		return
	}
	if err != nil {
		g.later(s, now)
		return
	}
	s.failures, s.retry = 0, time.Time{}
	s.lived, s.shown = now, j.version
	owned := !s.own && !j.foreign
	s.own = s.own || owned
	switch {
	case s.again: // it may be in the old directory
		s.again, s.changed, s.shown = false, now, nothingShown
	case s.version != j.version:
		s.changed = s.seen
	case j.verdict.Final:
		s.changed = time.Time{}
	}
	g.conclude(ctx, s, &j, owned, now)
}

// conclude keeps the verdict, also for the next start.
func (g *engine) conclude(ctx context.Context, s *side, j *job, owned bool, now time.Time) {
	before, settled, told, v := s.verdict, s.wallEnd, s.told, j.verdict
	if s.verdict = v; v.Final {
		s.told = j.seen
	}
	switch {
	case !v.Final || v.Provisional:
		s.settled, s.wallEnd = time.Time{}, 0
	case s.settled.IsZero():
		s.settled, s.wallEnd = now, now.UnixNano()
	}
	if !owned && (v == before && s.wallEnd == settled && s.told == told || !v.Final) {
		return
	}
	g.keep(ctx, s.run)
}

// keep stores what is known of a run besides its records.
func (g *engine) keep(ctx context.Context, r *run) {
	ops := []*storage.Operation{g.metaOperation(r)}
	if !g.store.indexed { // the first one tells the version
		ops = append(ops, g.store.indexOperation(g.store.first, g.keys()))
	}
	if err := g.store.batch(ctx, ops...); err != nil {
		g.warn("The storage did not take the verdict on a run", err) // the next snapshot has it
		return
	}
	g.store.indexed = true
}

// wrote counts a result, and takes the trouble with the run back.
func (g *engine) wrote(ctx context.Context, s *side, j *job, result atomicdir.Result) {
	g.report.worked(s)
	v := j.verdict
	switch result {
	case atomicdir.Written:
		outcome := v.Outcome
		if outcome == "" {
			outcome = "running"
		}
		g.telemetry.WrittenResults.Add(ctx, 1, g.telemetry.With("outcome", outcome))
		if j.state.Partial {
			g.telemetry.PartialResults.Add(ctx, 1, g.telemetry.Self())
		}
		if v.Final {
			g.report.noted(s, j)
			g.logger.Info("Wrote a result", zap.String("run_directory", s.dir), zap.String("outcome", outcome), zap.Bool("provisional", v.Provisional))
		}
	case atomicdir.Kept:
		g.telemetry.KeptResults.Add(ctx, 1, g.telemetry.Self())
		g.report.kept(s)
	}
}
