package trainrun

import "unsafe"

// limits bound what a fold keeps. They are fields so that tests can reach them with few records.
type limits struct {
	points      int // values of a rank that are kept whole; beyond, one of 2^k steps
	series      int // names in byte order
	parts       int
	hosts       int
	ranks       int // the lowest ranks
	attempts    int // the newest attempts
	extremes    int // attempts, the newest, whose extremes survive thinning
	starts      int
	launches    int
	ends        int
	endValues   int
	failures    int
	checkpoints int
	artifacts   int
	params      int // told one by one
	slack       int // a table of names may grow to slack times its limit before it is cut
}

// MaxFailures is the number of failures that a State lists.
const MaxFailures = 20

func defaultLimits() limits {
	return limits{
		points: 200_000, series: 1000, parts: 256, hosts: 64, ranks: 1024, attempts: 1024, extremes: 16,
		starts: 1024, launches: 8, ends: 512, endValues: 1000, failures: MaxFailures, checkpoints: 1024, artifacts: 256, params: 2048, slack: 8,
	}
}

// Fold is the state of one run.
type Fold struct {
	runID string
	lim   limits
	seen  seen

	counts                          [eventCount]int64
	rejected, noTime, masked, cut   int64
	first, last, started, runLength int64 // event times, 0 = none; the longest reported run_s

	attempts attemptTable
	ranks    rankTable
	parts    partTable
	hosts    hostTable
	series   seriesTable
	rows     rowTable
	texts    textTable
	full     bool  // some table wants to be compacted
	stepRoom int64 // values of a rank that are kept on other axes than epochs; below the limit since Thin
	rowless  bool  // a cell: rows and identities are the whole fold's
	cells    cellTable

	framework frameworks
	where     origin[Where]
	trace     origin[[16]byte]

	starts          latest[start]
	launches        latest[launch]
	ends            latest[end]
	failures        latest[failure]
	failMarks       latest[mark]
	bestCheckpoints latest[saved]
	checkpoints     latest[saved]
	artifacts       artifactTable
	told            paramTable
	events          eventSet // off the list
}

// New gives the empty fold of a run.
func New(runID string) *Fold { return newFold(runID, defaultLimits()) }

func newFold(runID string, lim limits) *Fold {
	f := &Fold{runID: runID, lim: lim, stepRoom: int64(lim.points)}
	f.hosts.reset()
	return f
}

// RunID names the run.
func (f *Fold) RunID() string { return f.runID }

// Count is the number of records so far.
func (f *Fold) Count() int64 {
	var n int64
	for _, c := range f.counts {
		n += c
	}
	return n
}

// Apply adds a record. It answers false when nothing changed: a duplicate, or no event that is counted.
func (f *Fold) Apply(e Entry) bool { return f.Add(&e) }

// Add is Apply for whoever spares a copy: the entry is brought into its ranges, and nothing of it is held but texts.
func (f *Fold) Add(e *Entry) bool {
	if e.Event == EventNone || e.Event >= eventCount {
		return false
	}
	e.normalize()
	known := !f.seen.add(e)
	if !f.texts.admits(e, known) {
		return false
	}
	f.tell(e, known)
	f.take(e, known)
	return true
}

// take folds a record. One that an older text told as well is counted already.
func (f *Fold) take(e *Entry, known bool) {
	if !known {
		f.account(e)
	}
	at := stampOf(e)
	f.texts.hosts.see(e)
	if e.Text > 0 && at.path != 0 {
		f.texts.take(e, !f.rowless)
	}
	f.registers(e, &at)
	switch e.Event {
	case EventEpochEnd, EventStepEnd, EventPhaseStart, EventPhaseEnd:
		f.addRow(e, &at)
	case EventRunEnd:
		if e.Epoch.Set || e.Step.Set || e.Progress >= 0 {
			values := e.Values
			e.Values = nil // they are final values, no points
			f.addRow(e, &at)
			e.Values = values
		}
	default: // nothing that moves a curve
	}
	f.rare(e, &at)
	if e.Text > 0 || e.Event == EventRunStart || e.Event == EventRunEnd || e.Event == EventRunFailure {
		f.rows.dirty = true // what thinning keeps is by trainings
	}
	if f.full {
		f.compact()
	}
}

// account counts a record and its time.
func (f *Fold) account(e *Entry) {
	f.counts[e.Event]++
	f.masked += e.Masked
	f.cut += e.Cut
	if e.Rejected {
		f.rejected++
	}
	if e.Seq > 0 {
		if r := f.seen.sequence(seqKey{attempt: e.Attempt, rank: e.Rank}); r != nil {
			r.add(e.Seq)
		}
	}
	a, added := f.attempts.get(e.Attempt, f.lim.attempts)
	f.rows.dirty = f.rows.dirty || added // what thinning keeps is by attempt
	if e.Time == 0 {
		if !e.Rejected {
			f.noTime++
		}
		return
	}
	f.first, f.last = earlier(f.first, e.Time), max(f.last, e.Time)
	if e.Event == EventRunStart {
		f.started = earlier(f.started, e.Time)
	}
	if a != nil {
		a.first, a.last = earlier(a.first, e.Time), max(a.last, e.Time)
	}
}

// earlier is the least of two times of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (f *Fold) registers(e *Entry, at *stamp) {
	if e.Framework != "" {
		f.framework.offer(at, e.Framework)
	}
	if e.Where != (Where{}) {
		f.where.offer(at, e.Where)
	}
	if e.TraceID != ([16]byte{}) {
		f.trace.offer(at, e.TraceID)
	}
}

// SizeBytes estimates the memory that the fold holds.
func (f *Fold) SizeBytes() int64 {
	const item = 400 // of the small lists, with their texts
	n := int64(unsafe.Sizeof(*f)) + f.seen.size() + f.rows.size() + f.series.size() + f.parts.size() + f.ranks.size() +
		f.cells.size() + f.told.bytes
	n += f.texts.size() + int64(len(f.attempts))*int64(unsafe.Sizeof(attemptTimes{}))
	n += int64(len(f.starts.items)+len(f.failMarks.items)+len(f.hosts.names)) * item
	n += int64(len(f.bestCheckpoints.items)+len(f.checkpoints.items)+len(f.artifacts.items)) * item
	for i := range f.failures.items {
		n += item + int64(len(f.failures.items[i].Message)+len(f.failures.items[i].Stack))
	}
	for i := range f.ends.items {
		n += item + int64(len(f.ends.items[i].values))*48
	}
	for i := range f.launches.items {
		n += item + treeSize(f.launches.items[i].detail.Params)
	}
	return n
}

func treeSize(t Tree) int64 {
	n := int64(16)
	switch v := t.(type) {
	case string:
		n += int64(len(v))
	case []any:
		for _, e := range v {
			n += treeSize(e)
		}
	case map[string]any:
		for k, e := range v {
			n += 48 + int64(len(k)) + treeSize(e)
		}
	default: // in the interface
	}
	return n
}
