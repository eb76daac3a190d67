package metadata

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Telemetry is the component's instruments.
type Telemetry struct {
	points, values, forgotten, masked, storageErrors metric.Int64Counter

	id           attribute.KeyValue
	registration metric.Registration
}

// NewTelemetry makes the instruments; their values carry the connector's id. rows is observed until Shutdown.
func NewTelemetry(set component.TelemetrySettings, id component.ID, rows func() int64) (*Telemetry, error) {
	meter := set.MeterProvider.Meter(ScopeName)
	t := &Telemetry{id: attribute.String("connector", id.String())}
	var errs [7]error
	t.points, errs[0] = meter.Int64Counter("otelcol_training_records_points", metric.WithUnit("{point}"),
		metric.WithDescription("Points of gauges that a profile reads."))
	t.values, errs[1] = meter.Int64Counter("otelcol_training_records_values", metric.WithUnit("{value}"),
		metric.WithDescription("Values of learning curves."))
	t.forgotten, errs[2] = meter.Int64Counter("otelcol_training_records_rows_forgotten", metric.WithUnit("{row}"),
		metric.WithDescription("Kinds of rows that were forgotten because there were too many."))
	t.masked, errs[6] = meter.Int64Counter("otelcol_training_records_masked_values", metric.WithUnit("{value}"),
		metric.WithDescription("Values of resources that were masked because they look like secrets and the row of gauges is kept."))
	t.storageErrors, errs[5] = meter.Int64Counter("otelcol_training_records_storage_errors", metric.WithUnit("{error}"),
		metric.WithDescription("Operations of the storage that failed, and values of it that could not be read."))
	var gauge metric.Int64ObservableGauge
	gauge, errs[3] = meter.Int64ObservableGauge("otelcol_training_records_rows", metric.WithUnit("{row}"),
		metric.WithDescription("Kinds of rows that are remembered."))
	t.registration, errs[4] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(gauge, rows(), t.with())
		return nil
	}, gauge)
	return t, errors.Join(errs[:]...)
}

// Begin makes every series visible at zero: a series that is missing looks like a healthy zero.
func (t *Telemetry) Begin(points, values, reasons []string) {
	ctx := context.Background()
	for _, result := range points {
		t.points.Add(ctx, 0, t.with(attribute.String("result", result)))
	}
	for _, result := range values {
		t.values.Add(ctx, 0, t.with(attribute.String("result", result)))
	}
	for _, reason := range reasons {
		t.storageErrors.Add(ctx, 0, t.with(attribute.String("reason", reason)))
	}
	t.forgotten.Add(ctx, 0, t.with())
	t.masked.Add(ctx, 0, t.with())
}

// Count adds what a batch gave, by result.
func (t *Telemetry) Count(ctx context.Context, points, values map[string]int, forgotten int, masked int64) {
	for result, n := range points {
		t.points.Add(ctx, int64(n), t.with(attribute.String("result", result)))
	}
	for result, n := range values {
		t.values.Add(ctx, int64(n), t.with(attribute.String("result", result)))
	}
	if forgotten > 0 {
		t.forgotten.Add(ctx, int64(forgotten), t.with())
	}
	if masked > 0 {
		t.masked.Add(ctx, masked, t.with())
	}
}

// StorageError counts one.
func (t *Telemetry) StorageError(ctx context.Context, reason string) {
	t.storageErrors.Add(ctx, 1, t.with(attribute.String("reason", reason)))
}

// Shutdown ends the observation.
func (t *Telemetry) Shutdown() { _ = t.registration.Unregister() } // it has no error that anyone could act on

func (t *Telemetry) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, t.id)...))
}
