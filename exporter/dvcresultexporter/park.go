package dvcresultexporter

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// meta is what the storage holds of a run besides its fold. Times are Unix nanoseconds of arrival: they decide when a
// result is written and are in none.
type meta struct {
	ID     string     `json:"id"`
	Closed bool       `json:"closed,omitempty"`
	Sides  []sideMeta `json:"sides"` // the owner's first

	Track   *gpuuse.Track            `json:"track,omitempty"` // when and where it worked
	Digests map[string]digest.Digest `json:"digests,omitempty"`
}

type sideMeta struct {
	Host    string             `json:"host,omitempty"`
	Seen    int64              `json:"seen"`
	Attempt int64              `json:"attempt,omitempty"`
	Settled int64              `json:"settled,omitempty"`
	Told    int64              `json:"told,omitempty"`
	Own     bool               `json:"own,omitempty"`
	Wrote   int64              `json:"wrote,omitempty"`
	Verdict resultfile.Verdict `json:"verdict"`
}

func (g *engine) metaOperation(r *run) *storage.Operation {
	m := meta{ID: r.id, Closed: r.closed, Track: g.meter.tracker.Track(r.id), Digests: r.digests}
	for _, s := range r.sides {
		m.Sides = append(m.Sides, sideMeta{s.host, s.wallSeen, s.attempt, s.wallEnd, s.told, s.own, s.wrote, s.verdict})
	}
	b, _ := json.Marshal(m) // cannot fail
	return storage.SetOperation(metaPrefix+r.key, seal(b))
}

// compact replaces the journal by snapshots when it has become twice as large as they are. The caller holds the lock.
func (g *engine) compact(ctx context.Context) {
	if g.store.client == nil || g.store.size <= max(g.store.least, g.store.limit) {
		return
	}
	var snapshots int64
	for _, r := range g.runs {
		snapshots += r.stored
	}
	if g.store.size <= 2*snapshots {
		return
	}
	if err := g.snapshot(ctx); err != nil {
		g.store.limit = g.store.size + g.store.least // not with every call
		g.warn("The storage took no snapshot; the journal grows until it does", err)
	}
}

// snapshot stores every run that changed and drops the journal, in one operation.
func (g *engine) snapshot(ctx context.Context) error {
	var ops []*storage.Operation
	sizes := map[*run]int64{}
	for _, r := range g.runs {
		ops = append(ops, g.metaOperation(r))
		if r.fold != nil && r.saved != r.version {
			b := r.fold.Snapshot()
			sizes[r] = int64(len(b))
			ops = append(ops, storage.SetOperation(foldPrefix+r.key, seal(b)))
		}
	}
	ops = append(ops, g.store.indexOperation(g.store.next, g.keys()))
	ops = append(ops, g.store.dropOperations()...)
	if err := g.store.batch(ctx, ops...); err != nil {
		return err
	}
	for r, n := range sizes {
		r.stored, r.saved = n, r.version
	}
	g.store.replaced()
	return nil
}

// keys lists the runs of the storage.
func (g *engine) keys() []string {
	keys := make([]string, 0, len(g.runs))
	for _, r := range g.runs {
		keys = append(keys, r.key)
	}
	slices.Sort(keys)
	return keys
}

func (g *engine) maxState() int64 { return int64(g.cfg.MaxStateBytes) }

// shrink parks the runs that were touched longest ago until the state fits. The caller holds the lock.
func (g *engine) shrink(ctx context.Context) {
	if g.size <= g.maxState() {
		return
	}
	var loaded []*run
	for _, r := range g.runs {
		if r.fold != nil && !r.isWriting() {
			loaded = append(loaded, r)
		}
	}
	slices.SortFunc(loaded, func(a, b *run) int {
		return cmp.Or(a.lastSeen().Compare(b.lastSeen()), cmp.Compare(a.id, b.id))
	})
	for _, r := range loaded[:max(len(loaded)-1, 0)] { // the newest is needed again at once
		if g.size <= g.maxState() {
			return
		}
		if err := g.park(ctx, r); err != nil {
			g.warn("The state of a run could not be parked; the memory is above max_state_bytes", err)
			return
		}
	}
	if g.size > g.maxState() && g.store.client == nil {
		g.release(ctx)
		g.thin(ctx)
	}
}

// park takes a run's state out of memory into the storage; without one it is packed.
func (g *engine) park(ctx context.Context, r *run) error {
	snapshot := r.fold.Snapshot()
	if g.store.client == nil {
		packed, err := pack(snapshot)
		if err != nil {
			return err
		}
		r.packed = packed
	} else if r.saved != r.version {
		if err := g.store.batch(ctx, storage.SetOperation(foldPrefix+r.key, seal(snapshot)), g.metaOperation(r)); err != nil {
			return err
		}
		r.stored, r.saved = int64(len(snapshot)), r.version
	}
	r.fold = nil
	g.resize(r)
	return nil
}

// load brings a parked state back. The caller holds the lock.
func (g *engine) load(ctx context.Context, r *run) error {
	if r.fold != nil || r.closed {
		return nil
	}
	snapshot, err := g.unparked(ctx, r)
	if err != nil {
		return fmt.Errorf("load the state of a run: %w", err)
	}
	if snapshot == nil {
		r.fold = trainrun.New(r.id)
	} else if r.fold, err = restoreFold(snapshot, r.id); err != nil {
		g.damaged(ctx, foldPrefix+r.key, err)
		r.fold = trainrun.New(r.id)
		r.version++ // the next snapshot replaces it
	}
	r.packed = nil
	g.resize(r)
	return nil
}

func (g *engine) unparked(ctx context.Context, r *run) ([]byte, error) {
	if g.store.client != nil {
		return g.store.get(ctx, foldPrefix+r.key)
	}
	if r.packed == nil {
		return nil, nil
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(r.packed)))
	return seal(b), err
}

// restoreFold makes the fold of a sealed snapshot; id is that of its run when it is known.
func restoreFold(sealed []byte, id string) (*trainrun.Fold, error) {
	snapshot, err := unseal(sealed)
	if err != nil {
		return nil, err
	}
	fold, err := trainrun.Restore(snapshot)
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	if id != "" && fold.RunID() != id {
		return nil, fmt.Errorf("%w: that of another run", errDamaged)
	}
	return fold, nil
}

func pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
