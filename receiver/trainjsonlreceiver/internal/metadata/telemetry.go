package metadata

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Telemetry holds the receiver's instruments.
type Telemetry struct {
	BadLines           metric.Int64Counter
	Rewrites           metric.Int64Counter
	Retries            metric.Int64Counter
	RefusedRecords     metric.Int64Counter
	ReadErrors         metric.Int64Counter
	DiscoveryErrors    metric.Int64Counter
	CheckpointWrites   metric.Int64Counter
	CheckpointFailures metric.Int64Counter
	CheckpointErrors   metric.Int64Counter
	LostBytes          metric.Int64Counter
	SkippedFiles       metric.Int64Counter
	VanishedFiles      metric.Int64Counter
	WatchLimits        metric.Int64Counter

	receiver   attribute.KeyValue
	self       metric.MeasurementOption
	meter      metric.Meter
	records    metric.Int64Counter
	flaws      metric.Int64Counter
	files      metric.Int64ObservableGauge
	unread     metric.Int64ObservableGauge
	streams    metric.Int64ObservableGauge
	growth     metric.Int64ObservableGauge
	hungCalls  metric.Int64ObservableGauge
	lag        metric.Float64ObservableGauge
	silence    metric.Float64ObservableGauge
	kindRecord metric.MeasurementOption
	kindObject metric.MeasurementOption
}

// NewTelemetry makes the instruments; their values carry the receiver's id.
func NewTelemetry(set component.TelemetrySettings, id component.ID) (*Telemetry, error) {
	t := &Telemetry{
		receiver: attribute.String("receiver", id.String()),
		meter:    set.MeterProvider.Meter(ScopeName),
	}
	t.self = metric.WithAttributeSet(attribute.NewSet(t.receiver))
	t.kindRecord, t.kindObject = t.with("kind", "record"), t.with("kind", "object")
	var errs []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := t.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	gauge := func(name, unit, description string) metric.Int64ObservableGauge {
		g, err := t.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return g
	}
	seconds := func(name, description string) metric.Float64ObservableGauge {
		g, err := t.meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(description))
		errs = append(errs, err)
		return g
	}
	t.records = counter("otelcol_train_jsonl_records", "{record}", "Lines accepted by the pipeline as training records or as other JSON objects.")
	t.BadLines = counter("otelcol_train_jsonl_bad_lines", "{line}", "Lines that were no record and were passed on as log events.")
	t.flaws = counter("otelcol_train_jsonl_flaws", "{flaw}", "Flaws of accepted lines that were repaired.")
	t.Rewrites = counter("otelcol_train_jsonl_rewrites", "{rewrite}", "Files that were rewritten and are read from their start again.")
	t.Retries = counter("otelcol_train_jsonl_retries", "{call}", "Calls that the pipeline refused and that are repeated.")
	t.RefusedRecords = counter("otelcol_train_jsonl_refused_records", "{record}", "Records that the pipeline refused for good and that were passed over.")
	t.ReadErrors = counter("otelcol_train_jsonl_read_errors", "{error}", "Attempts to read a file that failed and are repeated.")
	t.DiscoveryErrors = counter("otelcol_train_jsonl_discovery_errors", "{error}", "Places that could not be searched for files.")
	t.CheckpointWrites = counter("otelcol_train_jsonl_checkpoint_writes", "{checkpoint}", "Checkpoints written to the storage.")
	t.CheckpointFailures = counter("otelcol_train_jsonl_checkpoint_failures", "{batch}", "Batches of checkpoints that the storage refused and that are repeated.")
	t.CheckpointErrors = counter("otelcol_train_jsonl_checkpoint_errors", "{error}", "Checkpoints that could not be used.")
	t.LostBytes = counter("otelcol_train_jsonl_lost_bytes", "By", "Bytes that were seen in a file and not read before it went away.")
	t.SkippedFiles = counter("otelcol_train_jsonl_skipped_files", "{file}", "Paths that match and are not read.")
	t.files = gauge("otelcol_train_jsonl_files", "{file}", "Files by state.")
	t.unread = gauge("otelcol_train_jsonl_unread_bytes", "By", "Bytes of all files that are not accepted by the pipeline yet.")
	t.VanishedFiles = counter("otelcol_train_jsonl_vanished_files", "{file}", "Files that went away while the collector did not run, before their run had ended.")
	t.WatchLimits = counter("otelcol_train_jsonl_watch_limits", "{event}", "Reasons, each counted once, why files are polled without being told of changes.")
	t.streams = gauge("otelcol_train_jsonl_streams", "{file}", "Files that are there, by what they do.")
	t.growth = gauge("otelcol_train_jsonl_last_growth", "{file}", "Files whose run has not ended, by the time within which they last grew.")
	t.hungCalls = gauge("otelcol_train_jsonl_hung_calls", "{call}", "Calls that a file system does not answer now.")
	t.lag = seconds("otelcol_train_jsonl_lag", "Longest time that a file has had bytes which the pipeline has not accepted.")
	t.silence = seconds("otelcol_train_jsonl_silence", "Time since any file last grew.")
	return t, errors.Join(errs...)
}

