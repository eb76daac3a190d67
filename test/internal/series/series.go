// Package series turns metrics into the flat set of series that a backend such as Netdata tells apart.
package series

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Identity is everything that makes a series of its own; times and values are not part of it.
type Identity struct {
	Resource          map[string]any
	ResourceSchemaURL string
	Scope             string
	ScopeVersion      string
	ScopeAttributes   map[string]any
	ScopeSchemaURL    string
	Name              string
	Description       string
	Unit              string
	Type              string
	Temporality       string
	Monotonic         bool
	Bounds            []float64
	Attributes        map[string]any
}

// Key is the identity as one comparable line.
func (i Identity) Key() string {
	line, err := json.Marshal(i) // maps are written with sorted keys
	if err != nil {
		return fmt.Sprintf("%#v: %v", i, err)
	}
	return string(line)
}

// Point is one data point of a series.
type Point struct {
	Identity
	// Value is the number of a gauge or sum, else the sum and count of a distribution.
	Value     string
	Time      pcommon.Timestamp
	Start     pcommon.Timestamp
	Exemplars []pmetric.Exemplar
}

// Points flattens metrics in order.
func Points(all ...pmetric.Metrics) []Point {
	var out []Point
	for _, md := range all {
		for _, rm := range md.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					out = appendPoints(out, Identity{
						Resource: rm.Resource().Attributes().AsRaw(), ResourceSchemaURL: rm.SchemaUrl(),
						Scope: sm.Scope().Name(), ScopeVersion: sm.Scope().Version(),
						ScopeAttributes: sm.Scope().Attributes().AsRaw(), ScopeSchemaURL: sm.SchemaUrl(),
						Name: m.Name(), Description: m.Description(), Unit: m.Unit(), Type: m.Type().String(),
					}, m)
				}
			}
		}
	}
	return out
}

func appendPoints(out []Point, id Identity, m pmetric.Metric) []Point {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			out = append(out, number(id, p))
		}
	case pmetric.MetricTypeSum:
		id.Temporality, id.Monotonic = m.Sum().AggregationTemporality().String(), m.Sum().IsMonotonic()
		for _, p := range m.Sum().DataPoints().All() {
			out = append(out, number(id, p))
		}
	case pmetric.MetricTypeHistogram:
		id.Temporality = m.Histogram().AggregationTemporality().String()
		for _, p := range m.Histogram().DataPoints().All() {
			id.Bounds = p.ExplicitBounds().AsRaw()
			out = append(out, distribution(id, p, p.Sum(), p.Count(), p.Exemplars()))
		}
	case pmetric.MetricTypeExponentialHistogram:
		id.Temporality = m.ExponentialHistogram().AggregationTemporality().String()
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			out = append(out, distribution(id, p, p.Sum(), p.Count(), p.Exemplars()))
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			out = append(out, distribution(id, p, p.Sum(), p.Count(), pmetric.NewExemplarSlice()))
		}
	case pmetric.MetricTypeEmpty:
		out = append(out, Point{Identity: id})
	}
	return out
}

func number(id Identity, p pmetric.NumberDataPoint) Point {
	id.Attributes = p.Attributes().AsRaw()
	value := strconv.FormatFloat(p.DoubleValue(), 'g', -1, 64)
	if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
		value = strconv.FormatInt(p.IntValue(), 10)
	}
	return Point{Identity: id, Value: value, Time: p.Timestamp(), Start: p.StartTimestamp(), Exemplars: exemplars(p.Exemplars())}
}

type distributionPoint interface {
	Attributes() pcommon.Map
	Timestamp() pcommon.Timestamp
	StartTimestamp() pcommon.Timestamp
}

func distribution(id Identity, p distributionPoint, sum float64, count uint64, ex pmetric.ExemplarSlice) Point {
	id.Attributes = p.Attributes().AsRaw()
	return Point{
		Identity: id, Value: fmt.Sprintf("sum %g count %d", sum, count),
		Time: p.Timestamp(), Start: p.StartTimestamp(), Exemplars: exemplars(ex),
	}
}

func exemplars(all pmetric.ExemplarSlice) []pmetric.Exemplar {
	var out []pmetric.Exemplar
	for _, e := range all.All() {
		out = append(out, e)
	}
	return out
}

// Keys is the sorted set of identities, after change has edited each; a nil change keeps them as they are.
func Keys(points []Point, change func(*Identity)) []string {
	set := map[string]bool{}
	for _, p := range points {
		id := p.Identity
		if change != nil {
			change(&id)
		}
		set[id.Key()] = true
	}
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
