package cardinalityguardprocessor

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// writers keeps, of the metrics that one hardware source writes, one point of each series and time: of a batch the last one with a value, of
// several batches the first one. Nothing merges: whatever label of the workload was removed, it is the same counter.
type writers struct {
	objects []writerMetric
	points  []writerPoint
	touched map[merge.Hash]struct{} // series with a touched point: untouched ones are as they are
	kept    map[writerKey]int32
	order   []int32
}

type writerMetric struct {
	metric pmetric.Metric
	plan   int
	first  int
	gone   bool
}

type writerPoint struct {
	key          writerKey
	object       int32
	valued, gone bool
}

type writerKey struct {
	series merge.Hash
	time   pcommon.Timestamp
}

func (c *writers) reset() {
	clear(c.objects)
	c.objects, c.points, c.order = c.objects[:0], c.points[:0], c.order[:0]
	clear(c.kept)
	clear(c.touched)
	if cap(c.points) > keptHashes {
		*c = writers{}
	}
}

// collectWriter scrubs the points of a metric with one writer, whatever its type.
func (w *worker) collectWriter(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		collectWriterPoints(w, m, numbers(m), hasValue)
	case pmetric.MetricTypeHistogram:
		collectWriterPoints(w, m, m.Histogram().DataPoints(), recorded)
	case pmetric.MetricTypeExponentialHistogram:
		collectWriterPoints(w, m, m.ExponentialHistogram().DataPoints(), recorded)
	case pmetric.MetricTypeSummary:
		collectWriterPoints(w, m, m.Summary().DataPoints(), recorded)
	}
	eachExemplars(m, w.ScrubExemplars)
}

func recorded[P dataPoint](p P) bool { return !p.Flags().NoRecordedValue() }

func collectWriterPoints[P dataPoint, S pointSlice[P]](w *worker, m pmetric.Metric, points S, valued func(P) bool) {
	c := &w.writers
	if c.kept == nil {
		c.kept, c.touched = map[writerKey]int32{}, map[merge.Hash]struct{}{}
	}
	_, result := w.identify(m)
	object := int32(len(c.objects))
	c.objects = append(c.objects, writerMetric{metric: m, plan: w.at.metric, first: len(c.points)})
	for i := range points.Len() {
		p := points.At(i)
		touched := w.scrub(p.Attributes(), policy.Datapoint) || w.at.scope&touches != 0
		series := w.batch.Hasher.Point(result, p.Attributes())
		if touched || w.engine.Cleaned(m.Name(), series) {
			c.touched[series] = struct{}{}
		}
		c.points = append(c.points, writerPoint{key: writerKey{series, p.Timestamp()}, object: object, valued: valued(p)})
	}
}

// findRepeats finds the points of one series and time. The staleness marker of the series with the old labels must not end the series that goes
// on with the new ones.
func (w *worker) findRepeats() {
	c := &w.writers
	if len(c.touched) == 0 {
		return
	}
	for at := range c.points {
		p := &c.points[at]
		if _, touched := c.touched[p.key.series]; !touched {
			continue
		}
		other, twice := c.kept[p.key]
		switch {
		case !twice:
			c.kept[p.key] = int32(at)
		case p.valued || !c.points[other].valued:
			w.dropWriter(other, becauseDuplicate)
			c.kept[p.key] = int32(at)
		default:
			w.dropWriter(int32(at), becauseDuplicate)
		}
	}
}

// findLate finds the points that are not newer than what went on of their series with earlier batches.
func (w *worker) findLate(now int64) {
	c := &w.writers
	for at := range c.points {
		if !c.points[at].gone {
			c.order = append(c.order, int32(at))
		}
	}
	byTime := func(x, y int32) int { return cmp.Compare(c.points[x].key.time, c.points[y].key.time) }
	if !slices.IsSortedFunc(c.order, byTime) {
		slices.SortStableFunc(c.order, byTime)
	}
	for _, at := range c.order {
		p := &c.points[at]
		_, cleaned := c.touched[p.key.series]
		why, late := w.engine.Write(c.objects[p.object].metric.Name(), p.key.series, int64(p.key.time), cleaned, now)
		switch {
		case late && why == merge.Duplicate:
			w.dropWriter(at, becauseDuplicate)
		case late:
			w.dropWriter(at, becauseLate)
		}
	}
}

func (w *worker) dropWriter(at int32, why reason) {
	p := &w.writers.points[at]
	o := &w.writers.objects[p.object]
	p.gone, o.gone = true, true
	w.counts.dropped(o.metric, why, 1)
}

// settleWriters takes the repeated points out.
func (w *worker) settleWriters(now int64) {
	w.findRepeats()
	w.findLate(now)
	for i := range w.writers.objects {
		o := &w.writers.objects[i]
		if !o.gone {
			continue
		}
		switch o.metric.Type() {
		case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
			removeWriterPoints(w, o, numbers(o.metric))
		case pmetric.MetricTypeHistogram:
			removeWriterPoints(w, o, o.metric.Histogram().DataPoints())
		case pmetric.MetricTypeExponentialHistogram:
			removeWriterPoints(w, o, o.metric.ExponentialHistogram().DataPoints())
		case pmetric.MetricTypeSummary:
			removeWriterPoints(w, o, o.metric.Summary().DataPoints())
		}
		if pointCount(o.metric) == 0 { // it had the repeated ones
			w.plan.metrics[o.plan] |= emptied
		}
	}
}

func removeWriterPoints[P dataPoint, S pointSlice[P]](w *worker, o *writerMetric, points S) {
	at := o.first
	points.RemoveIf(func(P) bool {
		at++
		return w.writers.points[at-1].gone
	})
}
