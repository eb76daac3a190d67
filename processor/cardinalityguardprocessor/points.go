package cardinalityguardprocessor

import (
	"math"
	"strings"

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

// handling is what the guard does with the points of a metric that a removal touched.
type handling uint8

const (
	dropped    handling = iota // the result needs more than one batch
	mergeDelta                 // delta sums add
	mergeGauge                 // the last value counts
	oneWriter                  // nothing merges: one source writes the series, whatever was removed
)

// singleWriter lists the prefixes of metrics that one hardware source writes while labels of the workload on it change.
var singleWriter = [...]string{"DCGM_FI_", "DCGM_EXP_"}

func handlingOf(m pmetric.Metric) handling {
	for _, prefix := range singleWriter {
		if strings.HasPrefix(m.Name(), prefix) {
			return oneWriter
		}
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return mergeGauge
	case pmetric.MetricTypeSum:
		if m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityDelta {
			return mergeDelta
		}
	}
	return dropped
}

// temporality gives the temporality and monotonicity of a metric, which belong to its identity.
func temporality(m pmetric.Metric) (pmetric.AggregationTemporality, bool) {
	switch m.Type() {
	case pmetric.MetricTypeSum:
		return m.Sum().AggregationTemporality(), m.Sum().IsMonotonic()
	case pmetric.MetricTypeHistogram:
		return m.Histogram().AggregationTemporality(), false
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().AggregationTemporality(), false
	default:
		return pmetric.AggregationTemporalityUnspecified, false
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
