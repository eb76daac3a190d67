package dvcresultexporter

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// restore brings the runs of the storage back. Every run that is not closed is looked at after late_grace: its result is
// written again if the one on disk is not what the state gives, which completes what a kill interrupted.
func (g *engine) restore(ctx context.Context) error {
	if g.store.client == nil {
		return nil
	}
	ix, err := g.store.readIndex(ctx)
	if errors.Is(err, errDamaged) {
		g.damaged(ctx, indexKey, err)
		g.lost = true
	} else if err != nil {
		return err
	}
	now := time.Now()
	for _, key := range ix.Runs {
		if err := g.restoreRun(ctx, key, now); err != nil {
			return err
		}
	}
	err = g.store.readJournal(ctx, ix.First,
		func(arrived int64, entries []trainrun.Entry) error {
			return g.replay(ctx, arrived, entries, ix.Runs, now)
		},
		func(key string, err error) {
			g.damaged(ctx, key, err)
			g.lost = true // it may have been all that named a run
		})
	if err != nil {
		return err
	}
	if err := g.meter.restore(ctx); err != nil {
		return err
	}
	if g.lost { // a new index, or the next start finds it damaged as well
		if err := g.store.batch(ctx, g.store.indexOperation(g.store.first, g.keys())); err != nil {
			return err
		}
	}
	for _, r := range g.runs {
		for _, s := range r.sides {
			g.awake(s, now)
		}
	}
	g.shrink(ctx)
	return nil
}

// damaged counts a value of the storage that cannot be read, and says so: one line in five minutes.
func (g *engine) damaged(ctx context.Context, key string, err error) {
	g.store.failed(ctx, "damaged")
	if g.seldom.Allow("damages") {
		g.logger.Error("A stored value is damaged and was passed over; results that miss records do not replace better ones. "+
			"Let the receiver read the streams from their beginning to complete them", zap.String("storage_key", key), zap.Error(err))
	}
}

// restoreRun makes a parked run from its meta value, or, when that is damaged, from its snapshot.
func (g *engine) restoreRun(ctx context.Context, key string, now time.Time) error {
	b, err := g.store.get(ctx, metaPrefix+key)
	if err != nil {
		return err
	}
	var m meta
	text, err := unseal(b)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || m.ID == "" || storageKey(m.ID) != key || len(m.Sides) == 0 {
		return g.restoreAlone(ctx, key, b, now)
	}
	r := g.newRun(m.ID, now)
	r.closed, r.digests = m.Closed, m.Digests
	g.meter.tracker.SetTrack(m.ID, m.Track)
	for i, sm := range m.Sides {
		if i > 0 {
			r.sides = append(r.sides, r.newSide(sm.Host, resultfile.SideDirectory(r.dir, sm.Host), now))
		}
		s := r.sides[i]
		s.wallSeen, s.attempt, s.wallEnd, s.told, s.own, s.wrote, s.verdict = sm.Seen, sm.Attempt, sm.Settled, sm.Told, sm.Own, sm.Wrote, sm.Verdict
		if sm.Settled != 0 {
			s.settled = ago(sm.Settled, now)
		}
	}
	g.runs[m.ID] = r
	return nil
}

// restoreAlone makes a run without a usable meta value: as if its last record came now. A run that has neither was dropped.
func (g *engine) restoreAlone(ctx context.Context, key string, metaValue []byte, now time.Time) error {
	snapshot, err := g.store.get(ctx, foldPrefix+key)
	if err != nil {
		return err
	}
	if metaValue == nil && snapshot == nil {
		return nil
	}
	g.damaged(ctx, metaPrefix+key, errDamaged)
	if snapshot == nil {
		return nil
	}
	fold, err := restoreFold(snapshot, "")
	if err != nil || storageKey(fold.RunID()) != key {
		g.damaged(ctx, foldPrefix+key, errors.Join(errDamaged, err))
		return nil
	}
	r := g.newRun(fold.RunID(), now)
	r.fold, r.stored, r.owner().wallSeen = fold, int64(len(snapshot)), now.UnixNano()
	g.runs[r.id] = r
	g.resize(r)
	return nil
}

// replay applies a part of the journal. A run that is not named by the index may have values in the storage all the same.
func (g *engine) replay(ctx context.Context, arrived int64, entries []trainrun.Entry, named []string, now time.Time) error {
	for i := range entries {
		id := entries[i].RunID
		if key := storageKey(id); g.runs[id] == nil && !slices.Contains(named, key) {
			if err := g.restoreRun(ctx, key, now); err != nil {
				return err
			}
		}
		if g.runs[id] == nil {
			g.runs[id] = g.firstSeen(id, now)
		}
		r := g.runs[id]
		if r.closed {
			continue
		}
		if err := g.load(ctx, r); err != nil {
			return err
		}
		if r.fold.Apply(entries[i]) {
			r.version++
		}
		g.meter.mark(&entries[i], now)
		for _, s := range r.targets(&entries[i]) {
			s.wallSeen = max(s.wallSeen, arrived)
		}
		g.resize(r)
	}
	g.shrink(ctx)
	return nil
}

// awake schedules what a restored run has. One that was silent too long before the start is that: nobody watched it. Another has the
// time that is left, by the monotonic clock, and late_grace at least: the receiver has to bring what was written meanwhile. A live result may have been due when the last one was killed.
func (g *engine) awake(s *side, now time.Time) {
	s.changed, s.shown, s.check = now, nothingShown, now.Add(g.cfg.LateGrace)
	s.lived = later(ago(s.wallSeen, now), now.Add(g.cfg.LateGrace-g.cfg.LiveInterval))
	s.silent = now.UnixNano()-s.wallSeen > int64(g.cfg.IdleTimeout)
	s.quiet = later(ago(s.wallSeen, now), now.Add(g.cfg.LateGrace-g.cfg.IdleTimeout))
	g.fix(s)
}

func (g *engine) newRun(id string, now time.Time) *run {
	r := &run{id: id, key: storageKey(id), dir: g.cfg.runDirectory(id)}
	r.sides = []*side{r.newSide("", r.dir, now)}
	return r
}

func (r *run) newSide(host, dir string, now time.Time) *side {
	return &side{run: r, host: host, dir: dir, seen: now, quiet: now, index: -1}
}

// ago is a wall time on the monotonic clock; a time in the future counts as now.
func ago(wall int64, now time.Time) time.Time {
	return now.Add(-time.Duration(max(now.UnixNano()-wall, 0)))
}
