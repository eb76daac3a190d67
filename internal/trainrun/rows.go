package trainrun

import (
	"cmp"
	"math"
	"slices"
	"unsafe"
)

// row is a record that moves a curve: what it says about epochs and steps, and its values on one axis.
type row struct {
	epoch, step   int64 // -1 = none
	done          int64 // number of completed epochs that the record proves
	pos           int64
	time          int64
	attempt, rank int32
	file, path    uint32
	crc, index    uint32 // crc: part of the hash when the record has no uid
	from, n       uint32 // its values in the table
	part, host    uint16
	axis          Axis
	kind          posKind
	event         Event
	sampled       bool
}

// rowTable holds rows and, row by row, their values.
type rowTable struct {
	rows   []row
	values []float64
	series []uint32
	dirty  bool
	floor  int // what was left after the last compaction
}

func (t *rowTable) size() int64 {
	return int64(cap(t.rows))*int64(unsafe.Sizeof(row{})) + int64(cap(t.values))*8 + int64(cap(t.series))*4
}

func (t *rowTable) stored() int { return len(t.rows) + len(t.values) }

const none = int64(-1)

func (f *Fold) addRow(e *Entry, at *stamp) {
	f.rows.dirty = true
	part, fullParts := f.parts.get(e.Part, f.lim.parts*f.lim.slack)
	host, fullHosts := f.hosts.get(e.Where.Host, f.lim.hosts*f.lim.slack)
	p := f.parts.items[part]
	f.planned(p, e, at)
	f.durations(p, e)
	r := newRow(e, at)
	r.part, r.host = uint16(part), uint16(host)
	counts := f.ranks.get(e.Rank, f.lim.ranks)
	if counts != nil {
		counts.count(&r, max(1, len(e.Values)))
	}
	p.owner = min(p.owner, e.Rank)
	fullSeries := f.addValues(e, &r, part, counts != nil && !f.rowless)
	if counts != nil && !f.rowless && (e.Rank == p.owner || r.n > 0) {
		f.rows.rows = append(doubled(f.rows.rows), r)
	}
	f.full = f.full || fullParts || fullHosts || fullSeries || f.rows.stored() > f.rows.room(int(f.stepRoom))
}

// room is what may be stored before the rows are compacted.
func (t *rowTable) room(limit int) int { return max(2*limit+limit/2, t.floor+t.floor/4) + 4096 }

// doubled makes room where there is none. What is long grows as fast as what is short: else a long stream is copied four times.
func doubled[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return slices.Grow(list, len(list)+1)
}

func newRow(e *Entry, at *stamp) row {
	r := row{
		epoch: none, step: none, pos: at.pos, time: e.Time, attempt: int32(e.Attempt), rank: int32(e.Rank),
		file: at.file, path: at.path, crc: at.crc, index: at.index, kind: at.kind, event: e.Event, sampled: e.Sampled, axis: AxisOrder,
	}
	if e.ID.Kind == IDHash {
		r.crc = uint32(at.hash[0])<<24 | uint32(at.hash[1])<<16 | uint32(at.hash[2])<<8 | uint32(at.hash[3])
	}
	if e.Step.Set {
		r.step, r.axis = e.Step.V, AxisStep
	}
	if e.Progress >= 0 {
		r.done = int64(math.Floor(e.Progress))
		r.epoch = max(int64(math.Ceil(e.Progress))-1, 0)
	}
	if e.Epoch.Set {
		r.epoch = e.Epoch.V
		r.done = max(r.done, e.Epoch.V) // those before the one it is in
		if e.Event == EventEpochEnd {
			r.done = max(r.done, e.Epoch.V+1)
		}
		if e.Event == EventEpochEnd || e.Event == EventPhaseEnd {
			r.axis = AxisEpoch
		}
		if e.Event == EventPhaseEnd && e.Step.Set {
			r.axis = axisPhase
		}
	}
	return r
}

// x is the value on the row's axis; for AxisOrder a number that only tells rows apart.
func (r *row) x() int64 {
	switch r.axis {
	case AxisEpoch:
		return r.epoch
	case AxisStep, axisPhase:
		return r.step
	default:
		return int64(r.crc)
	}
}

func (c *rankCounts) count(r *row, n int) {
	k := r.level()
	if r.axis.coarse() {
		c.epoch[k] += uint32(n)
	} else {
		c.step[k] += uint32(n)
	}
}

func (f *Fold) addValues(e *Entry, r *row, part uint32, keep bool) (full bool) {
	r.from = uint32(len(f.rows.values))
	for i, v := range e.Values {
		id, over := f.series.get(i, seriesKey{part, r.axis, v.Name}, f.lim.series*f.lim.slack)
		full = full || over
		s := &f.series.items[id]
		if e.Rank < s.owner {
			s.others += s.values
			s.owner, s.values, s.nonFinite, s.sampled = e.Rank, 0, 0, false
		}
		if e.Rank > s.owner {
			s.others++
			continue
		}
		s.values++
		s.sampled = s.sampled || e.Sampled
		if math.IsNaN(v.V) || math.IsInf(v.V, 0) {
			s.nonFinite++
		}
		if !keep {
			continue
		}
		f.rows.values = append(doubled(f.rows.values), v.V)
		f.rows.series = append(doubled(f.rows.series), id)
		r.n++
	}
	return full
}

// planned takes what any record may say about the plan of its part.
func (f *Fold) planned(p *part, e *Entry, at *stamp) {
	if e.PlannedEpochs.Set {
		p.plannedEpochs.offer(at, e.PlannedEpochs.V, newest)
	}
	if e.PlannedSteps.Set {
		p.plannedSteps.offer(at, e.PlannedSteps.V, newest)
	}
}

func (f *Fold) durations(p *part, e *Entry) {
	source := fromEpoch
	switch e.Event {
	case EventStepEnd:
		source = fromStep
	case EventPhaseEnd, EventPhaseStart:
		source = fromPhase
	case EventRunEnd:
		return
	default: // the epoch
	}
	for _, d := range e.Durations {
		if i, ok := phaseIndex(d.Phase); ok && d.Nanos > 0 {
			p.totals[i].add(source, e.Rank, d.Nanos)
		}
	}
}

// compareAge orders rows by attempt, stream and place, then by everything else: the canonical order of a fold's rows.
func (r *row) compareAge(o *row) int {
	if c := cmp.Compare(r.attempt, o.attempt); c != 0 {
		return c
	}
	if c := cmp.Compare(r.file, o.file); c != 0 {
		return c
	}
	if c := cmp.Compare(r.kind, o.kind); c != 0 {
		return c
	}
	if c := cmp.Compare(r.pos, o.pos); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(r.time, o.time), cmp.Compare(r.index, o.index), cmp.Compare(r.crc, o.crc),
		cmp.Compare(r.rank, o.rank), cmp.Compare(r.part, o.part), cmp.Compare(r.event, o.event), cmp.Compare(r.axis, o.axis),
		cmp.Compare(r.epoch, o.epoch), cmp.Compare(r.step, o.step), cmp.Compare(r.done, o.done), cmp.Compare(r.host, o.host), cmp.Compare(r.path, o.path))
}

// compareRows is compareAge, then the values.
func (t *rowTable) compareRows(a, b *row) int {
	if c := a.compareAge(b); c != 0 {
		return c
	}
	return cmp.Or(slices.Compare(t.series[a.from:a.from+a.n], t.series[b.from:b.from+b.n]),
		slices.CompareFunc(t.values[a.from:a.from+a.n], t.values[b.from:b.from+b.n], func(x, y float64) int {
			return cmp.Compare(math.Float64bits(x), math.Float64bits(y))
		}))
}
