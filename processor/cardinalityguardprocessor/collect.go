package cardinalityguardprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// object is a metric of the batch whose points may meet points of others.
type object struct {
	metric         pmetric.Metric
	scope          pmetric.ScopeMetrics
	resourceSchema string
	plan           int   // index into plan.metrics
	series         int32 // index into table.series
	first          int32 // its first ref; the refs of an object are consecutive and in the order of its points
	contributes    bool  // a point of it is part of a merged one
}

// fate is what becomes of a collected point.
type fate uint8

const (
	stays   fate = iota
	repeats      // the same source sent the same window before
	valueless
	notFinite
	gone // merged into another point, or dropped
)

// ref is a collected point.
type ref struct {
	point   pmetric.NumberDataPoint // of gauges and sums that merge only
	at      pcommon.Timestamp
	object  int32
	next    int32 // the next ref of its group, or none
	source  id    // the source identity of a delta point with a start
	started bool
	touched bool
	valued  bool
	fate    fate
}

const none int32 = -1

// group is an output: the points that are one point after the removal.
type group struct {
	how         handling
	first, last int32
	count       int
	touched     bool
}

// table is what was collected from one batch.
type table struct {
	objects  []object
	refs     []ref
	groups   []group
	series   []series
	groupOf  map[id]int32
	seriesOf map[id]int32
	repeats  map[window]int32
	merged   []int32 // groups to merge
	added    map[pmetric.ScopeMetrics]pmetric.MetricSlice
}

// window is what tells a retry of a delta point from news.
type window struct {
	source    id
	start, at pcommon.Timestamp
}

// reset forgets the batch and keeps the memory, unless it was a large one.
func (t *table) reset() {
	if cap(t.refs) > keptIdentities || t.groupOf == nil {
		*t = table{groupOf: map[id]int32{}, seriesOf: map[id]int32{}, repeats: map[window]int32{}}
		return
	}
	clear(t.objects)
	clear(t.refs)
	clear(t.series)
	t.objects, t.refs, t.groups, t.series, t.merged = t.objects[:0], t.refs[:0], t.groups[:0], t.series[:0], t.merged[:0]
	clear(t.groupOf)
	clear(t.seriesOf)
	clear(t.repeats)
	t.added = nil
}

// begin registers a metric whose points are collected next.
func (w *worker) begin(m pmetric.Metric, result id) {
	t := &w.table
	n, known := t.seriesOf[result]
	if !known {
		n = int32(len(t.series))
		t.seriesOf[result] = n
		t.series = append(t.series, series{host: none})
	}
	t.objects = append(t.objects, object{
		metric: m, scope: w.at.sm, resourceSchema: w.at.rm.SchemaUrl(), plan: w.at.metric, series: n, first: int32(len(t.refs)),
	})
}

// collect adds a point to its group.
func (w *worker) collect(how handling, result id, attrs pcommon.Map, r ref) {
	t := &w.table
	at := int32(len(t.refs))
	r.object, r.next = int32(len(t.objects)-1), none
	t.refs = append(t.refs, r)
	output := w.ids.point(ofOutput, result, attrs)
	n, known := t.groupOf[output]
	if !known {
		t.groupOf[output] = int32(len(t.groups))
		t.groups = append(t.groups, group{how: how, first: at, last: at, count: 1, touched: r.touched})
		return
	}
	g := &t.groups[n]
	t.refs[g.last].next = at
	g.last = at
	g.count++
	g.touched = g.touched || r.touched
}

// collectNumbers scrubs and collects the points of a gauge or a delta sum.
func (w *worker) collectNumbers(m pmetric.Metric, how handling) {
	source, result := w.metricIDs(m)
	w.begin(m, result)
	above := w.at.scope&touches != 0
	for _, p := range numbers(m).All() {
		r := ref{point: p, at: p.Timestamp(), valued: hasValue(p)}
		if how == mergeDelta && p.StartTimestamp() != 0 {
			r.started = true
			r.source = w.ids.point(ofSource, source, p.Attributes())
		}
		r.touched = w.scrub(p.Attributes(), onDatapoint) || above
		w.scrubExemplars(p.Exemplars())
		w.collect(how, result, p.Attributes(), r)
	}
}

// collectAny scrubs and collects the points of a metric with one writer, whatever its type.
func (w *worker) collectAny(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		collectPoints(w, m, numbers(m), hasValue)
	case pmetric.MetricTypeHistogram:
		collectPoints(w, m, m.Histogram().DataPoints(), recorded)
	case pmetric.MetricTypeExponentialHistogram:
		collectPoints(w, m, m.ExponentialHistogram().DataPoints(), recorded)
	case pmetric.MetricTypeSummary:
		collectPoints(w, m, m.Summary().DataPoints(), recorded)
	}
	w.eachExemplars(m, w.scrubExemplars)
}

func recorded[P dataPoint](p P) bool { return !p.Flags().NoRecordedValue() }

func collectPoints[P dataPoint, S pointSlice[P]](w *worker, m pmetric.Metric, points S, valued func(P) bool) {
	_, result := w.metricIDs(m)
	w.begin(m, result)
	above := w.at.scope&touches != 0
	for i := range points.Len() {
		p := points.At(i)
		touched := w.scrub(p.Attributes(), onDatapoint) || above
		w.collect(oneWriter, result, p.Attributes(), ref{at: p.Timestamp(), touched: touched, valued: valued(p)})
	}
}

// dropTouched drops the touched points of a metric whose merge needs more than one batch. What nothing touched stays.
func (w *worker) dropTouched(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeSum:
		dropPoints(w, m, m.Sum().DataPoints(), hasValue)
	case pmetric.MetricTypeHistogram:
		dropPoints(w, m, m.Histogram().DataPoints(), recorded)
	case pmetric.MetricTypeExponentialHistogram:
		dropPoints(w, m, m.ExponentialHistogram().DataPoints(), recorded)
	case pmetric.MetricTypeSummary:
		dropPoints(w, m, m.Summary().DataPoints(), recorded)
	}
	w.eachExemplars(m, w.scrubExemplars)
}

func dropPoints[P dataPoint, S pointSlice[P]](w *worker, m pmetric.Metric, points S, valued func(P) bool) {
	above := w.at.scope&touches != 0
	had := points.Len()
	points.RemoveIf(func(p P) bool {
		if touched := w.scrub(p.Attributes(), onDatapoint) || above; !touched {
			return false
		}
		why := becauseUnsupported
		if !valued(p) {
			why = becauseNoValue
		}
		w.counts.dropped(m, why, 1)
		return true
	})
	if had > 0 && points.Len() == 0 {
		w.plan.metrics[w.at.metric] |= emptied
	}
}
