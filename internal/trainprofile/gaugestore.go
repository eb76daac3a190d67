package trainprofile

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// GaugeShards is the number of parts in which the state is stored. A run is in one of them.
const GaugeShards = 64

const gaugeStoreVersion = 1

// storedGauges is a part of the state. A row that waits for the rest of its points is not stored: its values count as unseen.
type storedGauges struct {
	Version int
	Runs    []storedRun
}

type storedRun struct {
	ID           string
	Seq, Attempt int64
	Processes    []string
	Attempts     []int64
	Rows         []storedRow
}

type storedRow struct {
	Key, Profile, Part, Process string
	Attempt, Rank, Step         int64
	HasStep, Moved              bool
	StepAt, First, Last         uint64
	Values                      []storedValue
	HeldAt                      uint64 // 0 = nothing is held
	HeldUID                     string
	HeldResource                []byte
}

type storedValue struct {
	Name, As, Phase    string
	Group, IsInt, Held bool
	Bits, At           uint64
}

func gaugeShard(run string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(run)) // a hash has no errors
	return int(h.Sum32() % GaugeShards)
}

// Changed gives the parts of the state that are others than when Changed gave them last, by number. What was given and could
// not be stored goes back with Keep.
func (g *GaugeRecords) Changed() (map[int][]byte, error) {
	parts := make(map[int][]byte, len(g.dirty))
	if len(g.dirty) == 0 {
		return parts, nil
	}
	states := map[int]*storedGauges{}
	for shard := range g.dirty {
		states[shard] = &storedGauges{Version: gaugeStoreVersion}
	}
	byRun := map[*gaugeRun][]storedRow{}
	for back := g.recent.Back(); back != nil; back = back.Prev() { // the oldest first
		e := back.Value.(*gaugeRow)
		if states[gaugeShard(e.run.id)] != nil && e.known {
			row, err := e.stored()
			if err != nil {
				return nil, err
			}
			byRun[e.run] = append(byRun[e.run], row)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(g.runs)) {
		run := g.runs[id]
		if state := states[gaugeShard(id)]; state != nil && len(byRun[run]) > 0 {
			s := storedRun{ID: id, Seq: run.seq, Attempt: run.attempt, Rows: byRun[run]}
			for _, p := range run.processes {
				s.Processes, s.Attempts = append(s.Processes, p.name), append(s.Attempts, p.attempt)
			}
			state.Runs = append(state.Runs, s)
		}
	}
	for shard, state := range states {
		var b bytes.Buffer
		if len(state.Runs) > 0 {
			if err := gob.NewEncoder(&b).Encode(state); err != nil {
				return nil, err
			}
		}
		parts[shard] = b.Bytes()
	}
	clear(g.dirty)
	return parts, nil
}

// Keep says that a part could not be stored.
func (g *GaugeRecords) Keep(shard int) { g.dirty[shard] = struct{}{} }

func (e *gaugeRow) stored() (storedRow, error) {
	s := storedRow{
		Key: e.key, Profile: e.profile.name, Part: e.part, Process: e.process, Attempt: e.attempt, Rank: e.rank, Step: e.step,
		HasStep: e.hasStep, Moved: e.moved, StepAt: uint64(e.stepAt), First: uint64(e.first), Last: uint64(e.last),
	}
	for i := range e.values {
		v := &e.values[i]
		s.Values = append(s.Values, storedValue{
			Name: v.name, As: v.as, Phase: v.phase, Group: v.group, IsInt: v.isInt, Held: v.held, Bits: v.bits, At: uint64(v.at),
		})
	}
	if e.held == nil {
		return s, nil
	}
	ld := plog.NewLogs()
	e.held.resource.CopyTo(ld.ResourceLogs().AppendEmpty().Resource().Attributes())
	var err error
	s.HeldAt, s.HeldUID = uint64(e.held.at), e.held.uid
	s.HeldResource, err = (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	return s, err
}

// Restore adds a part of a stored state. Rows of profiles that are loaded no more are left out.
func (g *GaugeRecords) Restore(data []byte, now time.Time) error {
	if len(data) == 0 {
		return nil
	}
	var state storedGauges
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&state); err != nil {
		return err
	}
	if state.Version != gaugeStoreVersion {
		return fmt.Errorf("has version %d, want %d", state.Version, gaugeStoreVersion)
	}
	for i := range state.Runs {
		s := &state.Runs[i]
		if len(s.Processes) != len(s.Attempts) || len(s.Processes) > maxRunProcesses || g.runs[s.ID] != nil {
			return errors.New("does not fit together")
		}
		run := &gaugeRun{id: s.ID, seq: s.Seq, attempt: max(s.Attempt, 1), lastRecord: now}
		for i := range s.Processes {
			run.processes = append(run.processes, gaugeProcess{name: s.Processes[i], attempt: s.Attempts[i]})
		}
		for j := range s.Rows {
			g.restoreRow(run, &s.Rows[j], now)
		}
		if run.rows > 0 {
			g.runs[s.ID] = run
		}
	}
	return nil
}

func (g *GaugeRecords) restoreRow(run *gaugeRun, s *storedRow, now time.Time) {
	p, key := g.set.Profile(s.Profile), attemptKey(s.Key, s.Attempt)
	if p == nil || p.gauges == nil || g.rows[key] != nil || len(g.rows) >= g.options.MaxRows {
		return
	}
	e := &gaugeRow{
		key: s.Key, run: run, attempt: s.Attempt, profile: p, part: s.Part, rank: s.Rank, process: s.Process, known: true,
		hasStep: s.HasStep, step: s.Step, stepAt: pcommon.Timestamp(s.StepAt), first: pcommon.Timestamp(s.First),
		last: pcommon.Timestamp(s.Last), moved: s.Moved, seen: now,
	}
	for _, v := range s.Values {
		e.note(&gaugePoint{gaugeValue: gaugeValue{
			name: v.Name, as: v.As, phase: v.Phase, group: v.Group, isInt: v.IsInt, bits: v.Bits, at: pcommon.Timestamp(v.At),
		}}, v.Held)
	}
	if s.HeldAt != 0 {
		e.held = &heldRow{at: pcommon.Timestamp(s.HeldAt), uid: s.HeldUID, resource: pcommon.NewMap()}
		if ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(s.HeldResource); err == nil && ld.ResourceLogs().Len() == 1 {
			ld.ResourceLogs().At(0).Resource().Attributes().MoveTo(e.held.resource)
		}
	}
	e.elem = g.recent.PushFront(e)
	g.rows[key] = e
	run.rows++
	g.repend(e)
}
