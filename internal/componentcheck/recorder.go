package componentcheck

import (
	"sync"

	"go.opentelemetry.io/otel/metric"
)

// instrument is what a component asked its meter for.
type instrument struct {
	scope, name, unit, description, kind, valueType string
	async                                           bool
}

// recorder is a MeterProvider that notes every instrument and otherwise does what the provider under it does.
type recorder struct {
	metric.MeterProvider

	mu   sync.Mutex
	made map[instrument]bool
}

func newRecorder(under metric.MeterProvider) *recorder {
	return &recorder{MeterProvider: under, made: map[instrument]bool{}}
}

// Meter returns a meter that notes what it makes.
func (r *recorder) Meter(name string, opts ...metric.MeterOption) metric.Meter {
	return &recordingMeter{Meter: r.MeterProvider.Meter(name, opts...), scope: name, recorder: r}
}

func (r *recorder) instruments() []instrument {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]instrument, 0, len(r.made))
	for i := range r.made {
		out = append(out, i)
	}
	return out
}

type recordingMeter struct {
	metric.Meter

	scope    string
	recorder *recorder
}

// described is what every instrument's configuration has.
type described interface {
	Description() string
	Unit() string
}

func (m *recordingMeter) note(name, kind, valueType string, async bool, cfg described) {
	m.recorder.mu.Lock()
	defer m.recorder.mu.Unlock()
	m.recorder.made[instrument{
		scope: m.scope, name: name, unit: cfg.Unit(), description: cfg.Description(), kind: kind, valueType: valueType, async: async,
	}] = true
}

const (
	kindCounter   = "sum, monotonic"
	kindUpDown    = "sum"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
	typeInt       = "int"
	typeDouble    = "double"
)

func (m *recordingMeter) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	m.note(name, kindCounter, typeInt, false, metric.NewInt64CounterConfig(o...))
	return m.Meter.Int64Counter(name, o...)
}

func (m *recordingMeter) Int64UpDownCounter(name string, o ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	m.note(name, kindUpDown, typeInt, false, metric.NewInt64UpDownCounterConfig(o...))
	return m.Meter.Int64UpDownCounter(name, o...)
}

func (m *recordingMeter) Int64Histogram(name string, o ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	m.note(name, kindHistogram, typeInt, false, metric.NewInt64HistogramConfig(o...))
	return m.Meter.Int64Histogram(name, o...)
}

func (m *recordingMeter) Int64Gauge(name string, o ...metric.Int64GaugeOption) (metric.Int64Gauge, error) {
	m.note(name, kindGauge, typeInt, false, metric.NewInt64GaugeConfig(o...))
	return m.Meter.Int64Gauge(name, o...)
}

func (m *recordingMeter) Int64ObservableCounter(name string, o ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	m.note(name, kindCounter, typeInt, true, metric.NewInt64ObservableCounterConfig(o...))
	return m.Meter.Int64ObservableCounter(name, o...)
}

func (m *recordingMeter) Int64ObservableUpDownCounter(name string, o ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	m.note(name, kindUpDown, typeInt, true, metric.NewInt64ObservableUpDownCounterConfig(o...))
	return m.Meter.Int64ObservableUpDownCounter(name, o...)
}

func (m *recordingMeter) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	m.note(name, kindGauge, typeInt, true, metric.NewInt64ObservableGaugeConfig(o...))
	return m.Meter.Int64ObservableGauge(name, o...)
}

func (m *recordingMeter) Float64Counter(name string, o ...metric.Float64CounterOption) (metric.Float64Counter, error) {
	m.note(name, kindCounter, typeDouble, false, metric.NewFloat64CounterConfig(o...))
	return m.Meter.Float64Counter(name, o...)
}

func (m *recordingMeter) Float64UpDownCounter(name string, o ...metric.Float64UpDownCounterOption) (metric.Float64UpDownCounter, error) {
	m.note(name, kindUpDown, typeDouble, false, metric.NewFloat64UpDownCounterConfig(o...))
	return m.Meter.Float64UpDownCounter(name, o...)
}

func (m *recordingMeter) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	m.note(name, kindHistogram, typeDouble, false, metric.NewFloat64HistogramConfig(o...))
	return m.Meter.Float64Histogram(name, o...)
}

func (m *recordingMeter) Float64Gauge(name string, o ...metric.Float64GaugeOption) (metric.Float64Gauge, error) {
	m.note(name, kindGauge, typeDouble, false, metric.NewFloat64GaugeConfig(o...))
	return m.Meter.Float64Gauge(name, o...)
}

func (m *recordingMeter) Float64ObservableCounter(name string, o ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	m.note(name, kindCounter, typeDouble, true, metric.NewFloat64ObservableCounterConfig(o...))
	return m.Meter.Float64ObservableCounter(name, o...)
}

func (m *recordingMeter) Float64ObservableUpDownCounter(name string, o ...metric.Float64ObservableUpDownCounterOption) (metric.Float64ObservableUpDownCounter, error) {
	m.note(name, kindUpDown, typeDouble, true, metric.NewFloat64ObservableUpDownCounterConfig(o...))
	return m.Meter.Float64ObservableUpDownCounter(name, o...)
}

func (m *recordingMeter) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	m.note(name, kindGauge, typeDouble, true, metric.NewFloat64ObservableGaugeConfig(o...))
	return m.Meter.Float64ObservableGauge(name, o...)
}
