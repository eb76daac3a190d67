package cardinalityguardprocessor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// kindTypes are the types of metrics by their kind, as self-metrics name them.
var kindTypes = [merge.Kinds]string{
	merge.Unsupported: "empty", merge.Gauge: "gauge",
	merge.Sum: "sum", merge.UpDown: "sum", merge.DeltaSum: "sum",
	merge.Histogram: "histogram", merge.DeltaHistogram: "histogram",
	merge.Exponential: "exponential_histogram", merge.DeltaExponential: "exponential_histogram",
	merge.Summary: "summary",
}

var quantileReasonNames = [merge.QuantileReasons]string{"limit", "malformed", "merged"}

var exemplarReasonNames = [merge.ExemplarReasons]string{"before_start", "limit"}

// mergeReporter adds what the engine counts to the instruments. The attribute sets are made once.
type mergeReporter struct {
	telemetry *metadata.Telemetry
	plain     metric.MeasurementOption
	metadata  metric.MeasurementOption
	conflict  metric.MeasurementOption
	bounds    metric.MeasurementOption
	quantiles [merge.QuantileReasons]metric.MeasurementOption
	moved     metric.MeasurementOption
	ended     metric.MeasurementOption
	byKind    [merge.Kinds]metric.MeasurementOption
	dropped   [merge.Kinds][merge.Reasons]metric.MeasurementOption
	resets    [merge.Resets]metric.MeasurementOption
	exemplars [merge.ExemplarReasons]metric.MeasurementOption
}

func newMergeReporter(t *metadata.Telemetry) *mergeReporter {
	level := attribute.String("level", policy.LevelNames[policy.Metadata])
	rep := &mergeReporter{
		telemetry: t, plain: t.With(),
		metadata: t.With(level, attribute.String("reason", "limit")),
		conflict: t.With(level, attribute.String("reason", "conflict")),
		bounds:   t.With(attribute.String("type", kindTypes[merge.Histogram]), attribute.String("reason", "limit")),
		moved:    t.With(attribute.String("result", "moved")), ended: t.With(attribute.String("result", "ended")),
	}
	for kind, name := range kindTypes {
		rep.byKind[kind] = t.With(attribute.String("type", name))
		for why, text := range merge.ReasonNames {
			rep.dropped[kind][why] = t.With(attribute.String("type", name), attribute.String("reason", text))
		}
	}
	for kind, text := range merge.ResetNames {
		rep.resets[kind] = t.With(attribute.String("kind", text))
	}
	for why, text := range quantileReasonNames {
		rep.quantiles[why] = t.With(attribute.String("type", kindTypes[merge.Summary]), attribute.String("reason", text))
	}
	for why, text := range exemplarReasonNames {
		rep.exemplars[why] = t.With(attribute.String("reason", text))
	}
	return rep
}

func (rep *mergeReporter) report(ctx context.Context, c *merge.Counts) {
	if !c.Any {
		return
	}
	t := rep.telemetry
	add := func(to metric.Int64Counter, n int64, with metric.MeasurementOption) {
		if n > 0 {
			to.Add(ctx, n, with)
		}
	}
	for kind := range kindTypes {
		add(t.PointsMerged, c.Merged[kind], rep.byKind[kind])
		add(t.IncrementsBaselined, c.Baselined[kind], rep.byKind[kind])
		for why, n := range c.Dropped[kind] {
			add(t.PointsDropped, n, rep.dropped[kind][why])
		}
	}
	for kind, n := range c.Resets {
		add(t.SourceResets, n, rep.resets[kind])
	}
	for why, n := range c.Exemplars {
		add(t.ExemplarsDropped, n, rep.exemplars[why])
	}
	for why, n := range c.Quantiles {
		add(t.DetailsDropped, n, rep.quantiles[why])
	}
	add(t.DetailsDropped, c.Bounds, rep.bounds)
	add(t.GaugeAmbiguous, c.Ambiguous, rep.plain)
	add(t.BoundsNarrowed, c.Narrowed, rep.plain)
	add(t.OverflowPoints, c.Overflow, rep.plain)
	add(t.TypeConflicts, c.Conflicts, rep.plain)
	add(t.AttributesRemoved, c.Metadata, rep.metadata)
	add(t.AttributesRemoved, c.Conflicted, rep.conflict)
	add(t.FutureTimes, c.FutureTime, rep.plain)
	add(t.SeriesRekeyed, c.Moved, rep.moved)
	add(t.SeriesRekeyed, c.Ended, rep.ended)
}

// size reports what the engine holds, beside what it may hold.
func (rep *mergeReporter) size(ctx context.Context, size merge.Size, limits *LimitsConfig) {
	t := rep.telemetry
	t.Series.Record(ctx, size.Series, rep.plain)
	t.Sources.Record(ctx, size.Sources, rep.plain)
	t.Tombstones.Record(ctx, size.Tombstones, rep.plain)
	t.SeriesLimit.Record(ctx, int64(limits.SeriesTotal), rep.plain)
	t.SourcesLimit.Record(ctx, int64(limits.SourcesTotal), rep.plain)
	t.TombstonesLimit.Record(ctx, int64(limits.Tombstones), rep.plain)
}
