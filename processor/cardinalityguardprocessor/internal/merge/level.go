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
