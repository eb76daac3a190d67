package metadata

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
)

// TelemetryBuilder holds the instruments that metadata.yaml declares.
type TelemetryBuilder struct {
	Records        metric.Int64Counter
	IgnoredRecords metric.Int64Counter
	WrittenResults metric.Int64Counter
	KeptResults    metric.Int64Counter
	WriteErrors    metric.Int64Counter
	StorageErrors  metric.Int64Counter
	DroppedRuns    metric.Int64Counter
	Runs           metric.Int64ObservableGauge
	StateSize      metric.Int64ObservableGauge

	meter metric.Meter
	mu    sync.Mutex
	regs  []metric.Registration
}

// NewTelemetryBuilder creates the instruments.
func NewTelemetryBuilder(settings component.TelemetrySettings) (*TelemetryBuilder, error) {
	b := &TelemetryBuilder{meter: settings.MeterProvider.Meter(ScopeName)}
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
	b.WrittenResults = counter("otelcol_dvc_result_written_results", "{result}", "Results of which at least one file was written.")
	b.KeptResults = counter("otelcol_dvc_result_kept_results", "{result}", "Results that were not written because the one on disk rests on more records.")
	b.WriteErrors = counter("otelcol_dvc_result_write_errors", "{error}", "Attempts to write a result that failed; they are repeated.")
	b.StorageErrors = counter("otelcol_dvc_result_storage_errors", "{error}", "Operations of the storage extension that failed.")
	b.DroppedRuns = counter("otelcol_dvc_result_dropped_runs", "{run}", "Runs whose state was given up to stay within a limit.")
	b.Runs = gauge("otelcol_dvc_result_runs", "{run}", "Runs that are known now.")
	b.StateSize = gauge("otelcol_dvc_result_state_size", "By", "Estimated memory that the state of runs takes.")
	return b, errs
}

// Observe has the gauges observed until Shutdown.
func (b *TelemetryBuilder) Observe(observe func(runs, size func(value int64, opts ...metric.ObserveOption))) error {
	r, err := b.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		observe(func(value int64, opts ...metric.ObserveOption) { o.ObserveInt64(b.Runs, value, opts...) },
			func(value int64, opts ...metric.ObserveOption) { o.ObserveInt64(b.StateSize, value, opts...) })
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
