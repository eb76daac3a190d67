package metadata

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

// register observes one gauge with one callback.
func (b *TelemetryBuilder) register(gauge metric.Int64ObservableGauge, observe metric.Int64Callback) error {
	r, err := b.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		return observe(ctx, gaugeObserver{observer: o, gauge: gauge})
	}, gauge)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.registrations = append(b.registrations, r)
	return nil
}

// gaugeObserver lets a callback for one gauge use the observer that serves many.
type gaugeObserver struct {
	metric.Int64Observer

	observer metric.Observer
	gauge    metric.Int64Observable
}

// Observe records the value for the gauge.
func (g gaugeObserver) Observe(value int64, opts ...metric.ObserveOption) {
	g.observer.ObserveInt64(g.gauge, value, opts...)
}
