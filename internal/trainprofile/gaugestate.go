package trainprofile

import (
	"container/list"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Bounds of what is kept of one run and of one kind of row; names and processes come from data.
const (
	maxRowGauges    = 1024
	maxRunProcesses = 64
	maxGaugeText    = 1024
)

// gaugeRun is what is known of a run: when it had a record last, and which attempt each of its processes is.
type gaugeRun struct {
	id         string
	rows       int
	lastRecord time.Time
	seq        int64
	attempt    int64 // the newest
	processes  []gaugeProcess
}

type gaugeProcess struct {
	name    string
	attempt int64
}

// attemptOf gives the attempt that a process belongs to; one that is new belongs to the newest.
func (r *gaugeRun) attemptOf(process string) int64 {
	for i := range r.processes {
		if r.processes[i].name == process {
			return r.processes[i].attempt
		}
	}
	return r.attempt
}

// assign notes the attempt of a process.
func (r *gaugeRun) assign(process string, attempt int64) {
	kept := slices.DeleteFunc(slices.Clone(r.processes), func(p gaugeProcess) bool { return p.name == process })
	if len(kept) >= maxRunProcesses {
		kept = kept[1:]
	}
	r.processes = append(kept, gaugeProcess{name: process, attempt: attempt})
}

// gaugeRow is the state of one kind of row: what its gauges showed last.
type gaugeRow struct {
	key     string
	run     *gaugeRun
	attempt int64
	profile *Profile
	part    string
	rank    int64 // -1 = none
	process string

	known   bool // some row was seen
	hasStep bool
	step    int64
	stepAt  pcommon.Timestamp
	first   pcommon.Timestamp // of the last row
	last    pcommon.Timestamp
	moved   bool // the last row's step had moved, so what comes late of it belongs to that step
	values  []gaugeValue

	held    *heldRow
	waiting *rowPoints
	since   time.Time // when the waiting row came

	seen time.Time // arrival of the last row
	elem *list.Element
}

// gaugeValue is what a gauge showed last.
type gaugeValue struct {
	name  string
	as    string // name in the record
	group bool   // a learning rate
	phase string
	bits  uint64
	isInt bool
	at    pcommon.Timestamp
	held  bool // not sent so far
}

// heldRow is a row whose values changed while its step stood still.
type heldRow struct {
	at       pcommon.Timestamp
	uid      string
	resource pcommon.Map
}

// rowPoints is a row as it came: points of one export.
type rowPoints struct {
	run, key, process string
	profile           *Profile
	part              string
	rank              int64
	resource          pcommon.Map
	points            []gaugePoint
	first, last       pcommon.Timestamp
}

type gaugePoint struct {
	gaugeValue

	isStep bool
}

// stepOf gives the row's step.
func (r *rowPoints) stepOf() (step int64, at pcommon.Timestamp, ok bool) {
	for i := range r.points {
		if p := &r.points[i]; p.isStep {
			return int64(p.bits), p.at, true
		}
	}
	return 0, 0, false
}

func (r *rowPoints) names(other *rowPoints) bool {
	return slices.ContainsFunc(r.points, func(p gaugePoint) bool {
		return slices.ContainsFunc(other.points, func(o gaugePoint) bool { return o.name == p.name })
	})
}

// measure sets the times of the row from its points.
func (r *rowPoints) measure() {
	r.first, r.last = r.points[0].at, r.points[0].at
	for i := range r.points {
		r.first, r.last = min(r.first, r.points[i].at), max(r.last, r.points[i].at)
	}
}

func (e *gaugeRow) find(name string) *gaugeValue {
	i, ok := slices.BinarySearchFunc(e.values, name, func(v gaugeValue, name string) int { return strings.Compare(v.name, name) })
	if !ok {
		return nil
	}
	return &e.values[i]
}

// note keeps what a gauge shows now; it answers false when the row has too many gauges.
func (e *gaugeRow) note(p *gaugePoint, held bool) bool {
	i, ok := slices.BinarySearchFunc(e.values, p.name, func(v gaugeValue, name string) int { return strings.Compare(v.name, name) })
	if !ok {
		if len(e.values) >= maxRowGauges {
			return false
		}
		e.values = slices.Insert(e.values, i, gaugeValue{})
	}
	e.values[i] = p.gaugeValue
	e.values[i].held = held
	return true
}

// heldValues lists the values that were not sent so far.
func (e *gaugeRow) heldValues() (held []gaugeValue) {
	for i := range e.values {
		if e.values[i].held {
			held = append(held, e.values[i])
		}
	}
	return held
}

func (e *gaugeRow) release() {
	e.held = nil
	for i := range e.values {
		e.values[i].held = false
	}
}

// seenBefore tells whether a point is not newer than what its gauge showed.
func (e *gaugeRow) seenBefore(p *gaugePoint) bool {
	if p.isStep {
		return e.hasStep && p.at <= e.stepAt
	}
	v := e.find(p.name)
	return v != nil && p.at <= v.at
}
