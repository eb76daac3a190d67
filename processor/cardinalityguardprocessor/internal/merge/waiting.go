package merge

// giveTo adds what an output has not sent on to another one of its kind, which has its sources already.
func (o *output) giveTo(to *output, now int64) {
	kind := o.metric.kind
	to.total.double = to.total.double || (o.total.double && !kind.delta())
	if kind.overLive() {
		if to.live == 0 {
			return
		}
		if o.starts {
			to.candidate(o.start)
		}
		to.wait(now, max(o.newest, o.last)) // its sources are the other's now
		to.exemplars = append(to.exemplars, o.exemplars...)
		return
	}
	if !o.waiting {
		return
	}
	o.giveTotalTo(to)
	switch {
	case kind.delta():
		if o.windowed && (!to.windowed || o.windowFrom < to.windowFrom) {
			to.windowFrom, to.windowed = o.windowFrom, true
		}
	case o.sent:
		to.candidate(o.last)
	case o.starts:
		to.candidate(o.start)
	}
	to.wait(now, o.newest)
	to.exemplars = append(to.exemplars, o.exemplars...)
}

// giveTotalTo adds what is not sent of the total to the other's.
func (o *output) giveTotalTo(to *output) {
	switch o.metric.kind {
	case Sum, DeltaSum:
		rest := o.total
		rest.subtract(o.sentTotal)
		to.total.join(rest)
	case Histogram, DeltaHistogram:
		if to.hist == nil {
			to.hist = &histTotal{}
		}
		rest := o.hist.wait.clone()
		if wanted := to.metric.rules.bounds; wanted != nil {
			rest.narrow(intersect(nil, wanted, rest.bounds))
		}
		some := rest.count > 0 && o.sent // not from the births of the sources
		rest.late, rest.older = rest.late || some, rest.older || some
		to.hist.wait.join(rest)
	case Exponential, DeltaExponential:
		if to.exp == nil {
			to.exp = &expTotal{}
		}
		to.keepSent()
		to.exp.join(o.unsent())
	case Summary:
		if to.summary == nil {
			to.summary = &summaryTotal{}
		}
		rest := o.summary.sum
		rest.subtract(o.sentTotal)
		to.summary.sum.join(rest)
		to.summary.count += o.summary.count - o.sentCount
	}
}

// keepSent notes what an exponential histogram sent on, before the first of what waits.
func (o *output) keepSent() {
	if o.metric.kind == Exponential && o.sent && o.sentExp == nil {
		o.sentExp = o.exp.clone()
	}
}

// unsent is what waits of an exponential histogram.
func (o *output) unsent() *expTotal {
	if o.metric.kind == DeltaExponential || !o.sent {
		return o.exp
	}
	rest := o.exp.clone()
	was := o.sentExp
	if was == nil {
		was = o.exp
	}
	was = was.at(rest.scale)
	subtract(&rest.positive, &was.positive)
	subtract(&rest.negative, &was.negative)
	rest.positive.trim()
	rest.negative.trim()
	rest.zero -= was.zero
	rest.count -= was.count
	rest.sum.subtract(was.sum)
	rest.noMin, rest.noMax = true, true
	return rest
}

// whole says whether an output that was read has what it must have.
func (o *output) whole() bool {
	switch o.metric.kind {
	case Histogram, DeltaHistogram:
		return o.hist != nil || !o.waiting
	case Exponential:
		if was := o.sentExp; was != nil && was.set {
			if o.exp == nil || !o.exp.set || was.scale < o.exp.scale {
				return false
			}
			was = was.at(o.exp.scale)
			return !lower(&o.exp.positive, &was.positive) && !lower(&o.exp.negative, &was.negative)
		}
		return o.exp != nil || !o.waiting
	case DeltaExponential:
		return o.exp != nil || !o.waiting
	case Summary:
		return o.summary != nil || !o.waiting
	}
	return true
}

// at is a copy with a coarser scale. Where nothing was added yet, there is nothing to bring to it.
func (t *expTotal) at(scale int32) *expTotal {
	c := t.clone()
	if c.set {
		c.coarsen(int(c.scale) - int(scale))
	}
	return c
}

func (t *expTotal) clone() *expTotal {
	c := *t
	c.positive.counts = append([]uint64(nil), t.positive.counts...)
	c.negative.counts = append([]uint64(nil), t.negative.counts...)
	return &c
}
