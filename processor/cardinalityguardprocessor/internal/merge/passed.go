package merge

import "sync/atomic"

// passed notes when series went by that are not remembered one by one: the newest time of each place. What shares both of its places with others only
// makes a first merged point later than it need be. A metric that never merged has places, since its points are not identified; of others each series has.
// It takes memory only once something passed.
type passed struct{ places atomic.Pointer[passedPlaces] }

type passedPlaces [2][1 << 17]atomic.Int64

func (p *passed) note(id Hash, at int64) {
	places := p.places.Load()
	if places == nil {
		p.places.CompareAndSwap(nil, new(passedPlaces))
		places = p.places.Load()
	}
	raise(&places[0][id.Lo%uint64(len(places[0]))], at)
	raise(&places[1][id.Hi%uint64(len(places[1]))], at)
}

func (p *passed) last(id Hash) int64 {
	places := p.places.Load()
	if places == nil {
		return 0
	}
	return min(places[0][id.Lo%uint64(len(places[0]))].Load(), places[1][id.Hi%uint64(len(places[1]))].Load())
}

// raise makes a time the newest one.
func raise(newest *atomic.Int64, at int64) {
	for {
		if old := newest.Load(); old >= at || newest.CompareAndSwap(old, at) {
			return
		}
	}
}

// passedOf gives the table of a kind, so that gauges, of which there are many, share no place with a sum.
func (e *Engine) passedOf(k Kind) *passed {
	if k.Cumulative() {
		return &e.unseen
	}
	return &e.passed
}

// Passed notes that points of a metric went by, the newest of them at a time. It must be called before Merges is asked about the metric's name: so
// either the points are seen to merge, or the first merged one comes after them.
func (e *Engine) Passed(metric Hash, k Kind, at, now int64) {
	if at > 0 && at <= now+int64(e.cfg.MaxFutureSkew) {
		e.passedOf(k).note(metric, at)
	}
}

// notePassing notes the native points of a batch that go on as they are and are not remembered. The end of a cumulative series that nothing is known
// of is not among them: what is noted there may have been counted.
func (b *Batch) notePassing() {
	for i := range b.items {
		it := &b.items[i]
		if kind := b.groups[it.group].kind; it.rec == nil && !it.gone && (!it.noValue || !kind.Cumulative()) {
			b.engine.Passed(it.id, kind, it.at, b.now)
		}
	}
}

// forgotten notes when the last point of an output went on. Should its identity come back, it goes on behind that, also after a restart, where it is only
// known of all of them.
func (e *Engine) forgotten(o *output, now int64) {
	e.Passed(o.id, o.metric.kind, o.last, now)
	if o.last <= now+int64(e.cfg.MaxFutureSkew) {
		raise(&e.forgot, o.last)
	}
}

// after lets an output's first point come after what passed, or was sent, under its identity.
func (e *Engine) after(o *output) {
	p := e.passedOf(o.metric.kind)
	o.last = max(p.last(o.id), p.last(o.metric.id), e.before)
}
