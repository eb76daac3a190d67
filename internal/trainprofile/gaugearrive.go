package trainprofile

import (
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

func attemptKey(key string, attempt int64) string { return key + strconv.FormatInt(attempt, 10) }

// restarted begins a new attempt when a row's step fell and another process sent it.
func (b *GaugeBatch) restarted(r *rowPoints) {
	run := b.records.runs[r.run]
	if run == nil {
		return
	}
	e := b.records.rows[attemptKey(r.key, run.attemptOf(r.process))]
	step, at, ok := r.stepOf()
	if e == nil || !ok || !e.hasStep || e.process == r.process || step >= e.step || at <= e.stepAt {
		return
	}
	b.touchRun(run)
	run.attempt++
	run.assign(r.process, run.attempt)
}

// row finds the state of a kind of row, or makes it.
func (b *GaugeBatch) row(r *rowPoints) *gaugeRow {
	g := b.records
	run := g.runs[r.run]
	if run == nil {
		run = &gaugeRun{id: r.run, attempt: 1}
		g.runs[r.run] = run
	}
	b.touchRun(run)
	attempt := run.attemptOf(r.process)
	run.assign(r.process, attempt)
	e := g.rows[attemptKey(r.key, attempt)]
	if e == nil {
		e = &gaugeRow{key: r.key, run: run, attempt: attempt, profile: r.profile, part: r.part, rank: r.rank}
		e.elem = g.recent.PushFront(e)
		g.rows[attemptKey(r.key, attempt)] = e
		run.rows++
		b.newRows = append(b.newRows, e)
	}
	b.touch(e)
	g.recent.MoveToFront(e.elem)
	e.seen = b.now
	return e
}

// arrive takes a row that came.
func (b *GaugeBatch) arrive(r *rowPoints) {
	e := b.row(r)
	defer b.records.repend(e)
	came := len(r.points)
	r.points = slices.DeleteFunc(r.points, func(p gaugePoint) bool {
		return e.seenBefore(&p) || e.waiting != nil && e.waiting.hasNewer(&p)
	})
	b.Points[PointDuplicate] += came - len(r.points)
	if len(r.points) == 0 {
		return
	}
	r.measure()
	if w := e.waiting; w != nil {
		if near(w.first, r.first, b.records.options.RowTolerance) && !w.names(r) {
			r.points = append(w.points, r.points...)
			r.measure()
			e.waiting = nil
		} else {
			b.settle(e)
		}
	}
	_, _, hasStep := r.stepOf()
	late := e.known && !hasStep && near(e.first, r.first, b.records.options.RowTolerance)
	switch {
	case late && b.isRest(e, r):
		b.rest(e, r)
	case e.known && r.last <= e.last:
		b.Points[PointOutOfOrder] += len(r.points)
		return
	case e.hasStep && !hasStep:
		if e.waiting == nil {
			e.since = b.now
		}
		r.resource = copyOf(r.resource)
		e.waiting = r
	default:
		b.take(e, r)
	}
	if last := b.alive[e.run]; last == nil || last.last <= r.last {
		b.alive[e.run] = r
	}
}

// hasNewer tells whether a waiting row has the gauge already, as new or newer.
func (r *rowPoints) hasNewer(p *gaugePoint) bool {
	return slices.ContainsFunc(r.points, func(o gaugePoint) bool { return o.name == p.name && p.at <= o.at })
}

// isRest tells whether the points are none of those that the last row had: a batch was split, and they came later.
func (b *GaugeBatch) isRest(e *gaugeRow, r *rowPoints) bool {
	return !slices.ContainsFunc(r.points, func(p gaugePoint) bool {
		v := e.find(p.name)
		return v != nil && v.at >= e.first
	})
}

// rest takes what came late of the row before.
func (b *GaugeBatch) rest(e *gaugeRow, r *rowPoints) {
	first, last := min(e.first, r.first), max(e.last, r.last)
	if e.moved || !e.hasStep {
		b.send(e, r, b.changes(e, r))
	} else {
		b.hold(e, r)
	}
	e.first, e.last = first, last
}

// settle takes a row that waited for its step in vain: the step stands still as far as it tells.
func (b *GaugeBatch) settle(e *gaugeRow) {
	r := e.waiting
	e.waiting = nil
	b.take(e, r)
}

// take compares a row with the one before.
func (b *GaugeBatch) take(e *gaugeRow, r *rowPoints) {
	step, at, hasStep := r.stepOf()
	e.moved = !e.known || hasStep && (!e.hasStep || step != e.step)
	switch {
	case e.moved:
		e.held = nil // its step is not known; a value that is still the same is that of the new step
		if hasStep {
			e.hasStep, e.step = true, step
		}
		b.send(e, r, b.changes(e, r))
	case !e.hasStep:
		b.send(e, r, b.changes(e, r))
	default:
		b.sendHeld(e)
		b.hold(e, r)
	}
	if hasStep {
		e.stepAt = at
		b.Points[PointUsed]++
	}
	e.known, e.process, e.first, e.last = true, r.process, r.first, r.last
}

// changes lists the values that are others than before, or that were not sent so far, and notes them all.
func (b *GaugeBatch) changes(e *gaugeRow, r *rowPoints) []gaugeValue {
	return b.compare(e, r, false)
}

func (b *GaugeBatch) compare(e *gaugeRow, r *rowPoints, hold bool) (changed []gaugeValue) {
	for i := range r.points {
		p := &r.points[i]
		if p.isStep {
			continue
		}
		v := e.find(p.name)
		same := v != nil && v.bits == p.bits && v.isInt == p.isInt
		waits := v != nil && v.held
		if waits && !same && !hold {
			b.Values[ValueSuperseded]++
		}
		if !e.note(p, hold && (!same || waits)) {
			b.Points[PointLimit]++
			continue
		}
		b.Points[PointUsed]++
		if same && (hold || !waits) {
			b.Values[ValueUnchanged]++
			continue
		}
		changed = append(changed, p.gaugeValue)
	}
	return changed
}

// hold keeps the values that changed while the step stood still.
func (b *GaugeBatch) hold(e *gaugeRow, r *rowPoints) {
	if changed := b.compare(e, r, true); len(changed) > 0 && e.held == nil {
		e.held = &heldRow{at: r.last, uid: r.uid(), resource: copyOf(r.resource)}
		if mask := b.records.options.Mask; mask != nil {
			b.Masked += mask(e.held.resource)
		}
	}
}

func copyOf(m pcommon.Map) pcommon.Map {
	c := pcommon.NewMap()
	m.CopyTo(c)
	return c
}
