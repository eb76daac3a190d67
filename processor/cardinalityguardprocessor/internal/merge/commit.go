package merge

// Commit says that what was flushed was taken.
func (e *Engine) Commit() {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	for _, o := range e.inFlight {
		sh := e.shard(o.metric.name)
		sh.mu.Lock()
		o.inFlight = nil
		sh.mu.Unlock()
	}
	clear(e.inFlight)
	e.inFlight = e.inFlight[:0]
}

// Rollback says that what was flushed was not taken: it goes out with the next flush. Windows of deltas are extended.
func (e *Engine) Rollback(now int64) {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	for _, o := range e.inFlight {
		sh := e.shard(o.metric.name)
		sh.mu.Lock()
		o.restore(now)
		sh.dirty = true
		sh.mu.Unlock()
	}
	clear(e.inFlight)
	e.inFlight = e.inFlight[:0]
}

func (o *output) restore(now int64) {
	was, at := o.inFlight, o.last
	o.inFlight = nil
	o.last, o.sent = was.last, was.sent
	if !was.value {
		if o.live == 0 {
			o.ends, o.endTime = true, max(o.endTime, at)
		}
		return
	}
	if !o.waiting && !o.ends {
		o.waitsSince = now
	}
	o.waiting = true
	o.newest = max(o.newest, at)
	if was.windowed && (!o.windowed || was.from < o.windowFrom) {
		o.windowFrom = was.from
	}
	o.windowed = o.windowed || was.windowed
	o.exemplars = append(o.exemplars, was.exemplars...)
	if o.metric.kind == DeltaSum {
		o.total.join(was.total)
	}
	if was.hist != nil {
		o.hist.wait.join(was.hist)
	}
	if was.exp != nil {
		if o.exp != nil {
			was.exp.join(o.exp)
		}
		o.exp = was.exp
	}
}
