package merge

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Cleaner removes what a policy forbids from series that were written under another one.
type Cleaner interface {
	Scrubber // of the points of the metric that Metric was told last
	// Metric cleans what the series of a metric share. It says whether they may go on at all, and whether their identity changed.
	Metric(res pcommon.Resource, scope pcommon.InstrumentationScope, m pmetric.Metric) (stays, changed bool)
	// Rejects says whether the policy drops a point for a value of it.
	Rejects(attrs pcommon.Map) bool
}

// rekey brings the outputs of a shard under the policy in force: one with something that is now forbidden goes to where its sources would go, or
// ends where nothing may go on. So nothing that a policy forbids is sent after it, even if its sources say nothing more. It is done where outputs
// are sent, because only there nothing of them is in flight.
func (f *flusher) rekey(sh *shard) {
	gen := f.engine.policy.Load()
	if sh.cleaned == gen.number {
		return
	}
	sh.cleaned = gen.number
	cleaner := gen.rules.Cleaner()
	sh.look(cleaner != nil, f.now)
	if cleaner == nil || len(sh.outputs) == 0 {
		return
	}
	outputs := map[*metric][]*output{}
	for _, o := range sh.outputs {
		outputs[o.metric] = append(outputs[o.metric], o)
	}
	b := f.engine.NewBatch(cleaner)
	b.shard, b.gen, b.now = sh, gen, f.now
	for m, of := range outputs {
		m.gen, m.rules = gen.number, gen.rulesOf(m.name)
		b.rekeyMetric(cleaner, m, of)
	}
	for kind := range b.Counts.Dropped {
		for why, n := range b.Counts.Dropped[kind] {
			f.counts.Dropped[kind][why] += n
		}
	}
	f.counts.Moved += b.Counts.Moved
	f.counts.Ended += b.Counts.Ended
	f.counts.Metadata += b.Counts.Metadata
	f.counts.Conflicted += b.Counts.Conflicted
	f.counts.Any = f.counts.Any || b.Counts.Any
	sh.check = f.now // metrics may be empty now
	f.engine.lapse(sh)
}

// look says whether sources are seen from now on. They were not silent while nobody looked.
func (sh *shard) look(sees bool, now int64) {
	if sh.blind && sees {
		for _, s := range sh.sources {
			s.seen = max(s.seen, now)
		}
	}
	sh.blind = !sees
}

// rekeyMetric brings the outputs of a metric under the policy in force.
func (b *Batch) rekeyMetric(cleaner Cleaner, m *metric, outputs []*output) {
	g := Group{
		Metric: pmetric.NewMetric(), Resource: pcommon.NewResource(), Scope: pcommon.NewInstrumentationScope(),
		ResourceSchema: m.resourceSchema, ScopeSchema: m.scopeSchema, Tenant: m.tenant, Output: m.id, kind: m.kind,
	}
	m.empty.CopyTo(g.Metric)
	m.resource.CopyTo(g.Resource)
	m.scope.CopyTo(g.Scope)
	stays, changed := cleaner.Metric(g.Resource, g.Scope, g.Metric)
	switch {
	case !stays, m.kind == Gauge && m.rules.gauge == Drop, m.kind == Summary && m.rules.dropSum:
		for _, o := range outputs {
			b.endOutput(o, ByRule)
		}
		return
	case changed:
		resource := b.text.Tenant(b.text.Resource(g.Resource.Attributes()), m.tenant)
		g.Output = b.text.Metric(resource, b.text.Scope(g.Scope), g.Metric)
	default: // what is no part of the identity
		m.empty, m.resource = g.Metric, g.Resource
	}
	for _, o := range outputs {
		for _, e := range o.exemplars {
			list := pmetric.NewExemplarSlice()
			e.CopyTo(list.AppendEmpty())
			cleaner.ScrubExemplars(list)
			list.At(0).CopyTo(e)
		}
		attrs := pcommon.NewMap()
		o.attributes.CopyTo(attrs)
		switch {
		case cleaner.Rejects(attrs):
			b.endOutput(o, ByRule)
		case cleaner.ScrubPoint(attrs) || changed:
			b.moveOutput(o, &g, attrs)
		}
	}
}

// moveOutput gives an output's sources, and what waits, to the output that the policy in force gives its attributes.
func (b *Batch) moveOutput(o *output, g *Group, attrs pcommon.Map) {
	m := b.metricOf(g)
	var to *output
	if o.overflow {
		to = b.overflowOf(g, m)
	} else {
		to = b.place(g, m, attrs)
	}
	if to == nil {
		b.endOutput(o, SeriesLimit)
		return
	}
	if to == o { // only what the guard itself put on was forbidden
		return
	}
	for s := o.sources; s != nil; s = o.sources {
		o.unlink(s)
		if s.born == o.epoch && !o.sent {
			s.born = to.epoch
		} else {
			s.born = 0
		}
		s.metric = m
		to.link(s)
	}
	o.giveTo(to, b.now)
	b.Counts.add(&b.Counts.Moved)
	b.engine.dropOutput(b.shard, o, b.now)
}

// endOutput forgets an output that may not go on, and its sources. What was to be sent counts as dropped.
func (b *Batch) endOutput(o *output, why Reason) {
	if o.waiting || (o.metric.kind.overLive() && o.live > 0) {
		b.Counts.drop(o.metric.kind, why, o.metric.name)
	}
	for s := o.sources; s != nil; s = o.sources {
		b.engine.bury(b.shard, s.id, s, b.now)
	}
	b.Counts.add(&b.Counts.Ended)
	b.engine.dropOutput(b.shard, o, b.now)
}
