package merge

import "go.opentelemetry.io/collector/pdata/pcommon"

// pending says whether the point is to be looked up once more: of a native series, or the end of a source that a later point of the batch made.
func (it *item) pending() bool { return it.rec == nil && !it.gone && (!it.touched || it.noValue) }

// mark notes a source's part in the batch.
func (b *Batch) mark(s *source) {
	if s.batch == b.serial {
		b.again = true
	}
	s.batch = b.serial
}

// resolve finds the source of a point and, for a new one, its output.
func (b *Batch) resolve(it *item, generation uint32) {
	if s := b.known(it.id); s != nil {
		if s.gen < generation && !it.noValue {
			b.remap(it, s, generation)
			if it.rec == nil {
				return
			}
		}
		it.rec = s
		b.mark(s)
		return
	}
	g := &b.groups[it.group]
	switch {
	case it.touched && it.noValue: // once all of the batch are known
	case it.touched:
		if b.refused(it, g) {
			return
		}
		if out := b.outputOf(it, g); out != nil {
			b.remember(it, out, generation)
		}
	case !it.noValue && g.kind.Cumulative() && b.engine.cfg.TrackNative && b.shard.outputs[it.id] == nil:
		b.watch(it, g, generation)
	}
}

// known finds a source. Most batches have the points in the order of the batch before: then the one behind the last one is it.
func (b *Batch) known(id Hash) *source {
	last := b.before
	if last != nil && last.after != nil && last.after.id == id {
		b.before = last.after
		return last.after
	}
	s := b.shard.sources[id]
	if last != nil && s != nil {
		last.after = s
	}
	b.before = s
	return s
}

// refused drops what does not merge and values that no sum takes: none of them makes an output.
func (b *Batch) refused(it *item, g *Group) bool {
	m := b.metricOf(g)
	switch {
	case g.kind == Unsupported:
		b.drop(it, UnknownKind)
	case g.kind == Gauge && m.rules.gauge == Drop, g.kind == Summary && m.rules.dropSum:
		b.drop(it, ByRule)
	default:
		return b.refusedValue(it, g)
	}
	return true
}

// refusedValue drops a value that no sum takes.
func (b *Batch) refusedValue(it *item, g *Group) bool {
	switch {
	case !it.value.finite() && g.kind != Gauge:
		b.drop(it, NotFinite)
	case g.kind == Sum && it.value.float() < 0:
		b.drop(it, Malformed)
	default:
		return false
	}
	return true
}

// resolveNative finds the output of a native point that nothing is remembered of, if it merges.
func (b *Batch) resolveNative(it *item, generation uint32) {
	if !it.pending() {
		return
	}
	if s := b.shard.sources[it.id]; s != nil { // an earlier point of the batch made it
		it.rec = s
		b.mark(s)
		return
	}
	out := b.shard.outputs[it.id]
	if out == nil && !it.touched {
		return
	}
	if it.noValue {
		b.drop(it, NoValue)
		return
	}
	b.remember(it, out, generation)
}

// remember makes the source of a point. Without room, only a delta can do without.
func (b *Batch) remember(it *item, out *output, generation uint32) {
	if !b.room() {
		it.out = out
		if !out.metric.kind.delta() {
			b.drop(it, SourceLimit)
		}
		return
	}
	s := b.newSource(it, out.metric, generation)
	out.link(s)
}

func (b *Batch) newSource(it *item, m *metric, generation uint32) *source {
	s := &source{id: it.id, metric: m, gen: generation, seen: b.now}
	if t, buried := b.shard.buried.raise(it.id); buried {
		b.engine.tombstones.Add(-1)
		s.start, s.time, s.value, s.double = t.start, t.time, t.value, t.double
		s.known, s.ended = true, t.time // a distribution is not known any more: its next point is a baseline
	}
	b.shard.sources[it.id] = s
	b.engine.sources.Add(1)
	b.expireBy(b.now + int64(b.engine.cfg.SourceExpiry))
	it.rec = s
	b.mark(s)
	return s
}

// watch remembers a native series, so that a later collision continues from its value. Over the limit it goes to the overflow series.
func (b *Batch) watch(it *item, g *Group, generation uint32) {
	m := b.metricOf(g)
	room := b.engine.series.Load() < int64(b.engine.cfg.Series) && b.room()
	if m.series >= b.limit(m)-m.reserve() && (m.reserve() == 0 || !isOverflow(b.attributes(g, it))) {
		it.touched = true
		if out := b.overflowOf(g, m); out != nil {
			b.remember(it, out, generation)
		} else {
			b.drop(it, SeriesLimit)
		}
		return
	}
	if !room {
		b.engine.unwatched.Store(b.now) // it passes, and what is known of it is no longer true
		if _, buried := b.shard.buried.raise(it.id); buried {
			b.engine.tombstones.Add(-1)
		}
		return
	}
	b.newSource(it, m, generation)
	m.hasOver = m.hasOver || isOverflow(b.attributes(g, it))
	m.series++
	b.engine.series.Add(1)
}

