package merge

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// histSum adds distributions on the bounds that all of them have.
type histSum struct {
	bounds   []float64
	counts   []uint64
	count    uint64
	sum      total
	min, max float64
	strong   bool // the bounds are of something counted
	weak     bool // the bounds are of empty distributions only: they bind nothing
	noSum    bool
	noMin    bool
	noMax    bool
	late     bool // something counted is of a source that was not counted from its birth in this epoch
	older    bool // the same, in this sequence
}

// histTotal is an output's distribution: what was sent on in the running sequence, and what waits.
type histTotal struct{ all, wait histSum }

func newHistTotal(last *histLast) *histTotal {
	t := &histTotal{}
	t.all.add(last, nil)
	return t
}

// add adds a distribution; wanted are the bounds that the policy wants, if any.
func (h *histSum) add(d *histLast, wanted []float64) {
	if d.count == 0 {
		if !h.strong {
			h.fit(d.bounds, wanted, !h.weak)
			h.weak = true
		}
		return
	}
	h.fit(d.bounds, wanted, !h.strong)
	if !h.strong {
		h.min, h.max = d.min, d.max
	}
	h.strong, h.weak = true, false
	h.count += d.count
	h.noSum = h.noSum || d.noSum
	if !d.noSum {
		h.sum.addFloat(d.sum)
	}
	h.noMin, h.noMax = h.noMin || !d.hasMin, h.noMax || !d.hasMax
	h.min, h.max = min(h.min, d.min), max(h.max, d.max)
	if len(h.bounds) == 0 {
		return
	}
	at := 0
	for i, n := range d.counts {
		h.counts[at] += n
		if at < len(h.bounds) && i < len(d.bounds) && d.bounds[i] == h.bounds[at] {
			at++
		}
	}
}

// fit narrows the bounds to those of a further distribution, or takes its bounds.
func (h *histSum) fit(bounds, wanted []float64, fresh bool) {
	if !fresh {
		if !slices.Equal(h.bounds, bounds) {
			h.narrow(intersect(nil, h.bounds, bounds))
		}
		return
	}
	if wanted != nil {
		h.bounds = intersect(nil, wanted, bounds)
	} else {
		h.bounds = append(h.bounds[:0], bounds...)
	}
	h.counts = h.counts[:0]
	if len(h.bounds) > 0 {
		h.counts = append(h.counts, make([]uint64, len(h.bounds)+1)...)
	}
}

func (h *histSum) narrow(bounds []float64) {
	if len(bounds) == len(h.bounds) {
		return
	}
	h.counts = project(nil, h.counts, h.bounds, bounds)
	h.bounds = bounds
}

// join adds another sum.
func (h *histSum) join(o *histSum) {
	if !o.strong && !o.weak {
		return
	}
	d := histLast{bounds: o.bounds, counts: o.counts, count: o.count, min: o.min, max: o.max, noSum: o.noSum, hasMin: !o.noMin, hasMax: !o.noMax}
	h.add(&d, nil)
	h.sum.join(o.sum)
	h.late, h.older = h.late || o.late, h.older || o.older
}

func (h *histSum) clone() *histSum {
	c := *h
	c.bounds, c.counts = slices.Clone(h.bounds), slices.Clone(h.counts)
	return &c
}

func (h *histSum) reset() {
	*h = histSum{bounds: h.bounds[:0], counts: h.counts[:0]}
}

// settle puts what waits to what was sent on. Where the bounds narrow, a new sequence begins that holds only what was not sent on; it says so.
func (t *histTotal) settle(sent bool) (narrowed bool) {
	w := &t.wait
	common := t.all.bounds
	if w.strong || (w.weak && !t.all.strong && !sent) {
		common = w.bounds
		if t.all.strong {
			common = intersect(nil, t.all.bounds, w.bounds)
		}
	}
	changes := (t.all.strong || t.all.weak) && !slices.Equal(common, t.all.bounds)
	if sent && changes {
		w.narrow(common)
		w.noMin, w.noMax = w.noMin || w.late, w.noMax || w.late
		t.all, t.wait = t.wait, histSum{}
		return true
	}
	w.noMin, w.noMax = w.noMin || w.older, w.noMax || w.older
	if !t.all.strong {
		if w.strong || (w.weak && !sent) || !t.all.weak {
			t.all, t.wait = t.wait, t.all
		}
	} else {
		t.all.join(w)
	}
	t.wait.reset()
	return false
}

// applyHistogram takes a point of a cumulative histogram.
func (b *Batch) applyHistogram(it *item, s *source) {
	var now histLast
	if !b.hists.read(b.groups[it.group].Metric.Histogram().DataPoints().At(int(it.index)), &now) {
		b.drop(it, Malformed)
		return
	}
	if b.late(it, s) {
		return
	}
	out := s.out
	if out.hist == nil {
		out.hist = &histTotal{}
	}
	rest := now
	var did step
	last, _ := s.dist.(*histLast)
	switch {
	case !s.known:
		did = b.first(it, s)
	default:
		fell := last != nil && b.hists.difference(&rest, last)
		did = b.returned(it, s, b.next(it, s, fell, false))
	}
	if did == refuse {
		return
	}
	switch did {
	case full:
		rest = now
	case difference:
		rest.count -= last.count
		rest.sum, rest.noSum = rest.sum-last.sum, rest.noSum || last.noSum
	case baseline:
		rest.count = 0
	}
	w := &out.hist.wait
	if b.overfull(it, out.hist.all.count+w.count, rest.count) {
		return
	}
	b.advance(it, s, did)
	b.thinned()
	w.add(&rest, s.metric.rules.bounds)
	if rest.count > 0 {
		w.late = w.late || s.born != out.epoch
		w.older = w.older || s.born < out.sequence
	}
	s.keepHistogram(&now)
}

// thinned counts the bounds that were left out of the point.
func (b *Batch) thinned() { b.Counts.parts(&b.Counts.Bounds, b.hists.thinned) }

// overfull drops a point with which a count would begin again at zero, without a new start.
func (b *Batch) overfull(it *item, count, more uint64) bool {
	over := count+more < count
	if over {
		b.drop(it, Malformed)
	}
	return over
}

// keepHistogram makes a point the baseline.
func (s *source) keepHistogram(now *histLast) {
	last, _ := s.dist.(*histLast)
	if last == nil {
		last = &histLast{}
		s.dist = last
	}
	counts, bounds := last.counts, last.bounds
	*last = *now
	last.counts = append(counts[:0], now.counts...)
	if len(bounds) != len(now.bounds) || !slices.Equal(bounds, now.bounds) {
		bounds = s.metric.sharedBounds(now.bounds)
	}
	last.bounds = bounds
}

// put writes the sum to a point.
func (h *histSum) put(p pmetric.HistogramDataPoint) {
	p.SetCount(h.count)
	if sum := h.sum.float(); !h.noSum && finite(sum) {
		p.SetSum(sum)
	}
	if h.count > 0 && !h.noMin {
		p.SetMin(h.min)
	}
	if h.count > 0 && !h.noMax {
		p.SetMax(h.max)
	}
	if len(h.bounds) > 0 {
		p.ExplicitBounds().FromRaw(h.bounds)
		p.BucketCounts().FromRaw(h.counts)
	}
}
