package cardinalityguardprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
)

// reason is why a point was dropped.
type reason uint8

const (
	becauseDuplicate reason = iota // sent twice
	becauseName                    // the metric's name has a forbidden value in it
	reasons                        // their number
)

var reasonNames = [reasons]string{"duplicate", "metric_name"}

// loses says whether data went that a correct merge would have kept or counted.
var loses = [reasons]bool{becauseName: true}

var typeNames = [...]string{
	pmetric.MetricTypeEmpty:                "empty",
	pmetric.MetricTypeGauge:                "gauge",
	pmetric.MetricTypeSum:                  "sum",
	pmetric.MetricTypeHistogram:            "histogram",
	pmetric.MetricTypeExponentialHistogram: "exponential_histogram",
	pmetric.MetricTypeSummary:              "summary",
}

const metricTypes = len(typeNames)

// counts is what happened to one batch.
type counts struct {
	attributes [levels][]int64 // by verdict
	droppedBy  [metricTypes][reasons]int64
	any        bool

	lost       int64 // points that an operator should hear of, and an example for the log
	lostWhy    reason
	lostMetric string
}

func newCounts(verdicts int) counts {
	var c counts
	for l := range c.attributes {
		c.attributes[l] = make([]int64, verdicts)
	}
	return c
}

func (c *counts) removed(at level, v verdict) { c.attributes[at][v]++; c.any = true }

// dropped counts points of a metric that were dropped. A metric's name that is the reason itself is not kept for the log.
func (c *counts) dropped(m pmetric.Metric, why reason, n int) {
	c.droppedBy[m.Type()][why] += int64(n)
	c.any = true
	if !loses[why] {
		return
	}
	c.lost += int64(n)
	c.lostWhy, c.lostMetric = why, ""
	if why != becauseName {
		c.lostMetric = m.Name()
	}
}

func (c *counts) reset() {
	if !c.any {
		return
	}
	for l := range c.attributes {
		clear(c.attributes[l])
	}
	*c = counts{attributes: c.attributes}
}

// reporter adds counts to the instruments. The attribute sets are made once.
type reporter struct {
	telemetry *metadata.Telemetry
	removed   [levels][]metric.AddOption
	dropped   [metricTypes][reasons]metric.AddOption
}

func newReporter(t *metadata.Telemetry, r *rules) *reporter {
	set := func(kvs ...attribute.KeyValue) metric.AddOption { return t.With(kvs...) }
	rep := &reporter{telemetry: t}
	for l := range rep.removed {
		for _, why := range r.reasons {
			rep.removed[l] = append(rep.removed[l], set(attribute.String("level", levelNames[l]), attribute.String("reason", why)))
		}
	}
	for typ, name := range typeNames {
		for why, text := range reasonNames {
			rep.dropped[typ][why] = set(attribute.String("type", name), attribute.String("reason", text))
		}
	}
	return rep
}

func (rep *reporter) report(ctx context.Context, c *counts) {
	if !c.any {
		return
	}
	add := func(to metric.Int64Counter, n int64, with metric.AddOption) {
		if n > 0 {
			to.Add(ctx, n, with)
		}
	}
	for l := range c.attributes {
		for v, n := range c.attributes[l] {
			add(rep.telemetry.AttributesRemoved, n, rep.removed[l][v])
		}
	}
	for typ := range typeNames {
		for why, n := range c.droppedBy[typ] {
			add(rep.telemetry.PointsDropped, n, rep.dropped[typ][why])
		}
	}
}
