package merge

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// point is what every kind of point has.
type point interface {
	Attributes() pcommon.Map
	Timestamp() pcommon.Timestamp
	StartTimestamp() pcommon.Timestamp
	Flags() pmetric.DataPointFlags
}

// slice is pdata's slice of one kind of points.
type slice[P point] interface {
	Len() int
	At(i int) P
	RemoveIf(f func(P) bool)
}

// Numbers gives the points of a gauge or a sum.
func Numbers(m pmetric.Metric) pmetric.NumberDataPointSlice {
	if m.Type() == pmetric.MetricTypeSum {
		return m.Sum().DataPoints()
	}
	return m.Gauge().DataPoints()
}

// collect makes an item of each point of a group: its identity from before the removal, then the removal.
func (b *Batch) collect(at int32) {
	g := &b.groups[at]
	g.first = len(b.items)
	switch g.Metric.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		b.collectNumbers(at, Numbers(g.Metric))
	case pmetric.MetricTypeHistogram:
		points := g.Metric.Histogram().DataPoints()
		for i := range points.Len() {
			p := points.At(i)
			it := b.newItem(at, i, p.Attributes(), p.StartTimestamp(), p.Timestamp(), p.Flags())
			it.counted(p.Count(), p.Sum())
			b.scrubExemplars(it, p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		points := g.Metric.ExponentialHistogram().DataPoints()
		for i := range points.Len() {
			p := points.At(i)
			it := b.newItem(at, i, p.Attributes(), p.StartTimestamp(), p.Timestamp(), p.Flags())
			it.counted(p.Count(), p.Sum())
			b.scrubExemplars(it, p.Exemplars())
		}
	case pmetric.MetricTypeSummary:
		points := g.Metric.Summary().DataPoints()
		for i := range points.Len() {
			p := points.At(i)
			it := b.newItem(at, i, p.Attributes(), p.StartTimestamp(), p.Timestamp(), p.Flags())
			it.counted(p.Count(), p.Sum())
		}
	}
}

// counted takes what orders a distribution among others of its source. A sum that is not there is zero, which is no marker.
func (it *item) counted(count uint64, sum float64) {
	it.value = number{bits: min(count, math.MaxInt64)}
	it.noValue = it.noValue || isStale(sum)
}

func (b *Batch) collectNumbers(at int32, points pmetric.NumberDataPointSlice) {
	for i := range points.Len() {
		p := points.At(i)
		it := b.newItem(at, i, p.Attributes(), p.StartTimestamp(), p.Timestamp(), p.Flags())
		it.value = numberOf(p)
		it.noValue = it.noValue || p.ValueType() == pmetric.NumberDataPointValueTypeEmpty || (it.value.double && it.value.bits == staleNaN)
		b.scrubExemplars(it, p.Exemplars())
	}
}

// identify gives the source of a point.
func (b *Batch) identify(g *Group, i int, attrs pcommon.Map) Hash {
	if i < len(g.Attributes) {
		return PointOf(g.Source, g.Attributes[i])
	}
	return b.Hasher.Point(g.Source, attrs)
}

func (b *Batch) newItem(at int32, i int, attrs pcommon.Map, start, time pcommon.Timestamp, flags pmetric.DataPointFlags) *item {
	g := &b.groups[at]
	b.items = append(b.items, item{})
	it := &b.items[len(b.items)-1]
	it.id = b.identify(g, i, attrs)
	it.touched = (!g.Clean && b.scrub.ScrubPoint(attrs)) || g.Touched
	it.group, it.index = at, int32(i)
	it.start, it.time = sane(uint64(start)), sane(uint64(time))
	it.noValue = flags.NoRecordedValue()
	b.fixTime(it)
	return it
}

func (b *Batch) scrubExemplars(it *item, exemplars pmetric.ExemplarSlice) {
	if exemplars.Len() > 0 {
		b.scrub.ScrubExemplars(exemplars)
		it.exemplars = true
	}
}

// removeGone takes the points out of a metric that are part of an output now, or dropped.
func (b *Batch) removeGone(g *Group) {
	if g.gone == 0 {
		return
	}
	switch g.Metric.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		removePoints(b, g, Numbers(g.Metric))
	case pmetric.MetricTypeHistogram:
		removePoints(b, g, g.Metric.Histogram().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		removePoints(b, g, g.Metric.ExponentialHistogram().DataPoints())
	case pmetric.MetricTypeSummary:
		removePoints(b, g, g.Metric.Summary().DataPoints())
	}
}

func removePoints[P point, S slice[P]](b *Batch, g *Group, points S) {
	at := g.first
	points.RemoveIf(func(P) bool {
		at++
		return b.items[at-1].gone
	})
}
