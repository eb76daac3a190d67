package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// gaugeBatch makes a batch of one gauge with a point for each attribute set of one key.
func gaugeBatch(name, key string, values ...string) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName(name)
	m.SetEmptyGauge()
	for i, v := range values {
		p := m.Gauge().DataPoints().AppendEmpty()
		p.Attributes().PutStr(key, v)
		p.SetTimestamp(pcommon.Timestamp(i + 1))
		p.SetIntValue(int64(i))
	}
	return md
}

func cumulativeBatch(runs ...string) pmetric.Metrics {
	md := gaugeBatch("total", "run_id", runs...)
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	points := pmetric.NewNumberDataPointSlice()
	m.Gauge().DataPoints().MoveAndAppendTo(points)
	m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	points.MoveAndAppendTo(m.Sum().DataPoints())
	return md
}
