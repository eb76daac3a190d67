package merge

// written is what is remembered of a series that one source writes: nothing of it merges, but nothing goes on twice.
type written struct {
	time    int64 // the newest that went on and was not from the future
	future  int64 // the newest that was
	seen    int64 // arrival
	cleaned bool  // something was removed from a point of it, so several sets of labels stand behind it
}

// Cleaned says whether something was removed from an earlier point of a series with one writer.
func (e *Engine) Cleaned(name string, id Hash) bool {
	if e.cleaned.Load() == 0 {
		return false
	}
	sh := e.shard(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.written[id].cleaned
}

// Write notes a point of a series with one writer. Where something was removed from the series, it says whether the point must not go on: one of
// its time, or a newer one, did. Points of one batch come in the order of their times. A point without a time is not judged; those from the future
// are judged among themselves, so that a clock that was set back does not keep the others out.
func (e *Engine) Write(name string, id Hash, at int64, cleaned bool, now int64) (why Reason, late bool) {
	if at <= 0 {
		return 0, false
	}
	sh := e.shard(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	w, known := sh.written[id]
	if !known {
		if e.sources.Load() >= int64(e.cfg.Sources) {
			return 0, false
		}
		e.sources.Add(1)
		sh.check = min(sh.check, now+int64(e.cfg.SourceExpiry))
	}
	if cleaned && !w.cleaned {
		w.cleaned = true
		e.cleaned.Add(1)
	}
	w.seen = now
	newest := &w.time
	if at > now+int64(e.cfg.MaxFutureSkew) {
		newest = &w.future
	}
	switch {
	case !w.cleaned:
	case at == w.time || at == w.future:
		why, late = Duplicate, true
	case at < *newest:
		why, late = OutOfOrder, true
	}
	*newest = max(*newest, at)
	sh.written[id] = w
	return why, late
}

// expireWritten forgets the series with one writer that were last seen by a time. It gives when the next one was.
func (e *Engine) expireWritten(sh *shard, by int64) (next int64, some bool) {
	for id, w := range sh.written {
		switch {
		case w.seen <= by:
			delete(sh.written, id)
			if w.cleaned {
				e.cleaned.Add(-1)
			}
			e.sources.Add(-1)
			some = true
		case next == 0 || w.seen < next:
			next = w.seen
		}
	}
	return next, some
}
