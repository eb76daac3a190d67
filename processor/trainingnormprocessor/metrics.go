package trainingnormprocessor

import (
	"context"
	"iter"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// processMetrics adds the vocabulary's attributes to data points. It only adds, and only values of the lists, so that no two
// points become one; what may not be on metrics is the guard's.
func (n *itemNormalizer) processMetrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	n.normalize(ctx, pointsIn(md), nil)
	return md, nil
}

func pointsIn(md pmetric.Metrics) iter.Seq[resourceItems] {
	return func(yield func(resourceItems) bool) {
		for _, rm := range md.ResourceMetrics().All() {
			scopes := func(yield func(scopeItems) bool) {
				for _, sm := range rm.ScopeMetrics().All() {
					if !yield(scopeItems{scoped: sm, scope: sm.Scope(), items: pointsOf(sm)}) {
						return
					}
				}
			}
			if !yield(resourceItems{scoped: rm, attributes: rm.Resource().Attributes(), scopes: scopes}) {
				return
			}
		}
	}
}

func pointsOf(sm pmetric.ScopeMetrics) iter.Seq[item] {
	return func(yield func(item) bool) {
		for _, metric := range sm.Metrics().All() {
			for attrs := range points(metric) {
				if !yield(item{name: metric.Name(), attributes: attrs}) {
					return
				}
			}
		}
	}
}

// points gives the attributes of each data point.
func points(m pmetric.Metric) iter.Seq[pcommon.Map] {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return attributesOf(m.Gauge().DataPoints().All())
	case pmetric.MetricTypeSum:
		return attributesOf(m.Sum().DataPoints().All())
	case pmetric.MetricTypeHistogram:
		return attributesOf(m.Histogram().DataPoints().All())
	case pmetric.MetricTypeExponentialHistogram:
		return attributesOf(m.ExponentialHistogram().DataPoints().All())
	case pmetric.MetricTypeSummary:
		return attributesOf(m.Summary().DataPoints().All())
	default:
		return func(func(pcommon.Map) bool) {}
	}
}

func attributesOf[P interface{ Attributes() pcommon.Map }](all iter.Seq2[int, P]) iter.Seq[pcommon.Map] {
	return func(yield func(pcommon.Map) bool) {
		for _, p := range all {
			if !yield(p.Attributes()) {
				return
			}
		}
	}
}
