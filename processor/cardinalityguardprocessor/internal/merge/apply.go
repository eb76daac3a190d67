package merge

import "math"

// step is what a cumulative point adds.
type step uint8

const (
	refuse     step = iota // it was dropped
	baseline               // nothing
	full                   // its value
	difference             // what came since the last one
)

func (b *Batch) drop(it *item, why Reason) {
	g := &b.groups[it.group]
	if !it.gone {
		it.gone = true
		g.gone++
	}
	b.Counts.drop(g.kind, why, g.Metric.Name())
}

// accept notes that a point became part of an output.
func (b *Batch) accept(it *item, out *output) {
	g := &b.groups[it.group]
	it.gone = true
	g.gone++
	b.Counts.Merged[g.kind]++
	b.Counts.Any = true
	if out.overflow {
		b.Counts.Overflow++
	}
	if it.future {
		b.Counts.FutureTime++
	}
	out.wait(b.now, it.at)
	if out.metric.id == g.Output { // else it is an overflow series that several metrics share, or an output of another policy
		b.describe(out.metric, g)
	}
	if it.exemplars {
		b.takeExemplars(it, out)
	}
}

// apply takes one point into the state.
func (b *Batch) apply(it *item) {
	s := it.rec
	switch {
	case it.gone && s != nil: // its value was refused
		s.seen = b.now
		return
	case it.gone, it.seen:
		return
	}
	if s == nil {
		if it.out != nil {
			b.applyDelta(it, nil, it.out)
		}
		return // or it passes
	}
	switch {
	case s.out == nil:
		b.watchPoint(it, s)
	case it.noValue:
		b.end(it, s)
	default:
		b.applyValue(it, s)
	}
	s.seen = b.now
}

func (b *Batch) applyValue(it *item, s *source) {
	switch k := b.groups[it.group].kind; k {
	case Gauge, UpDown:
		b.applyLevel(it, s, k)
	case Sum:
		b.applySum(it, s)
	case DeltaSum, DeltaHistogram, DeltaExponential:
		b.applyDelta(it, s, s.out)
	case Histogram:
		b.applyHistogram(it, s)
	case Exponential:
		b.applyExponential(it, s)
	case Summary:
		b.applySummary(it, s)
	}
}

// end notes that a source ended. Its baseline stays.
func (b *Batch) end(it *item, s *source) {
	b.drop(it, NoValue)
	if !s.live || s.order(it) < 0 {
		s.ended = max(s.ended, it.time)
		return
	}
	out := s.out
	s.ended = it.time
	b.setLive(s, false)
	out.changed, out.endTime = b.now, max(out.endTime, it.at)
	if out.metric.kind.overLive() && out.live > 0 {
		out.wait(b.now, it.at)
	}
	if out.live == 0 {
		out.close(b.now, it.at)
	}
}

// close notes that the last live source ended.
func (o *output) close(now, at int64) {
	if !o.waiting && !o.ends {
		o.waitsSince = now
	}
	o.ends = true
	o.endTime = max(o.endTime, at)
	if o.metric.kind.overLive() {
		o.waiting = false // a level of nothing
		o.newest = max(o.newest, at)
	}
}

func (b *Batch) setLive(s *source, live bool) {
	if s.live == live {
		return
	}
	s.live = live
	if live && s.gone {
		s.gone = false
		b.shard.ended--
	} else if !live {
		s.gone = true
		b.shard.ended++
		b.expireBy(b.now + int64(endedExpiry))
	}
	if s.out == nil {
		return
	}
	if live {
		s.out.live++
		s.out.waiting = s.out.waiting || s.out.ends // as long as the end did
		s.out.ends = false
	} else {
		s.out.live--
	}
}

func (b *Batch) expireBy(at int64) { b.shard.check = min(b.shard.check, at) }

// late drops a point that is not newer than the last one of its source.
func (b *Batch) late(it *item, s *source) bool {
	switch c := s.order(it); {
	case c > 0:
		return false
	case c == 0:
		b.drop(it, Duplicate)
	default:
		b.drop(it, OutOfOrder)
	}
	return true
}

// first decides what the first point of an unknown source counts.
func (b *Batch) first(it *item, s *source) step {
	e := b.engine
	out := s.out
	if s.native() && !out.sent && out.last == 0 && b.floor <= out.created {
		return full
	}
	floor := b.floor
	if s.native() { // it may have passed before without being remembered
		if e.cfg.TrackNative {
			floor = max(floor, e.unwatched.Load())
		} else {
			floor = max(floor, out.created)
		}
	}
	switch {
	case e.cfg.Initial == None:
	case it.start != 0 && it.born(b.now) >= floor && it.start < it.time:
		return full
	case it.start == 0 && b.now >= e.began+int64(warmUp) && (!s.native() || e.cfg.TrackNative):
		return full
	case e.cfg.Initial == Keep && !s.native():
		return full
	}
	return b.baselined(it)
}

// baselined makes a point count nothing, since it may have been counted before.
func (b *Batch) baselined(it *item) step {
	b.Counts.add(&b.Counts.Baselined[b.groups[it.group].kind])
	return baseline
}

// next decides what a further point of a source counts. It is not late.
func (b *Batch) next(it *item, s *source, fell, little bool) step {
	switch {
	case s.restarted(it, b.now):
		b.Counts.add(&b.Counts.Resets[TrueReset])
		return full
	case fell && s.unsure(it, b.now):
		b.drop(it, OutOfOrder)
		return refuse
	case fell && little && it.start == s.start:
		b.Counts.add(&b.Counts.Resets[Glitch])
		return baseline
	case fell:
		b.Counts.add(&b.Counts.Resets[ImplicitReset])
		return full
	}
	if it.start != s.start {
		b.Counts.add(&b.Counts.Resets[StartOverlap])
	}
	return difference
}

// advance makes a point the baseline of its source and offers a start to its output.
func (b *Batch) advance(it *item, s *source, did step) {
	switch did {
	case full:
		s.out.candidate(it.begin(b.now))
		s.born = s.out.epoch
	case baseline:
		s.out.candidate(it.at)
		s.born = 0
	case difference:
		s.out.candidate(s.time)
	}
	s.note(it, b.now)
	b.alive(it, s)
	b.accept(it, s.out)
}

// returned decides for a source that was forgotten or remapped: of a distribution it is not known what came since. Where its output sent nothing yet, only
// what came since a time that the output may start at can count.
func (b *Batch) returned(it *item, s *source, did step) step {
	unknown := s.dist == nil && s.metric.kind.distribution()
	early := !s.out.sent && !s.out.starts && s.time < b.floor
	if did == difference && (unknown || early) {
		return b.baselined(it)
	}
	return did
}

// applySum takes a point of a cumulative monotonic sum.
func (b *Batch) applySum(it *item, s *source) {
	if !it.value.finite() {
		b.drop(it, NotFinite)
		return
	}
	if it.value.float() < 0 {
		b.drop(it, Malformed)
		return
	}
	if b.late(it, s) {
		return
	}
	var did step
	last := s.number()
	if s.known {
		did = b.returned(it, s, b.next(it, s, it.value.less(last), it.value.fellLittle(last)))
	} else {
		did = b.first(it, s)
	}
	sum := s.out.total
	switch did {
	case refuse:
		return
	case full:
		sum.add(it.value)
	case difference:
		sum.addDifference(last, it.value)
	}
	if math.IsInf(sum.sum, 0) { // for good: the next ones would count nothing
		b.drop(it, NotFinite)
		return
	}
	s.out.total = sum
	s.out.total.double = s.out.total.double || it.value.double
	s.set(it.value)
	b.advance(it, s, did)
}
