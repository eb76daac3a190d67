package merge

// watchPoint remembers a point of a native series that passes as it is.
func (b *Batch) watchPoint(it *item, s *source) {
	s.seen = b.now
	if it.noValue {
		if s.known && s.order(it) >= 0 {
			s.ended = max(s.ended, it.time)
			b.setLive(s, false)
		}
		return
	}
	if s.order(it) <= 0 {
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
	s.note(it, b.now)
	b.alive(it, s)
}
