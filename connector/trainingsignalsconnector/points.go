package trainingsignalsconnector

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// flush is the points of one tick, and what is to be remembered once they are taken.
type flush struct {
	metrics pmetric.Metrics
	taken   []taken
	expired []*group
}

type taken struct {
	s    *series
	at   int64
	sent value
}

// build makes the points of a tick. At the last one, a series that nobody has seen yet shows its zero and its value.
func (t *table) build(stamp int64, last bool) *flush {
	f := &flush{metrics: pmetric.NewMetrics()}
	f.expired = t.expired()
	for _, g := range t.order {
		b := builder{t: t, f: f, g: g, stamp: stamp, last: last, gone: slices.Contains(f.expired, g)}
		b.group()
	}
	return f
}

// commit remembers that the points were taken. A resource that an attempt came to while they were on their way goes on.
func (t *table) commit(f *flush) {
	for _, k := range f.taken {
		k.s.last, k.s.sent = k.at, k.sent
	}
	t.forget(slices.DeleteFunc(f.expired, func(g *group) bool { return !t.old(g) }))
}

// builder makes the points of a resource.
type builder struct {
	t     *table
	f     *flush
	g     *group
	stamp int64
	last  bool
	gone  bool // the resource expired

	out pmetric.MetricSlice
	has bool
}

func (b *builder) group() {
	for i := range b.t.kinds {
		for _, namespace := range b.t.cfg.namespaces() {
			var m pmetric.Metric
			begun := false
			for _, s := range b.g.order {
				if int(s.instrument) != i {
					continue
				}
				for _, p := range b.points(s) {
					if !begun {
						m, begun = b.metric(&b.t.kinds[i], namespace), true
					}
					b.put(m, s, &p, namespace)
				}
			}
		}
	}
	for _, s := range b.g.order {
		if list := b.points(s); len(list) > 0 {
			b.f.taken = append(b.f.taken, taken{s, b.stamp, list[len(list)-1].total})
		}
	}
}

// point is one to be made.
type point struct {
	start, at int64
	value     value // what it shows
	total     value // what the series has told with it
	none      bool  // no recorded value
}

// points says what a series shows at this tick.
func (b *builder) points(s *series) []point {
	in := &b.t.kinds[s.instrument]
	differs := b.t.cfg.Temporality == delta && in.counted
	now := point{start: s.start, at: b.stamp, value: s.value, total: s.value.clone()}
	switch {
	case b.stamp <= s.last || s.gone || in.kind == kindGauge && b.gone:
		return nil
	case b.gone:
		if s.last == 0 || differs {
			return nil
		}
		now.none = true
		return []point{now}
	case in.atOnce:
		return []point{now}
	case differs && s.last != 0:
		if s.value.equal(&s.sent) {
			return nil
		}
		now.start, now.value = s.last, s.value.minus(&s.sent)
		return []point{now}
	case differs && int(s.instrument) != runOutcomes:
		if s.value.equal(&value{}) {
			return nil
		}
		return []point{now}
	case s.last != 0:
		return []point{now}
	}
	zero := point{start: min(s.start, b.stamp), at: b.stamp}
	if !b.last {
		return []point{zero}
	}
	zero.at -= 1e6
	zero.start = min(s.start, zero.at)
	now.start = zero.start
	if differs {
		now.start = zero.at
	}
	return []point{zero, now}
}

// metric adds one to the resource's, which is made when its first metric is.
func (b *builder) metric(in *instrument, namespace string) pmetric.Metric {
	if !b.has {
		rm := b.f.metrics.ResourceMetrics().AppendEmpty()
		b.g.attrs.CopyTo(rm.Resource().Attributes())
		rm.SetSchemaUrl(schemaURL(b.t.cfg))
		sm := rm.ScopeMetrics().AppendEmpty()
		sm.SetSchemaUrl(schemaURL(b.t.cfg))
		sm.Scope().SetName(b.t.cfg.Namespace)
		sm.Scope().SetVersion(trainrecord.SchemaVersion)
		b.out, b.has = sm.Metrics(), true
	}
	m := b.out.AppendEmpty()
	m.SetName(namespace + "." + in.name)
	m.SetUnit(in.unit)
	m.SetDescription(in.description)
	temporality := pmetric.AggregationTemporalityCumulative
	if b.t.cfg.Temporality == delta && in.counted {
		temporality = pmetric.AggregationTemporalityDelta
	}
	switch in.kind {
	case kindHistogram:
		m.SetEmptyHistogram().SetAggregationTemporality(temporality)
	case kindGauge:
		m.SetEmptyGauge()
	default:
		sum := m.SetEmptySum()
		sum.SetAggregationTemporality(temporality)
		sum.SetIsMonotonic(in.kind == kindSum)
	}
	return m
}

// schemaURL is the vocabulary's, where its names are the vocabulary's.
func schemaURL(cfg *Config) string {
	if cfg.Namespace != trainrecord.Namespace {
		return ""
	}
	return trainrecord.SchemaURL
}

func (b *builder) put(m pmetric.Metric, s *series, p *point, namespace string) {
	in := &b.t.kinds[s.instrument]
	if in.kind == kindHistogram {
		dp := m.Histogram().DataPoints().AppendEmpty()
		b.t.attributes(s, namespace, dp.Attributes())
		dp.SetStartTimestamp(pcommon.Timestamp(p.start))
		dp.SetTimestamp(pcommon.Timestamp(p.at))
		if p.none {
			dp.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
			return
		}
		dp.SetCount(uint64(p.value.n))
		dp.SetSum(p.value.x)
		dp.ExplicitBounds().FromRaw(in.bounds)
		buckets := p.value.buckets
		if buckets == nil {
			buckets = make([]uint64, len(in.bounds)+1)
		}
		dp.BucketCounts().FromRaw(buckets)
		return
	}
	var dp pmetric.NumberDataPoint
	if in.kind == kindGauge {
		dp = m.Gauge().DataPoints().AppendEmpty()
	} else {
		dp = m.Sum().DataPoints().AppendEmpty()
		dp.SetStartTimestamp(pcommon.Timestamp(p.start))
	}
	b.t.attributes(s, namespace, dp.Attributes())
	dp.SetTimestamp(pcommon.Timestamp(p.at))
	switch {
	case p.none:
		dp.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	case in.whole:
		dp.SetIntValue(p.value.n)
	default:
		dp.SetDoubleValue(p.value.x)
	}
}
