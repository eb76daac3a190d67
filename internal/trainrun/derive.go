package trainrun

import (
	"cmp"
	"slices"
	"sort"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// What an outcome rests on.
const (
	FromEnd     = "end"
	FromFailure = "failure"
	FromParts   = "parts"
)

// deriver computes a State from a compacted fold.
type deriver struct {
	f        *Fold
	whole    *deriver // with what newer texts took the place of: of it are the attempts
	among    []int    // its rows among those of the whole, nil for all
	st       *State
	seg      *segmenter
	numbers  []int64
	attempt  []int32             // of each row
	cuts     [][]cut             // by part and attempt
	ends     []int               // attempt of each end
	into     []uint32            // by stored series its strand
	strands  []series            // curves: key.axis is theirs
	batches  []int64             // by part the batches of an epoch, where steps of some curve begin anew in each; else 0
	counted  []bool              // by stored series: its steps are numbers of batches
	mixed    []bool              // by part: beside such curves others tell the steps of the run
	moved    map[seriesKey]bool  // series over epochs that are over steps
	anew     []string            // names of those that would be, if their steps did not begin anew in each epoch
	stepped  map[shelf][]int     // rows with a step, by their place; nil until asked for
	newestAt map[partPath]*saved // the last checkpoint saved to each path; nil until asked for
	progress
}

// State computes what the records prove. It costs a pass over the kept rows.
func (f *Fold) State() *State {
	st := f.derive()
	st.Conflict = f.conflict()
	st.Partial, st.Headless = f.partial(), f.headless()
	return st
}

func (f *Fold) derive() *State {
	d := f.placed()
	d.outcome()
	d.whole.attempts()
	d.series()
	d.parts()
	d.launches()
	d.files()
	d.rest()
	d.notes()
	d.truncated()
	return d.st
}

// placed derives which attempt each row is of, and what newer ones take over.
func (f *Fold) placed() *deriver {
	f.compact()
	g, rows := f.unreplaced()
	d := newDeriver(g, &State{RunID: f.runID})
	if d.whole, d.among = d, rows; g != f {
		d.whole = newDeriver(f, d.st)
	}
	return d
}

func newDeriver(f *Fold, st *State) *deriver {
	d := &deriver{f: f, st: st, seg: newSegmenter(f)}
	d.numbers = d.seg.numbers()
	d.place()
	d.findBatches()
	d.collect()
	d.join()
	return d
}

// number gives the attempt of something as it is shown.
func (d *deriver) number(at *stamp, part string) int64 {
	sp := at.spot(part)
	return d.whole.numbers[d.whole.seg.attempt(&sp)]
}

// place finds the attempt of each row and end.
func (d *deriver) place() {
	rows := d.f.rows.rows
	d.attempt = make([]int32, len(rows))
	for i := range rows {
		r := &rows[i]
		at := d.spot(r)
		if len(d.f.texts.items) > 0 && !d.f.texts.replaced(r.path, r.pos) {
			at.unreplaced = r
		}
		d.attempt[i] = int32(d.seg.attempt(&at))
	}
	d.ends = make([]int, len(d.f.ends.items))
	for i := range d.f.ends.items {
		e := d.f.ends.items[i]
		at := e.at.spot(e.part)
		d.ends[i] = d.seg.attempt(&at)
	}
	if len(d.seg.list) > 1 {
		d.endsBehind()
	}
}

// endsBehind gives each end without a number, which a launcher appends, to the newest attempt in the stream before it.
func (d *deriver) endsBehind() {
	ends := d.f.ends.items
	in := map[uint32][]int{} // by file, the ends by place
	for i := range ends {
		if at := &ends[i].at; at.attempt == 1 && at.kind == posOffset {
			in[at.file] = append(in[at.file], i)
		}
	}
	for _, list := range in {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(ends[a].at.pos, ends[b].at.pos) })
	}
	newest := make([]int, len(ends)) // told between the end and the one before it
	tell := func(file uint32, kind posKind, pos int64, attempt int) {
		list := in[file]
		if kind != posOffset || len(list) == 0 {
			return
		}
		next := sort.Search(len(list), func(j int) bool { return ends[list[j]].at.pos > pos })
		if next < len(list) {
			newest[list[next]] = max(newest[list[next]], attempt)
		}
	}
	for i := range d.f.rows.rows {
		r := &d.f.rows.rows[i]
		attempt := int(d.attempt[i])
		if len(d.f.texts.items) > 0 { // that of its place, also when it is in a newer text, too
			at := d.spot(r)
			attempt = d.seg.attempt(&at)
		}
		tell(r.file, r.kind, r.pos, attempt)
	}
	for i := range d.f.starts.items {
		s := d.f.starts.items[i]
		sp := s.at.spot(s.part)
		tell(s.at.file, s.at.kind, s.at.pos, d.seg.attempt(&sp))
	}
	for _, list := range in {
		before := 0
		for _, i := range list {
			before = max(before, newest[i])
			d.ends[i] = max(d.ends[i], before)
		}
	}
}

func (d *deriver) newest() int { return len(d.seg.list) - 1 }

