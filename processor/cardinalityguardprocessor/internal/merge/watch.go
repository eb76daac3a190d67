package merge

// watchPoint remembers a point of a native series that passes as it is.
func (b *Batch) watchPoint(it *item, s *source) {
	s.seen = b.now
	if it.sent > 0 {
		it.time = it.sent // it goes on with that
	}
	if it.noValue {
		if s.known && it.time >= s.time {
			s.ended = it.time
			b.setLive(s, false)
		}
		return
	}
	if s.known && it.time <= s.time {
		return
	}
	g := &b.groups[it.group]
	switch g.kind {
	case Sum, UpDown:
		if !it.value.finite() {
			return
		}
		s.set(it.value)
	case Histogram:
		p := g.Metric.Histogram().DataPoints().At(int(it.index))
		if last, _ := s.dist.(*histLast); last != nil && b.hists.refresh(last, p) {
			break
		}
		var now histLast
		if !b.hists.read(p, &now) {
			return
		}
		s.keepHistogram(&now)
	case Exponential:
		p := g.Metric.ExponentialHistogram().DataPoints().At(int(it.index))
		last, _ := s.dist.(*expLast)
		if last != nil && b.exps.refresh(last, p) {
			break
		}
		var now expLast
		if !b.exps.read(p, &now) {
			return
		}
		b.exps.spare = last
		s.dist = b.exps.keep(&now)
	case Summary:
		p := g.Metric.Summary().DataPoints().At(int(it.index))
		if !finite(p.Sum()) {
			return
		}
		s.keepSummary(p)
	}
	s.start, s.time, s.known = it.start, it.time, true
	b.alive(it, s)
}
