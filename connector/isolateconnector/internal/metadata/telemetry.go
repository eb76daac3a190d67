package metadata

import (
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
)

// TelemetryBuilder holds the instruments that metadata.yaml declares.
type TelemetryBuilder struct {
	IsolateDroppedItems  metric.Int64Counter
	IsolateSentItems     metric.Int64Counter
	IsolateRetries       metric.Int64Counter
	IsolateQueueSize     metric.Int64ObservableGauge
	IsolateQueueCapacity metric.Int64ObservableGauge

	meter         metric.Meter
	mu            sync.Mutex
	registrations []metric.Registration
}

// NewTelemetryBuilder creates the instruments.
func NewTelemetryBuilder(settings component.TelemetrySettings) (*TelemetryBuilder, error) {
	b := &TelemetryBuilder{meter: settings.MeterProvider.Meter(ScopeName)}
	var errs [5]error
	b.IsolateDroppedItems, errs[0] = b.meter.Int64Counter(
		"otelcol_isolate_dropped_items",
		metric.WithDescription("Log records, spans and data points that were not delivered."),
		metric.WithUnit("{item}"),
	)
	b.IsolateSentItems, errs[1] = b.meter.Int64Counter(
		"otelcol_isolate_sent_items",
		metric.WithDescription("Log records, spans and data points that the next consumer took."),
		metric.WithUnit("{item}"),
	)
	b.IsolateRetries, errs[2] = b.meter.Int64Counter(
		"otelcol_isolate_retries",
		metric.WithDescription("Calls that offered a batch again after the next consumer had refused it."),
		metric.WithUnit("{call}"),
	)
	b.IsolateQueueSize, errs[3] = b.meter.Int64ObservableGauge(
		"otelcol_isolate_queue_size",
		metric.WithDescription("Bytes held, the batch in delivery included."),
		metric.WithUnit("By"),
	)
	b.IsolateQueueCapacity, errs[4] = b.meter.Int64ObservableGauge(
		"otelcol_isolate_queue_capacity",
		metric.WithDescription("Bytes that may be held: max_bytes."),
		metric.WithUnit("By"),
	)
	return b, errors.Join(errs[:]...)
}

// RegisterIsolateQueueSizeCallback has the queue's size observed until Shutdown.
func (b *TelemetryBuilder) RegisterIsolateQueueSizeCallback(observe metric.Int64Callback) error {
	return b.register(b.IsolateQueueSize, observe)
}

// RegisterIsolateQueueCapacityCallback has the queue's capacity observed until Shutdown.
func (b *TelemetryBuilder) RegisterIsolateQueueCapacityCallback(observe metric.Int64Callback) error {
	return b.register(b.IsolateQueueCapacity, observe)
}

// Shutdown ends the observations.
func (b *TelemetryBuilder) Shutdown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.registrations {
		_ = r.Unregister() // it has no error that anyone could act on
	}
	b.registrations = nil
}
