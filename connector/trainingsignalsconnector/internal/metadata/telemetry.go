package metadata

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// State is what is observed of a connector.
type State struct{ Running, Stalled, Closed, Series, PendingSpans int64 }

// Telemetry is the component's instruments.
type Telemetry struct {
	Records, LateEnds, Evicted, SamplesMismatch, GaugeAmbiguous metric.Int64Counter
	SpansSent, SpansDropped, SpansBackwards                     metric.Int64Counter
	FlushFailures, TicksSkipped, StorageErrors, ValuesReplaced  metric.Int64Counter

	flushDuration metric.Float64Histogram
	id            attribute.KeyValue
	registration  metric.Registration
}

const prefix = "otelcol_training_signals_"

// NewTelemetry makes the instruments; their values carry the connector's id. state is observed until Shutdown.
func NewTelemetry(set component.TelemetrySettings, id component.ID, state func() State) (*Telemetry, error) {
	meter := set.MeterProvider.Meter(ScopeName)
	t := &Telemetry{id: attribute.String("connector", id.String())}
	var errs []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(prefix+name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	t.Records = counter("records", "{record}", "Records that came in, by what became of them.")
	t.LateEnds = counter("late_ends", "{record}", "Ends of attempts that were over already.")
	t.Evicted = counter("evicted", "{run}", "Attempts that were given up because there were too many.")
	t.SamplesMismatch = counter("samples_mismatch", "{record}", "Epochs that reported fewer samples than their steps.")
	t.GaugeAmbiguous = counter("gauge_ambiguous", "{point}", "Points of the last completed epoch that were left out because more than one attempt or part would share them.")
	t.SpansSent = counter("spans_sent", "{span}", "Spans that the next consumer took.")
	t.SpansDropped = counter("spans_dropped", "{span}", "Spans that were left out.")
	t.SpansBackwards = counter("spans_backwards", "{span}", "Spans whose end was before their start; they have no length.")
	t.FlushFailures = counter("flush_failures", "{flush}", "Flushes that the next consumer refused.")
	t.TicksSkipped = counter("ticks_skipped", "{tick}", "Ticks at which nothing was sent because the one before was not done, or the clock went back.")
	t.StorageErrors = counter("storage_errors", "{error}", "Operations of the storage that failed, and values of it that could not be read.")
	t.ValuesReplaced = counter("values_replaced", "{value}", "Values that are not kept as they came: secrets, what is not on a closed list, and what is left out because it is not of its type or range.")
	var err error
	t.flushDuration, err = meter.Float64Histogram(prefix+"flush_duration", metric.WithUnit("s"), metric.WithDescription("Time of a flush, with the next consumer's."))
	errs = append(errs, err, t.observe(meter, state))
	return t, errors.Join(errs...)
}

func (t *Telemetry) observe(meter metric.Meter, state func() State) error {
	attempts, err1 := meter.Int64ObservableGauge(prefix+"attempts", metric.WithUnit("{run}"), metric.WithDescription("Attempts that are kept."))
	series, err2 := meter.Int64ObservableGauge(prefix+"series", metric.WithUnit("{series}"), metric.WithDescription("Series of derived metrics."))
	pending, err3 := meter.Int64ObservableGauge(prefix+"pending_spans", metric.WithUnit("{span}"), metric.WithDescription("Spans that wait to be sent."))
	var err4 error
	t.registration, err4 = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := state()
		for name, n := range map[string]int64{"running": s.Running, "stalled": s.Stalled, "closed": s.Closed} {
			o.ObserveInt64(attempts, n, t.with("state", name))
		}
		o.ObserveInt64(series, s.Series, t.with("", ""))
		o.ObserveInt64(pending, s.PendingSpans, t.with("", ""))
		return nil
	}, attempts, series, pending)
	return errors.Join(err1, err2, err3, err4)
}

// Begin makes every series visible at zero: a series that is missing looks like a healthy zero.
func (t *Telemetry) Begin(results, dropped, storage, replaced []string) {
	for _, v := range results {
		t.Add(t.Records, 0, "result", v)
	}
	for _, v := range dropped {
		t.Add(t.SpansDropped, 0, "reason", v)
	}
	for _, v := range storage {
		t.Add(t.StorageErrors, 0, "reason", v)
	}
	for _, v := range replaced {
		t.Add(t.ValuesReplaced, 0, "reason", v)
	}
	for _, v := range []string{"metrics", "traces"} {
		t.Add(t.FlushFailures, 0, "signal", v)
	}
	for _, c := range []metric.Int64Counter{t.LateEnds, t.Evicted, t.SamplesMismatch, t.GaugeAmbiguous, t.SpansSent, t.SpansBackwards, t.TicksSkipped} {
		t.Add(c, 0, "", "")
	}
}

// Add counts, with an attribute unless its key is empty.
func (t *Telemetry) Add(c metric.Int64Counter, n int64, key, value string) {
	c.Add(context.Background(), n, t.with(key, value))
}

// Flushed notes how long a flush took.
func (t *Telemetry) Flushed(signal string, d time.Duration) {
	t.flushDuration.Record(context.Background(), d.Seconds(), t.with("signal", signal))
}

// Shutdown ends the observation.
func (t *Telemetry) Shutdown() { _ = t.registration.Unregister() } // it has no error that anyone could act on

func (t *Telemetry) with(key, value string) metric.MeasurementOption {
	if key == "" {
		return metric.WithAttributeSet(attribute.NewSet(t.id))
	}
	return metric.WithAttributeSet(attribute.NewSet(t.id, attribute.String(key, value)))
}
