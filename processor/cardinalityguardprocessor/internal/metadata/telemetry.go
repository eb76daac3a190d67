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
	DetailsDropped    metric.Int64Counter
	ValuesReplaced    metric.Int64Counter
	MetricsRejected   metric.Int64Counter
	PolicyReloads     metric.Int64Counter
	PolicyInfo        metric.Int64Gauge

	IncrementsBaselined metric.Int64Counter
	SourceResets        metric.Int64Counter
	GaugeAmbiguous      metric.Int64Counter
	BoundsNarrowed      metric.Int64Counter
	OverflowPoints      metric.Int64Counter
	TypeConflicts       metric.Int64Counter
	FutureTimes         metric.Int64Counter
	SeriesRekeyed       metric.Int64Counter
	FlushFailures       metric.Int64Counter
	StorageErrors       metric.Int64Counter
	FlushDuration       metric.Float64Histogram
	Series              metric.Int64Gauge
	Sources             metric.Int64Gauge
	Tombstones          metric.Int64Gauge
	SeriesLimit         metric.Int64Gauge
	SourcesLimit        metric.Int64Gauge
	TombstonesLimit     metric.Int64Gauge

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
	gauge := func(name, unit, description string) metric.Int64Gauge {
		g, err := meter.Int64Gauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return g
	}
	t := &Telemetry{
		processor: attribute.String("processor", id.String()),
		AttributesRemoved: counter("otelcol_cardinality_guard_attributes_removed", "{attribute}",
			"Forbidden attributes that were removed, by the level they were on and the forbidden concept"),
		PointsMerged: counter("otelcol_cardinality_guard_points_merged", "{point}",
			"Points that became part of another point because a removal made them identical"),
		PointsDropped: counter("otelcol_cardinality_guard_points_dropped", "{point}", "Points that were dropped"),
		ExemplarsDropped: counter("otelcol_cardinality_guard_exemplars_dropped", "{exemplar}",
			"Exemplars of a merged point that were dropped"),
		DetailsDropped: counter("otelcol_cardinality_guard_details_dropped", "{detail}",
			"Quantiles of summaries and bounds of histograms that a merged point does not have"),
		ValuesReplaced: counter("otelcol_cardinality_guard_values_replaced", "{attribute}",
			"Attributes whose value was replaced by another word, by the level they were on and the rule"),
		MetricsRejected: counter("otelcol_cardinality_guard_metrics_rejected", "{metric}", "Metrics that were dropped for their name"),
		PolicyReloads:   counter("otelcol_cardinality_guard_policy_reloads", "{reload}", "Attempts to take a changed policy, by their result"),
		PolicyInfo: gauge("otelcol_cardinality_guard_policy_info", "{policy}",
			"1 for the policy in force, by its version and mode, and 0 for one before"),
		IncrementsBaselined: counter("otelcol_cardinality_guard_increments_baselined", "{point}",
			"First points of sources that may have been counted before, so that they counted nothing"),
		SourceResets: counter("otelcol_cardinality_guard_source_resets", "{reset}",
			"Points of a source that did not continue the one before, by how that was read"),
		GaugeAmbiguous: counter("otelcol_cardinality_guard_gauge_ambiguous", "{point}",
			"Points of gauges made of several live sources without a rule for the gauge"),
		BoundsNarrowed: counter("otelcol_cardinality_guard_bounds_narrowed", "{series}",
			"Histograms that began a new sequence because a source had other bounds"),
		OverflowPoints: counter("otelcol_cardinality_guard_overflow_points", "{point}",
			"Points that went to an overflow series because of a limit"),
		TypeConflicts: counter("otelcol_cardinality_guard_type_conflicts", "{metric}",
			"Metrics of a name that is known with another type, unit or temporality"),
		FutureTimes: counter("otelcol_cardinality_guard_future_times", "{point}",
			"Points from the future that were taken at the time of their arrival"),
		SeriesRekeyed: counter("otelcol_cardinality_guard_series_rekeyed", "{series}",
			"Merged series that another policy moved to another one, or ended"),
		FlushFailures:   counter("otelcol_cardinality_guard_flush_failures", "{flush}", "Flushes that the next component did not take"),
		StorageErrors:   counter("otelcol_cardinality_guard_storage_errors", "{error}", "State that could not be read or written"),
		Series:          gauge("otelcol_cardinality_guard_series", "{series}", "Series that the guard knows"),
		Sources:         gauge("otelcol_cardinality_guard_sources", "{source}", "Sources that the guard remembers"),
		Tombstones:      gauge("otelcol_cardinality_guard_tombstones", "{source}", "Forgotten sources of which the last value is known"),
		SeriesLimit:     gauge("otelcol_cardinality_guard_series_limit", "{series}", "The limit of series"),
		SourcesLimit:    gauge("otelcol_cardinality_guard_sources_limit", "{source}", "The limit of sources"),
		TombstonesLimit: gauge("otelcol_cardinality_guard_tombstones_limit", "{source}", "The limit of tombstones"),
	}
	var err error
	t.FlushDuration, err = meter.Float64Histogram("otelcol_cardinality_guard_flush_duration", metric.WithUnit("s"),
		metric.WithDescription("Time to make the points of a flush"))
	return t, errors.Join(append(errs, err)...)
}

// With is the processor's id and further attributes.
func (t *Telemetry) With(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, t.processor)...))
}
