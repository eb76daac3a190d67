package merge

// install makes a metric that was read one of its shard.
func (e *Engine) install(sh *shard, m *metric) {
	sh.metrics[m.id] = m
	n := sh.names[m.name]
	if n == nil {
		var h Hasher
		n = &name{first: h.Metric(Hash{}, Hash{}, m.empty)}
		sh.names[m.name] = n
	}
	n.metrics++
	m.rules = e.policy.Load().rulesOf(m.name)
}

func (e *Engine) installOutput(sh *shard, o *output) {
	sh.outputs[o.id] = o
	o.metric.series++
	o.metric.outputs++
	n := sh.names[o.metric.name]
	n.outputs++
	if o.overflow && n.overFor(o.metric) == nil {
		n.over = append(n.over, o)
	}
	e.series.Add(1)
	e.outputs.Add(1)
}

// sourceState writes or reads the sources of an output.
func (e *Engine) sourceState(c *codec, sh *shard, o *output) {
	n := c.length(int(o.members))
	s := o.sources
	for range n {
		if c.err != nil {
			return
		}
		if c.reading {
			s = &source{metric: o.metric}
		}
		c.hash(&s.id)
		c.source(s)
		if !c.reading {
			s = s.next
			continue
		}
		o.link(s)
		sh.sources[s.id] = s
		e.sources.Add(1)
		if s.gone {
			sh.ended++
		}
	}
}

func (c *codec) source(s *source) {
	for _, v := range []*int64{&s.start, &s.time, &s.ahead, &s.ended, &s.seen} {
		c.i64(v)
	}
	c.fixed(&s.value)
	c.u32(&s.born)
	c.flags(&s.double, &s.known, &s.live, &s.fast, &s.gone)
	has := s.dist != nil
	c.flags(&has)
	if !has {
		return
	}
	switch s.metric.kind {
	case Histogram:
		dist(c, s, c.histLast)
	case Exponential:
		dist(c, s, c.expLast)
	case Summary:
		dist(c, s, c.summaryLast)
	default:
		dist(c, s, c.windows)
	}
}

func dist[T any](c *codec, s *source, state func(*T)) {
	if c.reading {
		s.dist = new(T)
	}
	d, is := s.dist.(*T)
	if !is {
		c.fail()
		return
	}
	state(d)
}

// tombstoneState writes or reads the tombstones, oldest first.
func (e *Engine) tombstoneState(c *codec, sh *shard) {
	g := &sh.buried
	g.compact()
	n := c.length(len(g.queue))
	for i := range n {
		var id Hash
		var t tombstone
		if !c.reading {
			id = g.queue[i].id
			t = g.stones[id]
		}
		c.hash(&id)
		c.i64(&t.start)
		c.i64(&t.time)
		c.fixed(&t.value)
		c.flags(&t.double)
		if c.reading && g.bury(id, t) {
			e.tombstones.Add(1)
		}
	}
}
