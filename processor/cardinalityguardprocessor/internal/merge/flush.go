package merge

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// flusher builds what a flush sends on.
type flusher struct {
	engine  *Engine
	counts  *Counts
	now     int64
	final   bool
	out     []Portion
	tenants map[string]int // where in it each has its portion
	text    Hasher
	scopes  map[[2]Hash]pmetric.ScopeMetrics
	byID    map[Hash]pmetric.ResourceMetrics
	metrics map[Hash]pmetric.Metric
}

// flight is what an output was before its point was sent, in case it was not taken.
type flight struct {
	last      int64
	windowed  bool
	from      int64
	sent      bool
	ended     bool
	total     total
	count     uint64
	hist      *histSum
	all       *histSum // what was sent on before, of a cumulative histogram, with its start and sequence
	start     int64
	sequence  uint32
	exp       *expTotal
	exemplars []pmetric.Exemplar
	value     bool
}

// Portion is the part of a flush that one tenant gets.
type Portion struct {
	Tenant  string
	Metrics pmetric.Metrics
}

// Flush gives one point for each output that has news. Commit or Rollback of each portion must follow before the next flush. The last one holds
// nothing back.
func (e *Engine) Flush(now int64, counts *Counts, last bool) []Portion {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	f := &flusher{
		engine: e, counts: counts, now: now, final: last, tenants: map[string]int{},
		scopes: map[[2]Hash]pmetric.ScopeMetrics{}, byID: map[Hash]pmetric.ResourceMetrics{}, metrics: map[Hash]pmetric.Metric{},
	}
	for _, sh := range e.shards {
		f.shard(sh)
	}
	return f.out
}

// of gives what a tenant gets.
func (f *flusher) of(tenant string) pmetric.Metrics {
	if i, there := f.tenants[tenant]; there {
		return f.out[i].Metrics
	}
	f.tenants[tenant] = len(f.out)
	f.out = append(f.out, Portion{tenant, pmetric.NewMetrics()})
	return f.out[len(f.out)-1].Metrics
}

func (f *flusher) shard(sh *shard) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	f.rekey(sh)
	if !sh.blind {
		f.engine.expire(sh, f.now)
	}
	clear(f.metrics)
	for _, o := range sh.outputs {
		if sh.blind && o.metric.kind.overLive() { // its sources tell their levels themselves
			o.waiting, o.ends = false, false
		}
		if o.waiting || o.ends {
			f.output(sh, o)
		}
	}
}

// output sends on what an output has: a value, or, when there is none, that it ended.
func (f *flusher) output(sh *shard, o *output) {
	if o.metric.kind.overLive() && o.live == 0 {
		o.waiting = false // a level of nothing
		if !o.ends {
			return
		}
	}
	ending := !o.waiting
	at := o.newest
	if ending {
		at = max(o.endTime, o.newest)
	}
	if at <= o.last {
		if !f.final && f.now-o.waitsSince < 2*int64(f.engine.cfg.FlushInterval) {
			return
		}
		at = o.last + oneStep
	}
	sh.dirty = true
	o.inFlight = &flight{last: o.last, windowed: o.windowed, from: o.windowFrom, sent: o.sent, ended: o.ends, value: !ending}
	f.engine.inFlight[o.metric.tenant] = append(f.engine.inFlight[o.metric.tenant], o)
	if ending {
		f.put(o, at, true)
		o.ends = false
	} else {
		f.put(o, at, false)
		o.waiting, o.sent = false, true
		o.epoch++
		o.waitsSince = f.now // of the end, if it waits
	}
	o.last = at
	o.newest = 0
}

// put writes a point.
func (f *flusher) put(o *output, at int64, ends bool) {
	m := f.metricOf(o.metric)
	switch o.metric.kind {
	case Gauge, Sum, UpDown, DeltaSum:
		f.putNumber(o, Numbers(m).AppendEmpty(), at, ends)
	case Histogram, DeltaHistogram:
		p := m.Histogram().DataPoints().AppendEmpty()
		o.attributes.CopyTo(p.Attributes())
		p.SetTimestamp(pcommon.Timestamp(at))
		if ends {
			p.SetStartTimestamp(f.startOf(o, at))
			p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
			return
		}
		value := f.histogramOf(o)
		start := f.startOf(o, at)
		p.SetStartTimestamp(start)
		value.put(p)
		f.putExemplars(f.exemplars(o), int64(start), value.bounds, p.Exemplars())
	case Exponential, DeltaExponential:
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		o.attributes.CopyTo(p.Attributes())
		p.SetTimestamp(pcommon.Timestamp(at))
		start := f.startOf(o, at)
		p.SetStartTimestamp(start)
		if ends {
			p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
			return
		}
		o.exp.put(p)
		f.putExemplars(f.exemplars(o), int64(start), nil, p.Exemplars())
		if o.metric.kind == DeltaExponential {
			o.inFlight.exp, o.exp = o.exp, nil
		} else {
			o.inFlight.exp, o.sentExp = o.sentExp, nil
		}
	case Summary:
		p := m.Summary().DataPoints().AppendEmpty()
		o.attributes.CopyTo(p.Attributes())
		p.SetTimestamp(pcommon.Timestamp(at))
		p.SetStartTimestamp(f.startOf(o, at))
		if ends {
			p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
			return
		}
		o.putSummary(p, f.counts)
		o.inFlight.total, o.inFlight.count = o.sentTotal, o.sentCount
		o.sentTotal, o.sentCount = o.summary.sum, o.summary.count
	}
}

