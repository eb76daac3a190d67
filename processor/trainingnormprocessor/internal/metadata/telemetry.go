package metadata

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Telemetry is the component's instruments.
type Telemetry struct {
	Mapped           metric.Int64Counter
	Unmapped         metric.Int64Counter
	FieldErrors      metric.Int64Counter
	Detections       metric.Int64Counter
	Revisions        metric.Int64Counter
	WeakMatches      metric.Int64Counter
	MappedAlone      metric.Int64Counter
	EpochsAsWritten  metric.Int64Counter
	Ambiguous        metric.Int64Counter
	StreamsForgotten metric.Int64Counter
	AttributesMoved  metric.Int64Counter
	AttributesMapped metric.Int64Counter
	ValuesBounded    metric.Int64Counter
	StorageErrors    metric.Int64Counter

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
	t := &Telemetry{
		processor: attribute.String("processor", id.String()),
		Mapped: counter("otelcol_training_norm_mapped", "{record}",
			"Objects that became records, by profile"),
		Unmapped: counter("otelcol_training_norm_unmapped", "{record}",
			"Objects that no profile, or no rule of the profile, matches; they pass on unchanged"),
		FieldErrors: counter("otelcol_training_norm_field_errors", "{field}",
			"Fields of mapped objects that were not understood and stay under the framework's details"),
		Detections: counter("otelcol_training_norm_detections", "{stream}",
			"Streams that were recognised, by profile"),
		WeakMatches: counter("otelcol_training_norm_weak_matches", "{record}",
			"Objects of streams not recognised so far that were mapped by a weak condition, by profile"),
		Revisions: counter("otelcol_training_norm_revisions", "{stream}",
			"Streams that were recognised as something else than before by surer keys, by profile"),
		MappedAlone: counter("otelcol_training_norm_mapped_alone", "{record}",
			"Objects from the middle of a stream of which nothing is known, mapped by their own keys alone, by profile"),
		EpochsAsWritten: counter("otelcol_training_norm_epochs_as_written", "{record}",
			"Objects whose epoch was taken for an index because nothing tells whether their stream counts from 0 or from 1, by profile"),
		Ambiguous: counter("otelcol_training_norm_ambiguous", "{record}",
			"Objects that two profiles claim with equal right; they pass on unchanged"),
		StreamsForgotten: counter("otelcol_training_norm_streams_forgotten", "{stream}",
			"Streams whose profile was forgotten because too many were remembered"),
		AttributesMoved: counter("otelcol_training_norm_attributes_moved", "{attribute}",
			"Attributes of runs and epochs that were moved from a resource to its log records or spans"),
		AttributesMapped: counter("otelcol_training_norm_attributes_mapped", "{attribute}",
			"Attributes of the vocabulary that were set from those of frameworks and trackers"),
		ValuesBounded: counter("otelcol_training_norm_values_bounded", "{attribute}",
			"Values of attributes that were off their list and became other, by attribute"),
		StorageErrors: counter("otelcol_training_norm_storage_errors", "{error}",
			"Operations of the storage that failed, and values of it that could not be read"),
	}
	return t, errors.Join(errs...)
}

// With is the processor's id and further attributes.
func (t *Telemetry) With(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, t.processor)...))
}