func (t *Telemetry) with(key, value string) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(t.receiver, attribute.String(key, value)))
}

// Reason is the receiver's id and an attribute that says why.
func (t *Telemetry) Reason(reason string) metric.MeasurementOption { return t.with("reason", reason) }

// Self is the receiver's id.
func (t *Telemetry) Self() metric.MeasurementOption { return t.self }

// AddRecords counts accepted lines.
func (t *Telemetry) AddRecords(ctx context.Context, records, objects int) {
	if records > 0 {
		t.records.Add(ctx, int64(records), t.kindRecord)
	}
	if objects > 0 {
		t.records.Add(ctx, int64(objects), t.kindObject)
	}
}

// AddFlaws counts what was repaired in accepted lines.
func (t *Telemetry) AddFlaws(ctx context.Context, badUTF8, duplicateKeys, arraysCut, fieldsDropped, offList, clock int) {
	for _, f := range []struct {
		kind string
		n    int
	}{{"bad_utf8", badUTF8}, {"duplicate_key", duplicateKeys}, {"array_cut", arraysCut}, {"field_dropped", fieldsDropped}, {"off_list", offList}, {"clock", clock}} {
		if f.n > 0 {
			t.flaws.Add(ctx, int64(f.n), t.with("kind", f.kind))
		}
	}
}

// growthNames are the classes of last_growth; each file is in the first that holds for it.
var growthNames = [...]string{"1m", "10m", "1h", "24h", "longer"}

// GrowthClass gives the class of a file by how long ago it last grew.
func GrowthClass(ago time.Duration) int {
	for i, most := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour} {
		if ago <= most {
			return i
		}
	}
	return len(growthNames) - 1
}

// Gauges are the values of the gauges.
type Gauges struct {
	Known, Open, Stalled, Unreadable int64
	Growing, Silent, Ended, Blocked  int64
	Growth                           [len(growthNames)]int64 // by GrowthClass
	Unread                           int64
	HungCalls                        int64
	Lag                              float64 // s
	Silence                          float64 // s, negative = there is no stream
}

// ObserveFiles asks observe for the gauges' values until the registration is undone.
func (t *Telemetry) ObserveFiles(observe func() Gauges) (metric.Registration, error) {
	return t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		g := observe()
		for _, s := range []struct {
			state string
			n     int64
		}{{"known", g.Known}, {"open", g.Open}, {"stalled", g.Stalled}, {"unreadable", g.Unreadable}} {
			o.ObserveInt64(t.files, s.n, t.with("state", s.state))
		}
		for _, s := range []struct {
			state string
			n     int64
		}{{"growing", g.Growing}, {"silent", g.Silent}, {"ended", g.Ended}, {"blocked", g.Blocked}} {
			o.ObserveInt64(t.streams, s.n, t.with("state", s.state))
		}
		for class, n := range g.Growth {
			o.ObserveInt64(t.growth, n, t.with("within", growthNames[class]))
		}
		o.ObserveInt64(t.unread, g.Unread, t.self)
		o.ObserveInt64(t.hungCalls, g.HungCalls, t.self)
		o.ObserveFloat64(t.lag, g.Lag, t.self)
		if g.Silence >= 0 {
			o.ObserveFloat64(t.silence, g.Silence, t.self)
		}
		return nil
	}, t.files, t.streams, t.growth, t.unread, t.hungCalls, t.lag, t.silence)
}

// Begin makes the counters that an alert may rest on visible before they count anything.
func (t *Telemetry) Begin(ctx context.Context) {
	for _, c := range []metric.Int64Counter{
		t.Retries, t.RefusedRecords, t.CheckpointWrites, t.CheckpointFailures, t.LostBytes, t.VanishedFiles,
	} {
		c.Add(ctx, 0, t.self)
	}
	for _, c := range []struct {
		counter metric.Int64Counter
		reasons []string
	}{
		{t.Rewrites, []string{"shorter", "changed", "replaced", "renamed"}},
		{t.ReadErrors, []string{"permission", "stale", "io", "hung", "gzip_truncated", "gzip_corrupt"}},
		{t.DiscoveryErrors, []string{"permission", "stale", "missing", "io", "hung", "slow"}},
		{t.CheckpointErrors, []string{"damaged", "version", "key", "unreadable"}},
		{t.SkippedFiles, []string{"not_regular", "link_loop"}},
		{t.WatchLimits, []string{"unavailable", "limit", "remote"}},
	} {
		for _, reason := range c.reasons {
			c.counter.Add(ctx, 0, t.Reason(reason))
		}
	}
	t.records.Add(ctx, 0, t.kindRecord)
	t.records.Add(ctx, 0, t.kindObject)
}
