package trainprofile

import (
	"cmp"
	"container/list"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

const (
	restWait = 2 * time.Second  // how long a row without its step waits for the rest
	heldWait = 60 * time.Second // how long a value whose step stood still waits for a row
	rowsIdle = time.Hour        // how long a kind of row without points is remembered
)

// GaugeOptions are the settings of GaugeRecords.
type GaugeOptions struct {
	RunIDFrom    []string      // attributes of points or resource that name the run, the first wins
	RowTolerance time.Duration // how far apart the points of one export may be
	Heartbeat    time.Duration // how long a run that still exports may be without a record
	MaxRows      int           // kinds of rows that are remembered

	Mask func(resource pcommon.Map) int64 // masks the secrets of a resource that is kept and perhaps stored, and counts them; nil for none
}

// GaugeRecords makes training records of the gauges in which trainers export their learning curves. One goroutine at a time
// may use it.
type GaugeRecords struct {
	set     *Set
	options GaugeOptions
	mapper  *Mapper

	rows    map[string]*gaugeRow // by key and attempt
	runs    map[string]*gaugeRun
	recent  *list.List // of rows, the last seen in front
	pending map[*gaugeRow]struct{}
	dirty   map[int]struct{} // parts of the state that changed
}

// Results of a point, as GaugeBatch counts them.
const (
	PointUsed       = "used"
	PointDuplicate  = "duplicate"
	PointOutOfOrder = "out_of_order"
	PointNoRun      = "no_run_identity"
	PointNoValue    = "no_value"
	PointBadStep    = "bad_step"
	PointLimit      = "over_limit"
)

// Results of a value, as GaugeBatch counts them.
const (
	ValueSent       = "sent"
	ValueUnchanged  = "unchanged"
	ValueSuperseded = "superseded"
)

// PointResults and ValueResults list them.
var (
	PointResults = []string{PointUsed, PointDuplicate, PointOutOfOrder, PointNoRun, PointNoValue, PointBadStep, PointLimit}
	ValueResults = []string{ValueSent, ValueUnchanged, ValueSuperseded}
)

// GaugeBatch is what a call gave. Undo takes it back, for when nobody took the records.
type GaugeBatch struct {
	Logs      plog.Logs
	Points    map[string]int
	Values    map[string]int
	Forgotten int   // kinds of rows that had to go because there were too many
	Masked    int64 // secrets in resources of rows that are held

	records *GaugeRecords
	now     time.Time
	oldRows map[*gaugeRow]gaugeRow
	oldRuns map[*gaugeRun]gaugeRun
	newRows []*gaugeRow
	places  map[pcommon.Map]plog.LogRecordSlice
	spoke   map[*gaugeRun]bool       // had a record
	alive   map[*gaugeRun]*rowPoints // the last new row
}

// NewGaugeRecords makes the engine for a set of profiles.
func NewGaugeRecords(set *Set, options GaugeOptions) *GaugeRecords {
	return &GaugeRecords{
		set: set, options: options, mapper: NewMapper(nil),
		rows: map[string]*gaugeRow{}, runs: map[string]*gaugeRun{}, recent: list.New(), pending: map[*gaugeRow]struct{}{}, dirty: map[int]struct{}{},
	}
}

// Len is the number of kinds of rows that are remembered.
func (g *GaugeRecords) Len() int { return len(g.rows) }

func (g *GaugeRecords) batch(now time.Time) *GaugeBatch {
	return &GaugeBatch{
		Logs: plog.NewLogs(), Points: map[string]int{}, Values: map[string]int{}, records: g, now: now,
		oldRows: map[*gaugeRow]gaugeRow{}, oldRuns: map[*gaugeRun]gaugeRun{}, places: map[pcommon.Map]plog.LogRecordSlice{},
		spoke: map[*gaugeRun]bool{}, alive: map[*gaugeRun]*rowPoints{},
	}
}

// Consume makes records of what a call carries. The metrics are not changed and may not be until the batch is done with.
func (g *GaugeRecords) Consume(now time.Time, md pmetric.Metrics) *GaugeBatch {
	b := g.batch(now)
	rows := b.rows(md)
	for _, r := range rows {
		b.restarted(r)
	}
	for _, r := range rows {
		b.arrive(r)
	}
	b.heartbeats()
	b.bound()
	return b
}

// Tick makes records of what has waited long enough, and forgets what is idle.
func (g *GaugeRecords) Tick(now time.Time) *GaugeBatch { return g.due(now, false) }

// Flush makes records of everything that waits, at the end.
func (g *GaugeRecords) Flush(now time.Time) *GaugeBatch { return g.due(now, true) }

func (g *GaugeRecords) due(now time.Time, all bool) *GaugeBatch {
	b := g.batch(now)
	due := make([]*gaugeRow, 0, len(g.pending))
	for e := range g.pending {
		due = append(due, e)
	}
	slices.SortFunc(due, func(a, b *gaugeRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.attempt, b.attempt)) })
	for _, e := range due {
		if e.waiting != nil && (all || now.Sub(e.since) >= restWait) {
			b.touch(e)
			b.settle(e)
		}
		if e.held != nil && e.waiting == nil && (all || now.Sub(e.seen) >= heldWait) {
			b.touch(e)
			b.sendHeld(e)
		}
		g.repend(e)
	}
	for back := g.recent.Back(); back != nil; back = g.recent.Back() {
		e := back.Value.(*gaugeRow)
		if now.Sub(e.seen) < rowsIdle {
			break
		}
		g.forget(e)
	}
	return b
}

// Undo takes the batch back: the same points give the same records again.
func (b *GaugeBatch) Undo() {
	g := b.records
	for e, old := range b.oldRows {
		elem := e.elem
		*e = old
		e.elem = elem
		g.repend(e)
	}
	for r, old := range b.oldRuns {
		rows := r.rows
		*r = old
		r.rows = rows
	}
	for _, e := range b.newRows {
		if e.elem != nil {
			g.forget(e)
		}
	}
}

// touch keeps the state of a row and its run as it was before the batch.
func (b *GaugeBatch) touch(e *gaugeRow) {
	if _, done := b.oldRows[e]; !done {
		old := *e
		old.values = slices.Clone(e.values)
		b.oldRows[e] = old
	}
	b.touchRun(e.run)
}

func (b *GaugeBatch) touchRun(r *gaugeRun) {
	b.records.dirty[gaugeShard(r.id)] = struct{}{}
	if _, done := b.oldRuns[r]; !done {
		b.oldRuns[r] = *r
	}
}

// repend keeps the list of rows that a tick looks at.
func (g *GaugeRecords) repend(e *gaugeRow) {
	if e.elem != nil && (e.held != nil || e.waiting != nil) {
		g.pending[e] = struct{}{}
		return
	}
	delete(g.pending, e)
}

func (g *GaugeRecords) forget(e *gaugeRow) {
	g.dirty[gaugeShard(e.run.id)] = struct{}{}
	g.recent.Remove(e.elem)
	e.elem = nil
	delete(g.rows, attemptKey(e.key, e.attempt))
	delete(g.pending, e)
	if e.run.rows--; e.run.rows == 0 {
		delete(g.runs, e.run.id)
	}
}

// bound forgets the kinds of rows that were seen longest ago.
func (b *GaugeBatch) bound() {
	g := b.records
	for len(g.rows) > g.options.MaxRows {
		g.forget(g.recent.Back().Value.(*gaugeRow))
		b.Forgotten++
	}
}

func near(a, b pcommon.Timestamp, tolerance time.Duration) bool {
	return max(a, b)-min(a, b) <= pcommon.Timestamp(tolerance)
}
