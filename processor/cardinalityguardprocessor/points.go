package cardinalityguardprocessor

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// dataPoint is what every kind of point has.
type dataPoint interface {
	Attributes() pcommon.Map
	Timestamp() pcommon.Timestamp
	Flags() pmetric.DataPointFlags
}

// sampled is a point with exemplars; summaries have none.
type sampled interface {
	dataPoint
	Exemplars() pmetric.ExemplarSlice
}

// pointSlice is pdata's slice of one kind of points.
type pointSlice[P dataPoint] interface {
	Len() int
	At(i int) P
	RemoveIf(f func(P) bool)
}

// staleNaN is the bit pattern of Prometheus' staleness marker.
const staleNaN = 0x7ff0000000000002

// hasValue says whether a number point carries a value: no staleness marker, no empty point.
func hasValue(p pmetric.NumberDataPoint) bool {
	if p.Flags().NoRecordedValue() {
		return false
	}
	switch p.ValueType() {
	case pmetric.NumberDataPointValueTypeInt:
		return true
	case pmetric.NumberDataPointValueTypeDouble:
		return math.Float64bits(p.DoubleValue()) != staleNaN
	default:
		return false
	}
}

// numbers gives the points of a gauge or a sum.
func numbers(m pmetric.Metric) pmetric.NumberDataPointSlice {
	if m.Type() == pmetric.MetricTypeSum {
		return m.Sum().DataPoints()
	}
	return m.Gauge().DataPoints()
}

// pointCount gives the number of points of a metric.
func pointCount(m pmetric.Metric) int {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		return numbers(m).Len()
	case pmetric.MetricTypeHistogram:
		return m.Histogram().DataPoints().Len()
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().DataPoints().Len()
	case pmetric.MetricTypeSummary:
		return m.Summary().DataPoints().Len()
	default:
		return 0
	}
}

// eachExemplars visits the exemplars of every point of a metric.
func eachExemplars(m pmetric.Metric, visit func(pmetric.ExemplarSlice)) {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		for _, p := range numbers(m).All() {
			visit(p.Exemplars())
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			visit(p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			visit(p.Exemplars())
		}
	}
}
