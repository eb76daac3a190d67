package cardinalityguardprocessor

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
)

// flatPoint is a point with all that tells it from others, independent of how points are grouped and attributes ordered.
type flatPoint struct {
	series    string // what a backend takes for the identity
	metadata  string
	time      pcommon.Timestamp
	start     pcommon.Timestamp
	value     string
	exemplars []string
}

// set writes a map as a set: fmt sorts the keys of Go maps at every depth.
func set(m pcommon.Map) string { return fmt.Sprintf("%#v", m.AsRaw()) }

// flatten lists the points of a batch, sorted.
func flatten(md pmetric.Metrics) []flatPoint {
	var out []flatPoint
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				temporality, monotonic := temporalityOf(m)
				series := fmt.Sprint(set(rm.Resource().Attributes()), "|", sm.Scope().Name(), "|", sm.Scope().Version(), "|",
					set(sm.Scope().Attributes()), "|", m.Name(), "|", m.Unit(), "|", m.Type(), "|", temporality, "|", monotonic, "|")
				for _, p := range flattenPoints(m) {
					p.series = series + p.series
					p.metadata = set(m.Metadata())
					out = append(out, p)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b flatPoint) int {
		return slices.Compare([]string{a.series, fmt.Sprint(a)}, []string{b.series, fmt.Sprint(b)})
	})
	return out
}

func flattenPoints(m pmetric.Metric) []flatPoint {
	var out []flatPoint
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		for _, p := range numbers(m).All() {
			value := fmt.Sprint(p.ValueType(), p.IntValue(), p.DoubleValue(), p.Flags())
			out = append(out, flatPoint{series: set(p.Attributes()), time: p.Timestamp(), start: p.StartTimestamp(), value: value, exemplars: flattenExemplars(p.Exemplars())})
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			value := fmt.Sprint(p.Count(), p.Sum(), p.HasMin(), p.ExplicitBounds().AsRaw(), p.BucketCounts().AsRaw(), p.Flags())
			out = append(out, flatPoint{series: set(p.Attributes()), time: p.Timestamp(), start: p.StartTimestamp(), value: value, exemplars: flattenExemplars(p.Exemplars())})
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			value := fmt.Sprint(p.Count(), p.Sum(), p.Scale(), p.Positive().Offset(), p.Positive().BucketCounts().AsRaw(), p.Flags())
			out = append(out, flatPoint{series: set(p.Attributes()), time: p.Timestamp(), start: p.StartTimestamp(), value: value, exemplars: flattenExemplars(p.Exemplars())})
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			value := fmt.Sprint(p.Count(), p.Sum(), p.QuantileValues().Len(), p.Flags())
			out = append(out, flatPoint{series: set(p.Attributes()), time: p.Timestamp(), start: p.StartTimestamp(), value: value})
		}
	}
	return out
}

func flattenExemplars(exemplars pmetric.ExemplarSlice) []string {
	var out []string
	for _, e := range exemplars.All() {
		out = append(out, fmt.Sprint(e.Timestamp(), e.ValueType(), e.IntValue(), e.DoubleValue(), e.TraceID(), e.SpanID(), set(e.FilteredAttributes())))
	}
	slices.Sort(out)
	return out
}

// start makes a started guard with its self-metrics and what comes out of it.
func start(t testing.TB) (processor.Metrics, *componenttest.Telemetry, *consumertest.MetricsSink) {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.WithoutCancel(t.Context()))) })
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	sink := &consumertest.MetricsSink{}
	p, err := NewFactory().CreateMetrics(t.Context(), set, createDefaultConfig(), sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, p.Shutdown(context.WithoutCancel(t.Context()))) })
	return p, tel, sink
}

var _ component.Config = (*Config)(nil)

// marshal gives the bytes of a batch.
func marshal(t require.TestingT, md pmetric.Metrics) string {
	out, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(md)
	require.NoError(t, err)
	return string(out)
}

func clone(md pmetric.Metrics) pmetric.Metrics {
	out := pmetric.NewMetrics()
	md.CopyTo(out)
	return out
}

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
