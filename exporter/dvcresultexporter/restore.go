package dvcresultexporter

import (
	"context"
	"encoding/json"
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
	if err != nil {
		return err
	}
	now := time.Now()
	for _, key := range ix.Runs {
		if err := g.restoreRun(ctx, key, now); err != nil {
			return err
		}
	}
	damaged, err := g.store.readJournal(ctx, ix.First, func(arrived int64, entries []trainrun.Entry) error {
		return g.replay(ctx, arrived, entries, now)
	})
	if err != nil {
		return err
	}
	if damaged > 0 {
		g.logger.Error("Parts of the stored journal are damaged and were passed over; the receiver must read the streams from their beginning to complete the results",
			zap.Int("parts", damaged))
	}
	for _, r := range g.runs {
		g.awake(r, now)
	}
	g.shrink(ctx)
	return nil
}

// restoreRun makes a parked run from its meta value.
func (g *engine) restoreRun(ctx context.Context, key string, now time.Time) error {
	b, err := g.store.get(ctx, metaPrefix+key)
	if err != nil {
		return err
	}
	var m meta
	if b == nil || json.Unmarshal(b, &m) != nil || m.ID == "" {
		return nil // dropped
	}
	r := newRun(m.ID, now)
	r.wallSeen, r.wallEnd, r.closed, r.verdict = m.Seen, m.Settled, m.Closed, m.Verdict
	if m.Settled != 0 {
		r.settled = ago(m.Settled, now)
	}
	g.runs[m.ID] = r
	return nil
}

// replay applies a part of the journal.
func (g *engine) replay(ctx context.Context, arrived int64, entries []trainrun.Entry, now time.Time) error {
	for i := range entries {
		id := entries[i].RunID
		if g.runs[id] == nil {
			g.runs[id] = newRun(id, now)
			g.runs[id].fold = trainrun.New(id)
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
		r.wallSeen = max(r.wallSeen, arrived)
		g.resize(r)
	}
	g.shrink(ctx)
	return nil
}

// awake schedules a restored run.
func (g *engine) awake(r *run, now time.Time) {
	if r.closed {
		return
	}
	r.changed, r.lived, r.check = now, now, now.Add(g.cfg.LateGrace)
	r.silent = now.UnixNano()-r.wallSeen > int64(g.cfg.IdleTimeout)
	g.fix(r)
}

func newRun(id string, now time.Time) *run {
	return &run{id: id, dir: resultfile.RunDirectory(id), key: storageKey(id), seen: now, index: -1}
}

// ago is a wall time on the monotonic clock; a time in the future counts as now.
func ago(wall int64, now time.Time) time.Time {
	return now.Add(-time.Duration(max(now.UnixNano()-wall, 0)))
}
