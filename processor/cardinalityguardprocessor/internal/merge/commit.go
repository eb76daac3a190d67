package merge

// Commit says that what was flushed for a tenant was taken.
func (e *Engine) Commit(tenant string) {
	e.land(tenant, func(_ *shard, o *output) { o.inFlight = nil })
}

// Rollback says that what was flushed for a tenant was not taken: it goes out with the next flush. Windows of deltas are extended.
func (e *Engine) Rollback(tenant string, now int64) {
	e.land(tenant, func(sh *shard, o *output) {
		o.restore(now)
		sh.dirty = true
	})
}

// land ends the flight of a tenant's outputs.
func (e *Engine) land(tenant string, end func(*shard, *output)) {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	list := e.inFlight[tenant]
	delete(e.inFlight, tenant)
	for _, o := range list {
		sh := e.shard(o.metric.name)
		sh.mu.Lock()
		end(sh, o)
		sh.mu.Unlock()
	}
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
	switch o.metric.kind {
	case DeltaSum:
		o.total.join(was.total)
	case Sum, Summary:
		o.sentTotal, o.sentCount = was.total, was.count
	case Exponential:
		o.sentExp = was.exp
	case DeltaExponential:
		if o.exp != nil {
			was.exp.join(o.exp)
		}
		o.exp = was.exp
	}
	if was.all != nil { // a sequence that begins with the next flush must have what was not taken
		o.hist.all, o.start, o.sequence = *was.all, was.start, was.sequence
	}
	if was.hist != nil {
		o.hist.wait.join(was.hist)
	}
}
