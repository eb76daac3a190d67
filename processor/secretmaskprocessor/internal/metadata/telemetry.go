package metadata

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Telemetry is the component's instruments.
type Telemetry struct {
	MaskedValues  metric.Int64Counter
	OmittedValues metric.Int64Counter

	with metric.MeasurementOption
}

// NewTelemetry makes the instruments.
func NewTelemetry(set component.TelemetrySettings, id component.ID) (*Telemetry, error) {
	meter := set.MeterProvider.Meter(ScopeName)
	var errs [2]error
	t := &Telemetry{with: metric.WithAttributeSet(attribute.NewSet(attribute.String("processor", id.String())))}
	t.MaskedValues, errs[0] = meter.Int64Counter("otelcol_secret_mask_masked_values", metric.WithUnit("{value}"),
		metric.WithDescription("Secrets that were replaced by ***"))
	t.OmittedValues, errs[1] = meter.Int64Counter("otelcol_secret_mask_omitted_values", metric.WithUnit("{value}"),
		metric.WithDescription("Values that were removed because their name is on the list of omitted ones"))
	return t, errors.Join(errs[:]...)
}

// Self is the processor's id.
func (t *Telemetry) Self() metric.MeasurementOption { return t.with }
