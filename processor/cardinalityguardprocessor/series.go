package cardinalityguardprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// series is the identity of a metric after the removal, with the metrics of the batch that give points to its merged
// ones. With one such metric the merged points stay in it. With several they move to a metric of their own, so that the
// description and the metadata of points that pass untouched do not change.
type series struct {
	host        int32 // the object whose resource and scope take the merged points
	objects     int   // that contribute
	description string
	metadata    pcommon.Map
	conflicts   map[string]struct{}
	result      pmetric.Metric // when objects > 1, once a point was added
	made        bool
}

// add joins what a contributing metric says beside its identity.
func (s *series) add(t *table, n int32) {
	o := &t.objects[n]
	s.objects++
	if s.objects == 1 {
		s.host, s.description = n, o.metric.Description()
		return
	}
	if s.objects == 2 {
		s.metadata = pcommon.NewMap()
		t.objects[s.host].metric.Metadata().CopyTo(s.metadata)
	}
	s.description = betterDescription(s.description, o.metric.Description())
	s.joinMetadata(o.metric.Metadata())
	if o.schema().after(t.objects[s.host].schema()) {
		s.host = n
	}
}

// betterDescription takes the longer text, as the data model recommends, and the smaller one of the same length.
func betterDescription(a, b string) string {
	if len(b) > len(a) || (len(b) == len(a) && b < a) {
		return b
	}
	return a
}

// joinMetadata takes the union. A key with two values says nothing about the merged metric and goes.
func (s *series) joinMetadata(other pcommon.Map) {
	for key, value := range other.All() {
		if _, conflict := s.conflicts[key]; conflict {
			continue
		}
		mine, known := s.metadata.Get(key)
		switch {
		case !known:
			value.CopyTo(s.metadata.PutEmpty(key))
		case !mine.Equal(value):
			if s.conflicts == nil {
				s.conflicts = map[string]struct{}{}
			}
			s.conflicts[key] = struct{}{}
			s.metadata.Remove(key)
		}
	}
}

// schema is the pair of schema URLs that a metric is under.
type schema struct{ resource, scope string }

func (o *object) schema() schema { return schema{o.resourceSchema, o.scope.SchemaUrl()} }

// after orders schemas so that the choice of a host does not depend on the order in the batch.
func (s schema) after(other schema) bool {
	if c := strings.Compare(s.resource, other.resource); c != 0 {
		return c > 0
	}
	return s.scope > other.scope
}

// next gives an empty point of the metric that takes the merged points of several metrics.
func (s *series) next(t *table) pmetric.NumberDataPoint {
	if !s.made {
		s.made = true
		host := &t.objects[s.host]
		if t.added == nil {
			t.added = map[pmetric.ScopeMetrics]pmetric.MetricSlice{}
		}
		if _, some := t.added[host.scope]; !some {
			t.added[host.scope] = pmetric.NewMetricSlice()
		}
		s.result = t.added[host.scope].AppendEmpty()
		describe(host.metric, s.result)
		s.result.SetDescription(s.description)
		s.metadata.MoveTo(s.result.Metadata())
	}
	return numbers(s.result).AppendEmpty()
}

// describe gives a metric the identity of another gauge or sum, without its points.
func describe(from, to pmetric.Metric) {
	to.SetName(from.Name())
	to.SetUnit(from.Unit())
	if from.Type() == pmetric.MetricTypeGauge {
		to.SetEmptyGauge()
		return
	}
	sum := to.SetEmptySum()
	sum.SetAggregationTemporality(from.Sum().AggregationTemporality())
	sum.SetIsMonotonic(from.Sum().IsMonotonic())
}
