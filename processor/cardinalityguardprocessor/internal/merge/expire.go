package merge

import (
	"math"
	"slices"
)

// expire forgets what was silent for too long, and ends gauges whose sources are stale.
func (e *Engine) expire(sh *shard, now int64) {
	if now < sh.check && sh.unused < 256 {
		return
	}
	next := int64(math.MaxInt64)
	for id, s := range sh.sources {
		due := s.seen + int64(e.cfg.SourceExpiry)
		if s.gone {
			due = s.seen + int64(endedExpiry)
		}
		if now >= due {
			e.bury(sh, id, s, now)
			e.lapse(sh)
			continue
		}
		next = min(next, due)
		if s.metric.kind == Gauge && s.live {
			stale := s.seen + int64(e.cfg.GaugeStaleness)
			if now >= stale {
				s.stop(now)
				e.lapse(sh)
			} else {
				next = min(next, stale)
			}
		}
	}
	if seen, _ := e.expireWritten(sh, now-int64(e.cfg.SourceExpiry)); seen > 0 {
		next = min(next, seen+int64(e.cfg.SourceExpiry))
	}
	for _, o := range sh.outputs {
		due := o.changed + int64(outputExpiry)
		if now >= due && o.members == 0 && o.inFlight == nil {
			e.forgetOutput(sh, o, now)
			e.lapse(sh)
			continue
		}
		if now < due {
			next = min(next, due)
		}
	}
	for id, m := range sh.metrics {
		if m.series == 0 && m.outputs == 0 {
			delete(sh.metrics, id)
			e.unname(sh, m)
		}
	}
	sh.check, sh.unused = next, 0
}

// lapse notes that something was forgotten, or ended without a word, which a state must know though no point tells of it.
func (e *Engine) lapse(sh *shard) {
	sh.dirty = true
	e.lapsed.Store(true)
}

// Lapsed says whether something was forgotten that no state has been told yet.
func (e *Engine) Lapsed() bool { return e.lapsed.Load() }

// stop ends a source without a word from it.
func (s *source) stop(now int64) {
	if !s.live {
		return
	}
	s.live = false
	o := s.out
	if o == nil {
		return
	}
	o.live--
	switch {
	case !o.metric.kind.overLive(): // a total stays what it is
	case o.live == 0:
		o.close(now, o.last)
	default:
		o.wait(now, o.last)
	}
}

// leave takes a source out of its output; one without an output counts as a series itself.
func (e *Engine) leave(s *source) {
	if s.out != nil {
		s.out.unlink(s)
		return
	}
	s.metric.series--
	e.series.Add(-1)
}

// bury forgets a source. What it needs to go on with a sum stays as a tombstone.
func (e *Engine) bury(sh *shard, id Hash, s *source, now int64) {
	s.stop(now)
	e.leave(s)
	e.inter(sh, id, s, now)
}

// inter is bury for a source that left already.
func (e *Engine) inter(sh *shard, id Hash, s *source, now int64) {
	if s.gone {
		sh.ended--
	}
	delete(sh.sources, id)
	s.id, s.after = Hash{}, nil // nothing finds it any more
	e.sources.Add(-1)
	switch s.metric.kind {
	case Sum, Histogram, Exponential, Summary:
	default:
		return
	}
	if !s.known {
		return
	}
	if sh.buried.bury(id, tombstone{start: s.start, time: s.time, value: s.value, double: s.double}) {
		e.tombstones.Add(1)
	}
	for e.tombstones.Load() > int64(e.cfg.Tombstones) && sh.buried.forget() {
		e.tombstones.Add(-1)
		e.lift(now)
	}
}

func (e *Engine) forgetOutput(sh *shard, o *output, now int64) {
	e.dropOutput(sh, o, now)
	e.lift(now)
}

func (e *Engine) dropOutput(sh *shard, o *output, now int64) {
	e.forgotten(o, now)
	delete(sh.outputs, o.id)
	m := o.metric
	m.series--
	m.outputs--
	e.series.Add(-1)
	e.outputs.Add(-1)
	if m.over == o {
		m.over = nil
	}
	if n := sh.names[m.name]; n != nil {
		n.outputs--
		n.over = slices.DeleteFunc(n.over, func(out *output) bool { return out == o })
	}
}

func (e *Engine) unname(sh *shard, m *metric) {
	n := sh.names[m.name]
	if n == nil {
		return
	}
	if n.metrics--; n.metrics <= 0 && n.outputs == 0 {
		delete(sh.names, m.name)
	}
}

// room says whether one more source can be remembered. It asks the own shard only; others are relieved before.
func (b *Batch) room() bool {
	e := b.engine
	if e.sources.Load() < int64(e.cfg.Sources) {
		return true
	}
	e.evict(b.shard, b.now, b.serial)
	return e.sources.Load() < int64(e.cfg.Sources)
}

// relieve makes room in all shards when there is none. No shard is locked.
func (e *Engine) relieve(now int64) {
	if e.sources.Load() < int64(e.cfg.Sources) || now < e.relieved.Load()+int64(warmUp)/60 {
		return
	}
	e.relieved.Store(now)
	for _, sh := range e.shards {
		sh.mu.Lock()
		e.evict(sh, now, 0)
		sh.mu.Unlock()
	}
}

// evict forgets the ended sources of a shard; if there is none, native ones, which then pass unwatched; if there is none, silent ones.
// Those of the running batch stay. A search that found nothing is not made again for each point of it.
func (e *Engine) evict(sh *shard, now int64, serial uint32) {
	if now < sh.retry && (sh.ended == 0 || serial == sh.vain) {
		return
	}
	idle := now - int64(idleAfter)
	for _, goes := range []func(*source) bool{
		func(s *source) bool { return s.gone },
		func(s *source) bool { return s.out == nil },
		func(s *source) bool { return s.seen <= idle },
	} {
		evicted := false
		for id, s := range sh.sources {
			if s.batch != serial && goes(s) {
				e.bury(sh, id, s, now)
				e.lapse(sh)
				evicted = true
			}
		}
		if evicted {
			return
		}
	}
	if _, evicted := e.expireWritten(sh, idle); !evicted {
		sh.retry, sh.vain = now+int64(warmUp)/60, serial
	}
}
