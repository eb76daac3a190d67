package cardinalityguardprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// reason is why a point was dropped.
type reason uint8

const (
	becauseDuplicate reason = iota // sent twice
	becauseLate                    // older than what its series had
	becauseName                    // the metric's name has a forbidden value in it
	becauseOffList                 // the metric's name is not on the list
	becauseValue                   // a value is off its list, and the list says that the point goes
	reasons                        // their number
)

var reasonNames = [reasons]string{"duplicate", "out_of_order", "metric_name", "off_list", "value"}

// loses says whether data went that a correct merge would have kept or counted.
var loses = [reasons]bool{becauseName: true, becauseOffList: true, becauseValue: true}

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
	removed   [policy.Levels][]int64 // by rule
	replaced  [policy.Levels][]int64
	rejected  []int64 // metrics, by rule
	droppedBy [metricTypes][reasons]int64
	any       bool

	lost       int64 // points that an operator should hear of, and an example for the log
	lostWhy    reason
	lostMetric string
}

func newCounts(rules int) counts {
	c := counts{rejected: make([]int64, rules)}
	for l := range c.removed {
		c.removed[l], c.replaced[l] = make([]int64, rules), make([]int64, rules)
	}
	return c
}

func (c *counts) changed(at policy.Level, rule policy.RuleID, what policy.Outcome) {
	c.any = true
	if what == policy.Replace {
		c.replaced[at][rule]++
	} else {
		c.removed[at][rule]++
	}
}

// refused counts a metric that a rule about names keeps out.
func (c *counts) refused(rule policy.RuleID) { c.rejected[rule]++; c.any = true }

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
	for l := range c.removed {
		clear(c.removed[l])
		clear(c.replaced[l])
	}
	clear(c.rejected)
	*c = counts{removed: c.removed, replaced: c.replaced, rejected: c.rejected}
}

// reporter adds counts to the instruments. The attribute sets are made once.
type reporter struct {
	telemetry *metadata.Telemetry
	removed   [policy.Levels][]metric.MeasurementOption // by rule; of replaced values too
	rejected  []metric.MeasurementOption
	dropped   [metricTypes][reasons]metric.AddOption
}

func newReporter(t *metadata.Telemetry, p *policy.Policy) *reporter {
	rep := &reporter{telemetry: t}
	for _, rule := range p.Rules() {
		reason := []attribute.KeyValue{attribute.String("reason", rule.Reason)}
		if rule.Audit {
			reason = append(reason, attribute.String("mode", "audit"))
		}
		for l, name := range policy.LevelNames {
			rep.removed[l] = append(rep.removed[l], t.With(append([]attribute.KeyValue{attribute.String("level", name)}, reason...)...))
		}
		rep.rejected = append(rep.rejected, t.With(reason...))
	}
	for typ, name := range typeNames {
		for why, text := range reasonNames {
			rep.dropped[typ][why] = t.With(attribute.String("type", name), attribute.String("reason", text))
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
	for l := range c.removed {
		for rule, with := range rep.removed[l] {
			add(rep.telemetry.AttributesRemoved, c.removed[l][rule], with)
			add(rep.telemetry.ValuesReplaced, c.replaced[l][rule], with)
		}
	}
	for rule, with := range rep.rejected {
		add(rep.telemetry.MetricsRejected, c.rejected[rule], with)
	}
	for typ := range typeNames {
		for why, n := range c.droppedBy[typ] {
			add(rep.telemetry.PointsDropped, n, rep.dropped[typ][why])
		}
	}
}
