package merge

import "math"

// gaugeOf merges the last values of the live sources of a gauge.
func (f *flusher) gaugeOf(o *output) number {
	rules := &o.metric.rules
	if !rules.decided && o.live >= 2 {
		f.counts.add(&f.counts.Ambiguous)
	}
	skew := int64(f.engine.cfg.MaxFutureSkew)
	var best *source
	var sum total
	var low, high number
	n := 0
	for s := o.sources; s != nil; s = s.next {
		if !s.live || !s.known {
			continue
		}
		v := s.number()
		if best == nil || s.at(skew) > best.at(skew) || (s.at(skew) == best.at(skew) && v.compare(best.number()) > 0) {
			best = s
		}
		if n == 0 || v.compare(low) < 0 {
			low = v
		}
		if n == 0 || v.compare(high) > 0 {
			high = v
		}
		sum.add(v)
		n++
	}
	switch {
	case best == nil:
		return number{}
	case rules.gauge == Mean:
		return number{math.Float64bits(sum.float() / float64(n)), true}
	case rules.gauge == Min:
		return low
	case rules.gauge == Max:
		return high
	case rules.gauge == Total:
		return sum.value()
	}
	return best.number()
}

// levelOf adds the last values of the live sources of a sum that may fall.
func (f *flusher) levelOf(o *output) number {
	var sum total
	for s := o.sources; s != nil; s = s.next {
		if s.live && s.known {
			sum.add(s.number())
		}
	}
	sum.double = sum.double || o.total.double
	o.total.double = sum.double
	return sum.value()
}

// applyLevel takes a point of a gauge or of a sum that may fall: the last values count.
func (b *Batch) applyLevel(it *item, s *source, k Kind) {
	v := it.value
	if !v.finite() && (k == UpDown || (s.metric.rules.gauge != Last && math.IsNaN(v.float()))) {
		b.drop(it, NotFinite)
		return
	}
	if s.order(it) == 0 && v.compare(s.number()) > 0 {
		s.set(v) // of two at one time the larger
		b.accept(it, s.out)
		return
	}
	if b.late(it, s) {
		return
	}
	if it.start == 0 || it.start >= it.time {
		s.out.candidate(it.at)
	} else {
		s.out.candidate(it.begin(b.now))
	}
	s.set(v)
	s.note(it, b.now)
	b.alive(it, s)
	b.accept(it, s.out)
	if k == Gauge {
		b.expireBy(b.now + int64(b.engine.cfg.GaugeStaleness))
	}
}
