package merge

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// metricOf finds or makes the metric that a group becomes.
func (b *Batch) metricOf(g *Group) *metric {
	if g.metric != nil {
		return g.metric
	}
	m := b.shard.metrics[g.Output]
	if m == nil {
		m = &metric{id: g.Output, kind: g.kind, name: g.Metric.Name(), tenant: g.Tenant}
		b.shard.metrics[g.Output] = m
		b.shard.unused++
		b.named(m, g)
	} else if m.gen == b.gen.number {
		g.metric = m
		return m
	}
	m.gen = b.gen.number
	m.rules = b.gen.rulesOf(m.name)
	g.metric = m
	return m
}

func (g *generation) rulesOf(name string) (r ruleSet) {
	r.gauge, r.decided = g.rules.GaugeRule(name)
	r.bounds = g.rules.Bounds(name)
	r.dropSum = g.rules.DropSummary(name)
	r.limit = g.rules.SeriesLimit(name)
	return r
}

// named counts a metric under its name. One name with two types, units or temporalities is two outputs.
func (b *Batch) named(m *metric, g *Group) {
	identity := b.text.Metric(Hash{}, Hash{}, g.Metric)
	n := b.shard.names[m.name]
	if n == nil {
		n = &name{first: identity}
		b.shard.names[m.name] = n
	}
	n.metrics++
	if n.first != identity {
		b.Counts.add(&b.Counts.Conflicts)
	}
}

// keptMetadata is the number of keys that the metadata of a merged metric takes from its sources, those that contradict included.
const keptMetadata = 64

// describe joins what a group says beside its identity, once. The order of the groups does not count.
func (b *Batch) describe(m *metric, g *Group) {
	if g.described == m {
		return
	}
	g.described = m
	if !m.described {
		m.described = true
		m.resource, m.scope = pcommon.NewResource(), pcommon.NewInstrumentationScope()
		g.Resource.CopyTo(m.resource)
		g.Scope.CopyTo(m.scope)
		m.resourceSchema, m.scopeSchema = g.ResourceSchema, g.ScopeSchema
		m.empty = pmetric.NewMetric()
		identify(g.Metric, m.empty)
		m.empty.SetDescription(g.Metric.Description())
	} else if d, old := g.Metric.Description(), m.empty.Description(); d != old && betterDescription(old, d) {
		m.empty.SetDescription(d)
	}
	m.resourceSchema = max(m.resourceSchema, g.ResourceSchema)
	m.scopeSchema = max(m.scopeSchema, g.ScopeSchema)
	b.joinMetadata(m, g.Metric.Metadata())
}

// betterDescription prefers the longer text, as the data model recommends, and the smaller one of the same length.
func betterDescription(old, text string) bool {
	return len(text) > len(old) || (len(text) == len(old) && text < old)
}

// joinMetadata takes the union, as far as there is room. A key with two values says nothing about the merged metric and goes for good.
func (b *Batch) joinMetadata(m *metric, other pcommon.Map) {
	mine := m.empty.Metadata()
	for key, value := range other.All() {
		if _, conflict := m.conflicts[key]; conflict {
			b.Counts.add(&b.Counts.Conflicted)
			continue
		}
		known, there := mine.Get(key)
		switch {
		case !there && mine.Len()+len(m.conflicts) >= keptMetadata:
			b.Counts.add(&b.Counts.Metadata)
		case !there:
			value.CopyTo(mine.PutEmpty(key))
		case !known.Equal(value):
			if m.conflicts == nil {
				m.conflicts = map[string]struct{}{}
			}
			m.conflicts[key] = struct{}{}
			mine.Remove(key)
			b.Counts.add(&b.Counts.Conflicted)
		}
	}
}

// identify gives a metric the identity of another, without its points.
func identify(from, to pmetric.Metric) {
	to.SetName(from.Name())
	to.SetUnit(from.Unit())
	temporality, monotonic := temporalityOf(from)
	switch from.Type() {
	case pmetric.MetricTypeGauge:
		to.SetEmptyGauge()
	case pmetric.MetricTypeSum:
		to.SetEmptySum().SetAggregationTemporality(temporality)
		to.Sum().SetIsMonotonic(monotonic)
	case pmetric.MetricTypeHistogram:
		to.SetEmptyHistogram().SetAggregationTemporality(temporality)
	case pmetric.MetricTypeExponentialHistogram:
		to.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
	case pmetric.MetricTypeSummary:
		to.SetEmptySummary()
	}
}

// attributes gives the attributes of a point.
func (b *Batch) attributes(g *Group, it *item) pcommon.Map {
	at := int(it.index)
	switch g.Metric.Type() {
	case pmetric.MetricTypeHistogram:
		return g.Metric.Histogram().DataPoints().At(at).Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		return g.Metric.ExponentialHistogram().DataPoints().At(at).Attributes()
	case pmetric.MetricTypeSummary:
		return g.Metric.Summary().DataPoints().At(at).Attributes()
	default:
		return Numbers(g.Metric).At(at).Attributes()
	}
}

// sharedBounds gives the metric's own copy of a layout, so that the sources of one layout share it.
func (m *metric) sharedBounds(bounds []float64) []float64 {
	for _, known := range m.bounds {
		if slices.Equal(known, bounds) {
			return known
		}
	}
	own := slices.Clone(bounds)
	if len(m.bounds) < 16 {
		m.bounds = append(m.bounds, own)
	}
	return own
}
