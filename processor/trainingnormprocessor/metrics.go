package trainingnormprocessor

import (
	"context"
	"iter"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

// metricNormalizer adds the vocabulary's attributes to data points. It only adds, and only values of the lists, so that no two
// points become one; what may not be on metrics is the guard's.
type metricNormalizer struct {
	set       *trainprofile.Set
	namer     *namer
	mappers   sync.Pool
	telemetry *metadata.Telemetry
}

func newMetricNormalizer(cfg *Config, set processor.Settings) (*metricNormalizer, error) {
	profiles, err := cfg.profiles()
	if err != nil {
		return nil, err
	}
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	n := &metricNormalizer{set: profiles, namer: newNamer(cfg), telemetry: telemetry}
	n.mappers.New = func() any { return trainprofile.NewMapper(nil) }
	return n, nil
}

func (n *metricNormalizer) processMetrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	m := n.mappers.Get().(*trainprofile.Mapper)
	defer n.mappers.Put(m)
	mapped := int64(0)
	for _, rm := range md.ResourceMetrics().All() {
		resource := rm.Resource().Attributes()
		n.namer.read(resource)
		if !m.Concerns(n.set, resource) {
			resource = nothing
		}
		for _, sm := range rm.ScopeMetrics().All() {
			n.namer.readScope(sm.Scope())
			it := trainprofile.Item{Resource: resource, Scope: sm.Scope().Name()}
			for _, metric := range sm.Metrics().All() {
				it.Name = metric.Name()
				for attrs := range points(metric) {
					it.Attributes = attrs
					n.namer.read(attrs)
					out := m.MapAttributes(n.set, trainprofile.SignalMetric, it)
					mapped += int64(out.Set)
					for _, e := range out.Errors {
						n.telemetry.FieldErrors.Add(ctx, 1, n.telemetry.With(attribute.String("profile", e.Profile), attribute.String("reason", e.Reason)))
					}
				}
			}
		}
		n.name(rm)
	}
	if mapped > 0 {
		n.telemetry.AttributesMapped.Add(ctx, mapped, n.telemetry.With())
	}
	return md, nil
}

// name writes the names of the resource's points, when nothing looks at them any more.
func (n *metricNormalizer) name(rm pmetric.ResourceMetrics) {
	if n.namer == nil {
		return
	}
	n.namer.write(rm.Resource().Attributes())
	n.namer.writeSchema(rm)
	for _, sm := range rm.ScopeMetrics().All() {
		n.namer.writeScope(sm, sm.Scope())
		for _, metric := range sm.Metrics().All() {
			for attrs := range points(metric) {
				n.namer.write(attrs)
			}
		}
	}
}

// points gives the attributes of each data point.
func points(m pmetric.Metric) iter.Seq[pcommon.Map] {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return attributesOf(m.Gauge().DataPoints().All())
	case pmetric.MetricTypeSum:
		return attributesOf(m.Sum().DataPoints().All())
	case pmetric.MetricTypeHistogram:
		return attributesOf(m.Histogram().DataPoints().All())
	case pmetric.MetricTypeExponentialHistogram:
		return attributesOf(m.ExponentialHistogram().DataPoints().All())
	case pmetric.MetricTypeSummary:
		return attributesOf(m.Summary().DataPoints().All())
	default:
		return func(func(pcommon.Map) bool) {}
	}
}

func attributesOf[P interface{ Attributes() pcommon.Map }](all iter.Seq2[int, P]) iter.Seq[pcommon.Map] {
	return func(yield func(pcommon.Map) bool) {
		for _, p := range all {
			if !yield(p.Attributes()) {
				return
			}
		}
	}
}
