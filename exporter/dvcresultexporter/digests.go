package dvcresultexporter

import (
	"context"
	"maps"
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// maxDigests is how many digests of a run are kept before those of its former attempts are given up.
const maxDigests = 256

// digests has the files that a final result names read. Their digests are computed once: what is at a path later is another run's, or
// another attempt's.
type digests struct {
	g      *engine
	worker *digest.Worker // nil when no file may be read
	wait   time.Duration
	verify bool
	turns  []*side // that found no room in the queue, in their order
}

func newDigests(g *engine) *digests {
	d := &digests{g: g, wait: g.cfg.Artifacts.DigestWait, verify: g.cfg.Artifacts.Verify}
	if len(g.cfg.Artifacts.AllowedRoots) > 0 {
		d.worker = digest.NewWorker(g.cfg.Artifacts.options(), d.done, &g.busy)
	}
	return d
}

func (c *ArtifactsConfig) options() digest.Options {
	opts := digest.Options{Roots: c.AllowedRoots, MaxFileBytes: int64(c.MaxFileBytes), BytesPerSecond: int64(c.MaxBytesPerSecond)}
	for _, m := range c.PathMap {
		opts.Map = append(opts.Map, digest.Mapping{From: m.From, To: m.To})
	}
	return opts
}

// run reads until the engine stops.
func (d *digests) run() {
	defer d.g.wg.Done()
	if d.worker == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d.g.wg.Go(func() {
		select {
		case <-d.g.quit:
			cancel()
		case <-ctx.Done():
		}
	})
	d.worker.Run(ctx)
}

// of gives the digests of a side's files and whether all are there. It asks for those that are not. The caller holds the lock.
func (d *digests) of(s *side, st *trainrun.State) (found map[string]digest.Digest, whole bool) {
	if d.worker == nil {
		return nil, true
	}
	found, whole = map[string]digest.Digest{}, true
	for _, f := range resultfile.Files(st) {
		if f.SHA256 != "" && !d.verify {
			continue
		}
		if known, ok := s.run.digests[f.Key]; ok {
			found[f.Key] = known
			continue
		}
		found[f.Key] = digest.Digest{Status: digest.Pending}
		whole = false
		if !d.worker.Submit(digest.Task{Run: s.run.id, Key: f.Key, Path: f.Path}) && !s.asks {
			s.asks = true
			d.turns = append(d.turns, s)
		}
	}
	if len(s.run.digests) > maxDigests { // of attempts that are over
		s.run.digests = maps.Clone(found)
		maps.DeleteFunc(s.run.digests, func(_ string, v digest.Digest) bool { return v.Status == digest.Pending })
	}
	return found, whole
}

// hold says whether a final result has to wait for digests, and until when it does. The caller holds the lock.
func (d *digests) hold(s *side, whole bool, now time.Time) bool {
	if whole {
		s.hold = time.Time{}
		return false
	}
	if s.hold.IsZero() {
		s.hold = now.Add(d.wait)
	}
	if !now.Before(s.hold) {
		return false
	}
	s.retry = s.hold
	return true
}

// done takes a digest, and has the results of its run looked at when it was the last.
func (d *digests) done(t digest.Task, got digest.Digest) {
	g := d.g
	g.mu.Lock()
	defer g.mu.Unlock()
	ctx := context.Background()
	g.telemetry.Digests.Add(ctx, 1, g.telemetry.With("status", string(got.Status)))
	defer d.turn(ctx, time.Now())
	r := g.runs[t.Run]
	if r == nil || r.closed || g.stopped {
		return
	}
	if r.digests == nil {
		r.digests = map[string]digest.Digest{}
	}
	r.digests[t.Key] = got
	now := time.Now()
	if err := g.load(ctx, r); err != nil {
		g.warn("The state of a run could not be read from the storage", err)
		return
	}
	g.keep(ctx, r)
	for _, s := range r.sides {
		switch {
		case s.gone:
		case !s.hold.IsZero() && now.Before(s.hold): // it waits
			s.retry = now
			g.fix(s)
		case s.verdict.Final, s.writing: // it said pending, or is about to
			g.change(s, now)
		}
	}
	g.shrink(ctx)
}

// turn has those ask again who found no room in the queue. What they are to have read, their state says: it is not kept beside it. The caller
// holds the lock.
func (d *digests) turn(ctx context.Context, now time.Time) {
	g := d.g
	if g.stopped {
		return
	}
	for len(d.turns) > 0 && d.worker.HasRoom() {
		s := d.turns[0]
		d.turns = d.turns[1:]
		s.asks = false
		if s.gone || s.run.closed || g.runs[s.run.id] != s.run || s.isReopened() || s.hold.IsZero() && !s.verdict.Final {
			continue
		}
		if err := g.load(ctx, s.run); err != nil {
			g.warn("The state of a run could not be read from the storage", err)
			continue
		}
		if st := g.part(s, now); st != nil {
			d.of(s, st)
		}
	}
	g.shrink(ctx)
}