// outputOf finds or makes the output of a touched point, or drops the point.
func (b *Batch) outputOf(it *item, g *Group) *output {
	out := b.place(g, b.metricOf(g), b.attributes(g, it))
	if out == nil {
		b.drop(it, SeriesLimit)
	}
	return out
}

// place finds or makes the output of what has some attributes. It is nil where not even an overflow series has room.
func (b *Batch) place(g *Group, m *metric, attrs pcommon.Map) *output {
	b.engine.label(attrs)
	id := b.text.Point(g.Output, attrs)
	if out := b.shard.outputs[id]; out != nil {
		return out
	}
	watched := b.shard.sources[id]
	if b.full(m) && (watched == nil || watched.out != nil) {
		return b.overflowOf(g, m)
	}
	return b.newOutput(m, g, id, attrs)
}

// full says whether a metric takes no further series; the last place is the overflow's.
func (b *Batch) full(m *metric) bool {
	return m.series >= b.limit(m)-m.reserve() || b.engine.series.Load() >= int64(b.engine.cfg.Series)
}

// reserve is the room that the overflow series needs.
func (m *metric) reserve() int {
	if m.over == nil && !m.hasOver {
		return 1
	}
	return 0
}

func isOverflow(attrs pcommon.Map) bool {
	v, is := attrs.Get(OverflowKey)
	return is && attrs.Len() == 1 && v.Type() == pcommon.ValueTypeBool && v.Bool()
}

// newOutput makes an output. A native series of the same identity that was watched becomes its first source.
func (b *Batch) newOutput(m *metric, g *Group, id Hash, attrs pcommon.Map) *output {
	b.describe(m, g)
	out := &output{metric: m, id: id, attributes: pcommon.NewMap(), changed: b.now, created: b.now, epoch: 1, sequence: 1}
	attrs.CopyTo(out.attributes)
	b.shard.outputs[id] = out
	m.outputs++
	b.shard.names[m.name].outputs++
	b.engine.outputs.Add(1)
	b.expireBy(b.now + int64(outputExpiry))
	if watched := b.shard.sources[id]; watched != nil && watched.out == nil {
		out.adopt(watched)
	} else {
		b.engine.after(out)
		m.series++
		b.engine.series.Add(1)
	}
	return out
}

// overflowOf gives the series that takes what is over a limit: one of the metric, or, where even that has no room, one of the name.
func (b *Batch) overflowOf(g *Group, m *metric) *output {
	if m.over != nil {
		return m.over
	}
	attrs := pcommon.NewMap()
	attrs.PutBool(OverflowKey, true)
	b.engine.label(attrs)
	n := b.shard.names[m.name]
	if b.engine.series.Load() >= int64(b.engine.cfg.Series) {
		if out := n.overFor(m); out != nil {
			return out
		}
		if b.engine.series.Load() >= 2*int64(b.engine.cfg.Series) {
			return nil
		}
	}
	out := b.newOutput(m, g, b.text.Point(g.Output, attrs), attrs)
	m.over, out.overflow = out, true
	if n.overFor(m) == nil {
		n.over = append(n.over, out)
	}
	return out
}

// overFor gives the overflow series of the name that a metric may use.
func (n *name) overFor(m *metric) *output {
	for _, out := range n.over {
		if out.metric.kind == m.kind && out.metric.tenant == m.tenant {
			return out
		}
	}
	return nil
}

func (b *Batch) limit(m *metric) int {
	if m.rules.limit > 0 {
		return m.rules.limit
	}
	return b.engine.cfg.SeriesPerMetric
}

// remap gives a source the output of a new policy. Its baseline stays. A value that no sum takes says nothing about the source: the next one moves it.
func (b *Batch) remap(it *item, s *source, generation uint32) {
	g := &b.groups[it.group]
	if it.touched && b.refusedValue(it, g) {
		it.rec = s // which is seen when the point's turn comes
		return
	}
	m := b.metricOf(g)
	was := s.out
	b.engine.leave(s)
	s.gen, s.metric = generation, m
	it.rec = s
	b.mark(s)
	out := b.shard.outputs[it.id]
	switch {
	case it.touched && !b.refused(it, g):
		out = b.outputOf(it, g)
	case out == nil && !it.touched && g.kind.Cumulative() && b.engine.cfg.TrackNative:
		m.series++
		b.engine.series.Add(1)
		return
	}
	if out != nil && !it.gone {
		if out != was {
			s.born = 0 // what it counted in full is another's
		}
		out.link(s)
		return
	}
	it.rec = nil
	s.stop(b.now)
	b.engine.inter(b.shard, it.id, s, b.now)
}
