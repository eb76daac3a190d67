package dvcresultexporter

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/faults"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// The layout of the storage for readings of GPUs, beside that of the records:
//
//	gpu      JSON: the number of the first part, the state of the tracker before it
//	g/<n>    JSON: a part, the readings of one call or more
const (
	gpuKey      = "gpu"
	gpuPrefix   = "g/"
	maxGPUParts = 30   // before a snapshot replaces them
	maxReadings = 4096 // that wait for the storage; more are in the next snapshot only
)

// Reasons why a reading was of no use.
const (
	readingKnown    = "duplicate"
	readingFull     = "too_many_gpus"
	readingNameless = "no_uuid"
)

// meter takes the readings of GPUs. It has a lock of its own and no call waits for the storage: the same metrics go to a backend,
// which must not wait for results.
type meter struct {
	g       *engine
	tracker *gpuuse.Tracker
	client  storage.Client

	mu      sync.Mutex
	pending []gpuuse.Reading
	whole   bool   // the storage misses something: the next write is a snapshot
	first   uint64 // number of the first part
	next    uint64 // number of the next part

	kick chan struct{}
}

// gpuState is the value of gpuKey.
type gpuState struct {
	First uint64          `json:"first"`
	State json.RawMessage `json:"state"`
}

func newMeter(g *engine, client storage.Client) *meter {
	return &meter{g: g, tracker: gpuuse.New(g.cfg.Resources.Lookback), client: client, kick: make(chan struct{}, 1)}
}

// take joins the readings of a batch, and has them stored.
func (m *meter) take(ctx context.Context, md pmetric.Metrics) {
	tel := m.g.telemetry
	readings, nameless := gpuuse.Read(md)
	if nameless > 0 {
		tel.IgnoredGPUReadings.Add(ctx, int64(nameless), tel.With("reason", readingNameless))
	}
	if len(readings) == 0 {
		return
	}
	m.mu.Lock()
	known, full := m.tracker.Add(readings)
	if m.client != nil {
		m.pending = append(m.pending, readings...)
		if len(m.pending) > maxReadings {
			m.pending, m.whole = nil, true
		}
	}
	m.mu.Unlock()
	tel.GPUReadings.Add(ctx, int64(len(readings)-known-full), tel.Self())
	if known > 0 {
		tel.IgnoredGPUReadings.Add(ctx, int64(known), tel.With("reason", readingKnown))
	}
	if full > 0 {
		tel.IgnoredGPUReadings.Add(ctx, int64(full), tel.With("reason", readingFull))
	}
	select {
	case m.kick <- struct{}{}:
	default:
	}
}

// run stores readings until the engine stops. After a failure it waits before the next attempt.
func (m *meter) run() {
	defer m.g.wg.Done()
	if m.client == nil {
		return
	}
	for {
		select {
		case <-m.kick:
		case <-m.g.quit:
			_ = m.write() // the storage errors count it
			return
		}
		if m.write() == nil {
			continue
		}
		select {
		case <-time.After(minRetry):
		case <-m.g.quit:
			return
		}
	}
}

// write brings what is pending to the storage: as a part, or in a snapshot that replaces the parts.
func (m *meter) write() error {
	m.g.busy.Add(1)
	defer m.g.busy.Add(-1)
	ops, done, err := m.operations()
	if err == nil && len(ops) > 0 {
		faults.Point("gpu")
		err = m.client.Batch(context.Background(), ops...)
	}
	if err != nil {
		m.g.store.failed(context.Background(), "gpu")
		m.mu.Lock()
		m.whole = true
		m.mu.Unlock()
		return err
	}
	done()
	return nil
}

func (m *meter) operations() (ops []*storage.Operation, done func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.pending) == 0 && !m.whole {
		return nil, func() {}, nil
	}
	if !m.whole && m.next-m.first < maxGPUParts {
		part, err := gpuuse.AppendReadings(m.pending)
		m.pending = nil
		n := m.next
		m.next++ // also when it fails: the number of a part that was perhaps written is not used again
		return []*storage.Operation{storage.SetOperation(gpuPartKey(n), seal(part))}, func() {}, err
	}
	state, err := m.tracker.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	first, next := m.first, m.next
	b, err := json.Marshal(gpuState{First: next, State: state})
	if err != nil {
		return nil, nil, err
	}
	ops = append(ops, storage.SetOperation(gpuKey, seal(b)))
	for n := first; n < next; n++ {
		ops = append(ops, storage.DeleteOperation(gpuPartKey(n)))
	}
	m.pending, m.whole = nil, false
	return ops, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.first = next
	}, nil
}

func gpuPartKey(n uint64) string { return gpuPrefix + strconv.FormatUint(n, 10) }

// restore brings back what was stored. What is damaged is passed over: results say of how many samples they are.
func (m *meter) restore(ctx context.Context) error {
	if m.client == nil {
		return nil
	}
	b, err := m.g.store.get(ctx, gpuKey)
	if err != nil {
		return err
	}
	if b != nil {
		if err := m.restoreState(b); err != nil {
			m.g.damaged(ctx, gpuKey, err)
			m.whole = true
		}
	}
	for m.next = m.first; ; m.next++ {
		b, err := m.g.store.get(ctx, gpuPartKey(m.next))
		if err != nil || b == nil {
			return err
		}
		var readings []gpuuse.Reading
		text, err := unseal(b)
		if err == nil {
			readings, err = gpuuse.DecodeReadings(text)
		}
		if err != nil {
			m.g.damaged(ctx, gpuPartKey(m.next), errors.Join(errDamaged, err))
			continue
		}
		m.tracker.Add(readings)
	}
}

func (m *meter) restoreState(sealed []byte) error {
	b, err := unseal(sealed)
	if err != nil {
		return err
	}
	var s gpuState
	if err := json.Unmarshal(b, &s); err != nil {
		return errors.Join(errDamaged, err)
	}
	m.first = s.First
	return m.tracker.Restore(s.State)
}

// mark tells the tracker of a record, and has the results of other runs looked at that it concerns. The caller holds the lock of the
// engine.
func (m *meter) mark(e *trainrun.Entry, now time.Time) {
	mark := gpuuse.Mark{Time: e.Time, Rank: e.Rank, Host: e.Where.Host, Pod: gpuuse.Pod{Namespace: e.Where.Namespace, Name: e.Where.Pod}}
	switch e.Event {
	case trainrun.EventRunStart, trainrun.EventEpochEnd, trainrun.EventStepEnd, trainrun.EventPhaseStart, trainrun.EventPhaseEnd:
		mark.Kind = gpuuse.Work
	case trainrun.EventRunEnd:
		if e.Part == "" && e.Rank == 0 {
			mark.Kind = gpuuse.End
		}
	}
	m.concern(m.tracker.Mark(e.RunID, mark), now)
}

// over tells the tracker that nobody waits for a run any more which said no end.
func (m *meter) over(id string, now time.Time) { m.concern(m.tracker.Quiet(id), now) }

// concern makes final results due again: what they say of GPUs may have changed.
func (m *meter) concern(ids []string, now time.Time) {
	for _, id := range ids {
		r := m.g.runs[id]
		if r == nil || r.closed {
			continue
		}
		for _, s := range r.sides {
			if s.verdict.Final {
				m.g.change(s, now)
			}
		}
	}
}

// report gives what a side's run did with GPUs.
func (m *meter) report(s *side) *gpuuse.Report {
	r := s.run
	return m.tracker.Report(r.id, func(host string) bool {
		if len(r.sides) == 1 {
			return true
		}
		if s == r.owner() {
			return r.split(host) == nil || host == ""
		}
		return host == s.host
	})
}
