package metadata

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Telemetry is the component's instruments.
type Telemetry struct {
	AttributesRemoved metric.Int64Counter
	PointsMerged      metric.Int64Counter
	PointsDropped     metric.Int64Counter
	ExemplarsDropped  metric.Int64Counter

	processor attribute.KeyValue
}

// NewTelemetry makes the instruments; their values carry the processor's id.
func NewTelemetry(set component.TelemetrySettings, id component.ID) (*Telemetry, error) {
	meter := set.MeterProvider.Meter(ScopeName)
	var errs []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	t := &Telemetry{
		processor: attribute.String("processor", id.String()),
		AttributesRemoved: counter("otelcol_cardinality_guard_attributes_removed", "{attribute}",
			"Forbidden attributes that were removed, by the level they were on and the forbidden concept"),
		PointsMerged: counter("otelcol_cardinality_guard_points_merged", "{point}",
			"Points that became part of another point because a removal made them identical"),
		PointsDropped: counter("otelcol_cardinality_guard_points_dropped", "{point}",
			"Points that were dropped"),
		ExemplarsDropped: counter("otelcol_cardinality_guard_exemplars_dropped", "{exemplar}",
			"Exemplars of a merged point that were dropped"),
	}
	return t, errors.Join(errs...)
}

// With is the processor's id and further attributes.
func (t *Telemetry) With(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, t.processor)...))
}
