package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// emit writes the merged points and takes out the points that became part of one or were dropped.
func (w *worker) emit() {
	t := &w.table
	for _, n := range t.merged {
		w.merge(&t.groups[n])
	}
	for n := range t.objects {
		o := &t.objects[n]
		if w.removeGone(o) && pointCount(o.metric) == 0 {
			w.plan.metrics[o.plan] |= emptied
		}
	}
}

// merge writes the one point of a group.
func (w *worker) merge(g *group) {
	t := &w.table
	w.parts = w.parts[:0]
	keeper := none
	for i := g.first; i != none; i = t.refs[i].next {
		if t.refs[i].fate == stays {
			w.parts = append(w.parts, t.refs[i].point)
			if keeper == none {
				keeper = i
			}
		}
		t.refs[i].fate = gone
	}
	first := &t.refs[keeper]
	o := &t.objects[first.object]
	s := &t.series[o.series]
	to := first.point
	if s.objects == 1 {
		first.fate = stays
	} else {
		to = s.next(t)
		first.point.Attributes().MoveTo(to.Attributes())
	}
	w.counts.merged(o.metric, len(w.parts)-1)
	if g.how == mergeGauge {
		w.putLast(to)
	} else {
		w.putTotal(to)
	}
}

// putLast writes the newest value; of two at the same time, the larger. A merged gauge has no start.
func (w *worker) putLast(to pmetric.NumberDataPoint) {
	last := w.parts[0]
	for _, p := range w.parts[1:] {
		if p.Timestamp() > last.Timestamp() || (p.Timestamp() == last.Timestamp() && compareValues(p, last) > 0) {
			last = p
		}
	}
	w.joinExemplars(to, 0)
	if last.ValueType() == pmetric.NumberDataPointValueTypeDouble {
		to.SetDoubleValue(last.DoubleValue())
	} else {
		to.SetIntValue(last.IntValue())
	}
	to.SetTimestamp(last.Timestamp())
	to.SetStartTimestamp(0)
	to.SetFlags(pmetric.DefaultDataPointFlags)
}

// putTotal writes the sum over the union of the windows. A part without a start leaves the start of the union unknown.
func (w *worker) putTotal(to pmetric.NumberDataPoint) {
	w.total.reset()
	start, end := w.parts[0].StartTimestamp(), pcommon.Timestamp(0)
	for _, p := range w.parts {
		w.total.add(p)
		start = min(start, p.StartTimestamp())
		end = max(end, p.Timestamp())
	}
	w.joinExemplars(to, start)
	if only := w.parts[0]; len(w.parts) > 1 {
		w.total.put(to)
	} else if only.ValueType() == pmetric.NumberDataPointValueTypeDouble {
		to.SetDoubleValue(only.DoubleValue())
	} else {
		to.SetIntValue(only.IntValue())
	}
	to.SetStartTimestamp(start)
	to.SetTimestamp(end)
	to.SetFlags(pmetric.DefaultDataPointFlags)
}

// removeGone takes the points that are gone out of a metric and says whether there were any.
func (w *worker) removeGone(o *object) bool {
	switch o.metric.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		return removePoints(w, o, numbers(o.metric))
	case pmetric.MetricTypeHistogram:
		return removePoints(w, o, o.metric.Histogram().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		return removePoints(w, o, o.metric.ExponentialHistogram().DataPoints())
	case pmetric.MetricTypeSummary:
		return removePoints(w, o, o.metric.Summary().DataPoints())
	}
	return false
}

func removePoints[P dataPoint, S pointSlice[P]](w *worker, o *object, points S) bool {
	at, had := o.first, points.Len()
	points.RemoveIf(func(P) bool {
		fate := w.table.refs[at].fate
		at++
		return fate == gone
	})
	return points.Len() < had
}