// choose gives the ends of a part in an attempt in the order of their authority: the lowest rank, then the latest.
func (d *deriver) choose(part string, attempt int) []*end {
	index := 0
	return d.f.ends.merged(&byEnds, func(e *end) bool {
		index++
		return e.part == part && d.ends[index-1] == attempt && (attempt < d.newest() || !d.f.texts.replaced(e.at.path, e.at.pos))
	})
}

func reason(ends []*end) string {
	for _, e := range ends {
		if e.outcome == ends[0].outcome && e.reason != "" {
			return e.reason
		}
	}
	return ""
}

func (d *deriver) outcome() {
	st := d.st
	if ends := d.choose("", d.newest()); len(ends) > 0 {
		st.Outcome, st.OutcomeFrom, st.EndedAt = ends[0].outcome, FromEnd, ends[0].at.time
		st.StopReason = reason(ends)
		d.noteEnd(ends)
		return
	}
	marks := d.f.failMarks.merged(&byMarks, func(m *mark) bool {
		at := m.at.spot(m.part)
		return d.seg.attempt(&at) == d.newest() && !d.f.texts.replaced(m.at.path, m.at.pos)
	})
	if len(marks) > 0 {
		st.Outcome, st.OutcomeFrom, st.EndedAt = trainrecord.OutcomeFailed, FromFailure, marks[0].at.time
		return
	}
	d.outcomeOfParts()
}

// partEnds are the ends of a part in the newest attempt that touched it, nil while it goes on.
func (d *deriver) partEnds(id int) []*end {
	name := d.f.parts.items[id].name
	newest := -1
	for i := range d.f.ends.items {
		if d.f.ends.items[i].part == name {
			newest = max(newest, d.ends[i])
		}
	}
	if newest < 0 || newest < d.lastAttempt(id) {
		return nil
	}
	return d.choose(name, newest)
}

// outcomeOfParts takes the worst outcome of the parts when all have ended and the run itself never said anything.
func (d *deriver) outcomeOfParts() {
	rank := map[string]int{
		trainrecord.OutcomeSuccess: 1, trainrecord.OutcomeUnknown: 2, trainrecord.OutcomeAborted: 3, trainrecord.OutcomeFailed: 4,
	}
	var worst []*end
	latest := int64(0)
	for id, p := range d.f.parts.items {
		if d.lastAttempt(id) < 0 {
			continue
		}
		ends := d.partEnds(id)
		if p.name == "" || len(ends) == 0 {
			return
		}
		latest = max(latest, ends[0].at.time)
		if worst == nil || rank[ends[0].outcome] > rank[worst[0].outcome] {
			worst = ends
		}
	}
	if worst != nil {
		d.st.Outcome, d.st.OutcomeFrom, d.st.StopReason, d.st.EndedAt = worst[0].outcome, FromParts, reason(worst), latest
	}
}

// finals lists the measurements of run.end: for each part those of the end with the most authority that has any.
func (d *deriver) finals(part string, ends []*end) {
	for _, e := range ends {
		if len(e.values) == 0 {
			continue
		}
		for _, v := range e.values {
			d.st.Finals = append(d.st.Finals, Final{part, v.Name, v.V})
		}
		return
	}
}

func (d *deriver) rest() {
	f, st := d.f, d.st
	st.StartedAt = f.started
	if st.StartedAt == 0 {
		st.StartedAt = f.first
	}
	st.LastRecordAt = f.last
	if st.StartedAt > 0 && st.EndedAt >= st.StartedAt {
		st.Durations.Run = st.EndedAt - st.StartedAt
	}
	st.Durations.RunReported = f.runLength
	st.Framework, st.Where, st.TraceID, st.Masked = f.framework.value(), f.where.value(), f.trace.value(), f.masked
	d.phases()
	d.failures()
	d.records()
}

func (d *deriver) phases() {
	var totals [len(phaseNames)]int64
	train, _ := phaseIndex(trainrecord.PhaseTrain)
	validation, _ := phaseIndex(trainrecord.PhaseValidation)
	for _, p := range d.f.parts.items {
		for i, name := range phaseNames {
			if name == phaseRun || name == phaseEpoch && (p.totals[train].nanos() > 0 || p.totals[validation].nanos() > 0) {
				continue
			}
			totals[i] = saturated(totals[i], p.totals[i].nanos())
		}
	}
	for i, n := range totals {
		if n > 0 {
			d.st.Durations.Phases = append(d.st.Durations.Phases, PhaseTotal{phaseNames[i], n})
		}
	}
	slices.SortFunc(d.st.Durations.Phases, func(a, b PhaseTotal) int { return compareText(a.Phase, b.Phase) })
}

func (d *deriver) failures() {
	order := byFailures
	order.lead = func(a, b *failure) int { return cmp.Compare(d.number(&a.at, a.Part), d.number(&b.at, b.Part)) }
	for _, x := range d.f.failures.merged(&order, each) {
		fl := x.Failure
		fl.Attempt = d.number(&x.at, x.Part)
		d.st.Failures = append(d.st.Failures, fl)
	}
	d.st.FailuresTotal = d.f.failures.total
}
