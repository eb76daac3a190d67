package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

func (w *worker) scanAll(m pmetric.Metric) finding {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		return scanNumbers(w, numbers(m))
	case pmetric.MetricTypeHistogram:
		return scanSampled(w, m.Histogram().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		return scanSampled(w, m.ExponentialHistogram().DataPoints())
	case pmetric.MetricTypeSummary:
		return scanPoints(w, m.Summary().DataPoints())
	}
	return 0
}

// scanNumbers is scanSampled for the most frequent kind, without the cost of type parameters.
func scanNumbers(w *worker, points pmetric.NumberDataPointSlice) finding {
	var found finding
	for i := range points.Len() {
		p := points.At(i)
		w.newest = max(w.newest, int64(p.Timestamp()))
		if w.forbiddenOnPoint(p.Attributes()) {
			return found | touches
		}
		if p.Exemplars().Len() > 0 && w.soiled(p.Exemplars()) {
			found |= soils
		}
	}
	return found
}

func scanSampled[P sampled, S pointSlice[P]](w *worker, points S) finding {
	var found finding
	for i := range points.Len() {
		p := points.At(i)
		w.newest = max(w.newest, int64(p.Timestamp()))
		if w.forbiddenOnPoint(p.Attributes()) {
			return found | touches
		}
		if w.soiled(p.Exemplars()) {
			found |= soils
		}
	}
	return found
}

func scanPoints[P dataPoint, S pointSlice[P]](w *worker, points S) finding {
	for i := range points.Len() {
		p := points.At(i)
		w.newest = max(w.newest, int64(p.Timestamp()))
		if w.forbiddenOnPoint(p.Attributes()) {
			return touches
		}
	}
	return 0
}

// soiled says whether an exemplar has something forbidden.
func (w *worker) soiled(exemplars pmetric.ExemplarSlice) bool {
	for i := range exemplars.Len() {
		if w.forbiddenIn(exemplars.At(i).FilteredAttributes(), policy.Exemplar) {
			return true
		}
	}
	return false
}
