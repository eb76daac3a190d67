package main

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

const metricName = "training.measured"

var (
	cleanKeys     = []string{"phase", "framework", "task_family", "outcome", "host.name"}
	forbiddenKeys = []string{"run_id", "trace_id", "epoch"}
	otherKeys     = []string{"a", "b", "c"} // instead of the forbidden ones on untouched points
)

// Kinds of points.
const (
	gauge       = "gauge"
	delta       = "delta sum"
	cumulative  = "cumulative sum"
	histogram   = "histogram, 12 buckets"
	exponential = "exponential histogram"
)

// batchOf makes one metric. Every runs points differ in their last three attributes only.
func batchOf(kind string, extra []string, first, points, runs, buckets int) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName(metricName)
	switch kind {
	case gauge:
		m.SetEmptyGauge()
	case delta:
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		m.Sum().SetIsMonotonic(true)
	case cumulative:
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		m.Sum().SetIsMonotonic(true)
	case histogram:
		m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	case exponential:
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	}
	for i := first; i < first+points; i++ {
		attrs := appendPoint(m, int64(i), buckets)
		attrs.EnsureCapacity(len(cleanKeys) + len(extra))
		for _, k := range cleanKeys {
			attrs.PutStr(k, fmt.Sprintf("value-%d", i/runs))
		}
		for _, k := range extra {
			attrs.PutStr(k, fmt.Sprintf("value-%d", i))
		}
	}
	return md
}

func appendPoint(m pmetric.Metric, value int64, buckets int) pcommon.Map {
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		p := m.Histogram().DataPoints().AppendEmpty()
		for i := range buckets {
			p.BucketCounts().Append(1)
			if i > 0 {
				p.ExplicitBounds().Append(float64(i))
			}
		}
		p.SetCount(uint64(buckets))
		p.SetSum(60)
		return p.Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		p.SetScale(3)
		for range buckets {
			p.Positive().BucketCounts().Append(1)
		}
		p.SetCount(uint64(buckets))
		p.SetSum(60)
		return p.Attributes()
	case pmetric.MetricTypeGauge:
		p := m.Gauge().DataPoints().AppendEmpty()
		p.SetIntValue(value)
		return p.Attributes()
	default:
		p := m.Sum().DataPoints().AppendEmpty()
		p.SetIntValue(value)
		return p.Attributes()
	}
}

// began is when the measured sources began.
var began = time.Now()

type timed interface {
	SetStartTimestamp(pcommon.Timestamp)
	SetTimestamp(pcommon.Timestamp)
}

// retime moves a batch to a time, as the next scrape of the same sources would.
func retime(md pmetric.Metrics, to time.Time) {
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	start := began
	if m.Type() == pmetric.MetricTypeSum && m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityDelta {
		start = to.Add(-time.Millisecond)
	}
	set := func(p timed) {
		p.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
		p.SetTimestamp(pcommon.NewTimestampFromTime(to))
	}
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			set(p)
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			set(p)
		}
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			set(p)
		}
	default:
		for _, p := range m.Sum().DataPoints().All() {
			set(p)
		}
	}
}
