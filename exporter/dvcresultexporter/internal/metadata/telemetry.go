package metadata

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// TelemetryBuilder holds the instruments that metadata.yaml declares. Their values carry the exporter's id: add them with
// Self, or With and a further attribute.
type TelemetryBuilder struct {
	Records            metric.Int64Counter
	IgnoredRecords     metric.Int64Counter
	MaskedValues       metric.Int64Counter
	ReplacedValues     metric.Int64Counter
	WrittenResults     metric.Int64Counter
	KeptResults        metric.Int64Counter
	PartialResults     metric.Int64Counter
	WriteErrors        metric.Int64Counter
	StorageErrors      metric.Int64Counter
	DroppedRuns        metric.Int64Counter
	ThinnedRuns        metric.Int64Counter
	GPUReadings        metric.Int64Counter
	IgnoredGPUReadings metric.Int64Counter
	Digests            metric.Int64Counter
	Runs               metric.Int64ObservableGauge
	StateSize          metric.Int64ObservableGauge

	exporter attribute.KeyValue
	self     metric.MeasurementOption
	meter    metric.Meter
	mu       sync.Mutex
	regs     []metric.Registration
}

// NewTelemetryBuilder creates the instruments of the exporter with this id.
func NewTelemetryBuilder(settings component.TelemetrySettings, id component.ID) (*TelemetryBuilder, error) {
	b := &TelemetryBuilder{meter: settings.MeterProvider.Meter(ScopeName), exporter: attribute.String("exporter", id.String())}
	b.self = metric.WithAttributeSet(attribute.NewSet(b.exporter))
	var errs error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := b.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = errors.Join(errs, err)
		return c
	}
	gauge := func(name, unit, description string) metric.Int64ObservableGauge {
		g, err := b.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = errors.Join(errs, err)
		return g
	}
	b.Records = counter("otelcol_dvc_result_records", "{record}", "Training records that became part of a run's state.")
	b.IgnoredRecords = counter("otelcol_dvc_result_ignored_records", "{record}", "Log records that changed no run's state.")
	b.MaskedValues = counter("otelcol_dvc_result_masked_values", "{value}", "Values of taken records that were masked because they look like secrets.")
	b.ReplacedValues = counter("otelcol_dvc_result_replaced_values", "{value}", "Values of taken records that are not in the state as they came, because they are not of their type or range or beyond a bound.")
	b.WrittenResults = counter("otelcol_dvc_result_written_results", "{result}", "Results of which at least one file was written.")
	b.KeptResults = counter("otelcol_dvc_result_kept_results", "{result}", "Results that were not written because the one on disk rests on more records, or says more of the same ones.")
	b.PartialResults = counter("otelcol_dvc_result_partial_results", "{result}", "Results that were written of a run of which the beginning of a stream is missing.")
	b.WriteErrors = counter("otelcol_dvc_result_write_errors", "{error}", "Attempts to write a result that failed; they are repeated.")
	b.StorageErrors = counter("otelcol_dvc_result_storage_errors", "{error}", "Operations of the storage extension that failed, and stored values that are damaged.")
	b.DroppedRuns = counter("otelcol_dvc_result_dropped_runs", "{run}", "Runs whose state was given up to stay within a limit.")
	b.ThinnedRuns = counter("otelcol_dvc_result_thinned_runs", "{run}", "Runs whose curves lost points to stay within max_state_bytes.")
	b.GPUReadings = counter("otelcol_dvc_result_gpu_readings", "{reading}", "Readings of GPUs that were taken; a reading is what one scrape says of one GPU.")
	b.IgnoredGPUReadings = counter("otelcol_dvc_result_ignored_gpu_readings", "{reading}", "Readings of GPUs that were of no use.")
	b.Digests = counter("otelcol_dvc_result_digests", "{file}", "Files and folders of runs that were to be read for their digests.")
	b.Runs = gauge("otelcol_dvc_result_runs", "{run}", "Runs that are known now.")
	b.StateSize = gauge("otelcol_dvc_result_state_size", "By", "Estimated memory that the state of runs takes.")
	return b, errs
}

// Self is the exporter's id.
func (b *TelemetryBuilder) Self() metric.MeasurementOption { return b.self }

// With is the exporter's id and one more attribute.
func (b *TelemetryBuilder) With(key, value string) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(b.exporter, attribute.String(key, value)))
}

// Observe has the gauges observed until Shutdown.
func (b *TelemetryBuilder) Observe(observe func(runs func(state string, n int64), size func(bytes int64))) error {
	r, err := b.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		observe(func(state string, n int64) { o.ObserveInt64(b.Runs, n, b.With("state", state)) },
			func(bytes int64) { o.ObserveInt64(b.StateSize, bytes, b.self) })
		return nil
	}, b.Runs, b.StateSize)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.regs = append(b.regs, r)
	return nil
}

// Shutdown ends the observations.
func (b *TelemetryBuilder) Shutdown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.regs {
		_ = r.Unregister() // it has no error that anyone could act on
	}
	b.regs = nil
}
