package merge

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Kind is how the points of a metric merge.
type Kind uint8

// Kinds of metrics.
const (
	Unsupported Kind = iota // no type, or no temporality
	Gauge
	Sum    // cumulative, monotonic
	UpDown // cumulative, not monotonic
	DeltaSum
	Histogram // cumulative
	DeltaHistogram
	Exponential // cumulative
	DeltaExponential
	Summary
)

// KindOf says how a metric merges.
func KindOf(m pmetric.Metric) Kind {
	temporality, monotonic := temporalityOf(m)
	delta := temporality == pmetric.AggregationTemporalityDelta
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return Gauge
	case pmetric.MetricTypeSummary:
		return Summary
	}
	if temporality == pmetric.AggregationTemporalityUnspecified {
		return Unsupported
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		switch {
		case delta:
			return DeltaSum
		case monotonic:
			return Sum
		}
		return UpDown
	case pmetric.MetricTypeHistogram:
		if delta {
			return DeltaHistogram
		}
		return Histogram
	case pmetric.MetricTypeExponentialHistogram:
		if delta {
			return DeltaExponential
		}
		return Exponential
	}
	return Unsupported
}

// Cumulative says whether a native series of this kind is remembered.
func (k Kind) Cumulative() bool {
	switch k {
	case Sum, UpDown, Histogram, Exponential, Summary:
		return true
	}
	return false
}

func (k Kind) delta() bool { return k == DeltaSum || k == DeltaHistogram || k == DeltaExponential }

// distribution says whether more than a number must be known of a source to go on with a cumulative series.
func (k Kind) distribution() bool { return k == Histogram || k == Exponential || k == Summary }

// overLive says whether the value is made of the last values of the live sources.
func (k Kind) overLive() bool { return k == Gauge || k == UpDown }

// temporalityOf gives the temporality and monotonicity of a metric, which belong to its identity.
func temporalityOf(m pmetric.Metric) (pmetric.AggregationTemporality, bool) {
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

// staleNaN is the bit pattern of Prometheus' staleness marker.
const staleNaN = 0x7ff0000000000002

func isStale(f float64) bool { return math.Float64bits(f) == staleNaN }

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
