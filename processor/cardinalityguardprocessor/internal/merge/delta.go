package merge

import "math"

// window is what tells a retry of a delta point from news.
type window struct{ start, end int64 }

// windows are the last ones of a source.
type windows []window

const (
	keptWindows = 64
	windowAge   = int64(120e9) // of older ones a few are kept
	oldWindows  = 8
)

// repeats says whether a source sent a window before, and notes it.
func (s *source) repeats(w window) bool {
	known, _ := s.dist.(*windows)
	if known == nil {
		known = &windows{}
		s.dist = known
	}
	for i := len(*known) - 1; i >= 0; i-- {
		if (*known)[i] == w {
			return true
		}
	}
	list := *known
	for len(list) >= keptWindows || (len(list) >= oldWindows && list[0].end < w.end-windowAge) {
		copy(list, list[1:])
		list = list[:len(list)-1]
	}
	*known = append(list, w)
	return false
}

// applyDelta adds a delta point to the window that is being filled. A source that is not remembered has none.
func (b *Batch) applyDelta(it *item, s *source, out *output) {
	if it.noValue {
		b.drop(it, NoValue)
		return
	}
	g := &b.groups[it.group]
	var hist histLast
	var exp expLast
	switch g.kind {
	case DeltaSum:
		if !it.value.finite() {
			b.drop(it, NotFinite)
			return
		}
	case DeltaHistogram:
		if !b.hists.read(g.Metric.Histogram().DataPoints().At(int(it.index)), &hist) {
			b.drop(it, Malformed)
			return
		}
	case DeltaExponential:
		if !b.exps.read(g.Metric.ExponentialHistogram().DataPoints().At(int(it.index)), &exp) {
			b.drop(it, Malformed)
			return
		}
	}
	if b.overflows(it, out, hist.count+exp.count) {
		return
	}
	if s != nil {
		if b.engine.cfg.DeltaDedup && it.start != 0 && s.repeats(window{it.start, it.time}) {
			b.drop(it, Duplicate)
			return
		}
		last := s.time
		s.note(it, b.now)
		s.time = max(s.time, last)
		b.alive(it, s)
	}
	switch g.kind {
	case DeltaSum:
		out.total.add(it.value)
	case DeltaHistogram:
		if out.hist == nil {
			out.hist = &histTotal{}
		}
		b.thinned()
		out.hist.wait.add(&hist, out.metric.rules.bounds)
	case DeltaExponential:
		if out.exp == nil {
			out.exp = &expTotal{}
		}
		out.exp.add(&exp, true)
	}
	if from := it.begin(b.now); !out.windowed || from < out.windowFrom {
		out.windowFrom, out.windowed = from, true
	}
	b.accept(it, out)
}

// overflows drops a point with which the window would be more than its type can say; count is that of a distribution.
func (b *Batch) overflows(it *item, out *output, count uint64) bool {
	switch b.groups[it.group].kind {
	case DeltaHistogram:
		return out.hist != nil && b.overfull(it, out.hist.wait.count, count)
	case DeltaExponential:
		return out.exp != nil && b.overfull(it, out.exp.count, count)
	}
	if !it.value.double {
		return false
	}
	sum := out.total
	sum.add(it.value)
	if !math.IsInf(sum.sum, 0) {
		return false
	}
	b.drop(it, NotFinite)
	return true
}