func (f *flusher) putNumber(o *output, p pmetric.NumberDataPoint, at int64, ends bool) {
	o.attributes.CopyTo(p.Attributes())
	p.SetTimestamp(pcommon.Timestamp(at))
	start := f.startOf(o, at)
	p.SetStartTimestamp(start)
	if ends {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		return
	}
	switch o.metric.kind {
	case Gauge:
		f.gaugeOf(o).put(p)
	case UpDown:
		f.levelOf(o).put(p)
	case Sum:
		v := o.total.value()
		o.inFlight.total, o.sentTotal = o.sentTotal, o.total
		if v.double {
			o.floor = max(o.floor, v.float())
			p.SetDoubleValue(o.floor)
		} else {
			v.put(p)
			o.floor = v.float()
		}
	case DeltaSum:
		o.total.value().put(p)
		o.inFlight.total, o.total = o.total, total{}
	}
	f.putExemplars(f.exemplars(o), int64(start), nil, p.Exemplars())
}

// exemplars takes the kept exemplars of an output.
func (f *flusher) exemplars(o *output) []pmetric.Exemplar {
	list := o.exemplars
	o.inFlight.exemplars, o.exemplars = list, nil
	return list
}

// startOf gives the start of an output's next point, and freezes it.
func (f *flusher) startOf(o *output, at int64) pcommon.Timestamp {
	switch {
	case o.metric.kind == Gauge:
		return 0
	case o.metric.kind.overLive() && !o.sent && !o.starts: // its sources came with a change of the policy and have said nothing new
		for s := o.sources; s != nil; s = s.next {
			if s.live && s.known {
				o.candidate(s.time)
			}
		}
	case o.metric.kind.delta():
		start := max(o.last, o.windowFrom)
		if !o.windowed {
			start = o.last
		}
		o.windowed, o.windowFrom = false, 0
		return pcommon.Timestamp(min(start, at))
	}
	return pcommon.Timestamp(min(o.start, at))
}

// histogramOf gives the distribution to be sent. A sequence whose bounds narrow begins anew.
func (f *flusher) histogramOf(o *output) *histSum {
	if o.metric.kind == DeltaHistogram {
		sum := o.hist.wait
		o.hist.wait = histSum{}
		o.inFlight.hist = &sum
		return &sum
	}
	was := o.inFlight
	was.all, was.hist, was.start, was.sequence = o.hist.all.clone(), o.hist.wait.clone(), o.start, o.sequence
	if o.hist.settle(o.sent) {
		f.counts.add(&f.counts.Narrowed)
		o.start, o.sequence = o.last, o.epoch
	}
	return &o.hist.all
}

// metricOf finds or makes the metric of a point in what is sent.
func (f *flusher) metricOf(m *metric) pmetric.Metric {
	if made, there := f.metrics[m.id]; there {
		return made
	}
	rid, sid := f.text.Tenant(f.text.Resource(m.resource.Attributes()), m.tenant), f.text.Scope(m.scope)
	rm, there := f.byID[rid]
	if !there {
		rm = f.of(m.tenant).ResourceMetrics().AppendEmpty()
		m.resource.CopyTo(rm.Resource())
		f.byID[rid] = rm
	}
	rm.SetSchemaUrl(max(rm.SchemaUrl(), m.resourceSchema))
	sm, there := f.scopes[[2]Hash{rid, sid}]
	if !there {
		sm = rm.ScopeMetrics().AppendEmpty()
		m.scope.CopyTo(sm.Scope())
		f.scopes[[2]Hash{rid, sid}] = sm
	}
	sm.SetSchemaUrl(max(sm.SchemaUrl(), m.scopeSchema))
	made := sm.Metrics().AppendEmpty()
	m.empty.CopyTo(made)
	f.metrics[m.id] = made
	return made
}
