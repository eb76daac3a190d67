package merge

import (
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// kinds are what the generated runs report, each under its own metric.
var kinds = []Kind{Gauge, Sum, UpDown, DeltaSum, Histogram, DeltaHistogram, Exponential, DeltaExponential, Summary}

var layouts = [][]float64{{1, 2, 4, 8}, {1, 2, 4, 8}, {2, 3, 8}, {0.5, 2, 8, 16}, {}}

var values = []float64{0.3, 0.7, 1.1, 1.5, 2.6, 3.1, 5.5, 7.2, 12.5, -1.3, -3.3, 0}

// run is a source as a trainer's SDK would keep it.
type run struct {
	name, phase string
	start       int64
	scraped     int64
	bounds      []float64
	scale       int32
	threshold   float64
	double      bool
	values      []float64 // since the start
	fresh       []float64 // since the last scrape
	level       float64
	ended       bool
	native      bool // without a run id: it reports cumulative series only, and does not reset
}

func drawRun(t *rapid.T, name string, now int64) *run {
	return &run{
		name: name, phase: rapid.SampledFrom([]string{"train", "test"}).Draw(t, "phase"), start: now, scraped: now,
		bounds: rapid.SampledFrom(layouts).Draw(t, "bounds"), scale: rapid.SampledFrom([]int32{-1, 0, 1, 2, 3, 3, 6, 8}).Draw(t, "scale"), // the last two need more buckets than a point has
		threshold: rapid.SampledFrom([]float64{0, 0, 0.5, 1}).Draw(t, "threshold"), double: rapid.Bool().Draw(t, "double"),
	}
}

// scrape gives a point of each kind.
func (r *run) scrape(now int64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	metrics := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	for _, k := range kinds {
		if r.native && !k.Cumulative() {
			continue
		}
		m := metrics.AppendEmpty()
		m.SetName(kindNames[k])
		r.point(m, k, now)
	}
	r.fresh, r.scraped = nil, now
	return md
}

var kindNames = map[Kind]string{
	Gauge: "gauge", Sum: "sum", UpDown: "updown", DeltaSum: "delta", Histogram: "hist", DeltaHistogram: "hist.delta",
	Exponential: "exp", DeltaExponential: "exp.delta", Summary: "summary",
}

func (r *run) point(m pmetric.Metric, k Kind, now int64) {
	start, of := r.start, r.values
	temporality := pmetric.AggregationTemporalityCumulative
	if k.delta() {
		start, of, temporality = r.scraped, r.fresh, pmetric.AggregationTemporalityDelta
	}
	head := func(p movable) {
		p.Attributes().PutStr("phase", r.phase)
		if !r.native {
			p.Attributes().PutStr("run_id", r.name)
		}
		p.SetStartTimestamp(pcommon.Timestamp(start))
		p.SetTimestamp(pcommon.Timestamp(now))
	}
	switch k {
	case Gauge, Sum, UpDown, DeltaSum:
		if k == Gauge {
			m.SetEmptyGauge()
		} else {
			m.SetEmptySum().SetAggregationTemporality(temporality)
			m.Sum().SetIsMonotonic(k != UpDown)
		}
		p := Numbers(m).AppendEmpty()
		head(p)
		r.number(p, k, of)
	case Histogram, DeltaHistogram:
		m.SetEmptyHistogram().SetAggregationTemporality(temporality)
		p := m.Histogram().DataPoints().AppendEmpty()
		head(p)
		r.histogram(p, of)
	case Exponential, DeltaExponential:
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		head(p)
		r.exponential(p, of)
	case Summary:
		m.SetEmptySummary()
		p := m.Summary().DataPoints().AppendEmpty()
		head(p)
		if r.ended {
			p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
			return
		}
		p.SetCount(uint64(len(of)))
		p.SetSum(sumOf(of))
	}
}

func (r *run) number(p pmetric.NumberDataPoint, k Kind, of []float64) {
	v := float64(len(of))
	if k == Gauge || k == UpDown {
		v = r.level
	}
	if r.double {
		p.SetDoubleValue(v)
	} else {
		p.SetIntValue(int64(v))
	}
	if r.ended {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	}
}

func (r *run) histogram(p pmetric.HistogramDataPoint, of []float64) {
	if r.ended {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		return
	}
	p.SetCount(uint64(len(of)))
	p.SetSum(sumOf(of))
	if len(of) > 0 {
		p.SetMin(slices.Min(of))
		p.SetMax(slices.Max(of))
	}
	if len(r.bounds) > 0 {
		p.ExplicitBounds().FromRaw(r.bounds)
		p.BucketCounts().FromRaw(histogramOf(of, r.bounds))
	}
}

func histogramOf(of, bounds []float64) []uint64 {
	counts := make([]uint64, len(bounds)+1)
	for _, v := range of {
		at := 0
		for at < len(bounds) && v > bounds[at] {
			at++
		}
		counts[at]++
	}
	return counts
}

func (r *run) exponential(p pmetric.ExponentialHistogramDataPoint, of []float64) {
	if r.ended {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		return
	}
	p.SetCount(uint64(len(of)))
	p.SetSum(sumOf(of))
	if len(of) > 0 {
		p.SetMin(slices.Min(of))
		p.SetMax(slices.Max(of))
	}
	p.SetScale(r.scale)
	p.SetZeroThreshold(r.threshold)
	zero, positive, negative := exponentialOf(of, r.scale, r.threshold)
	p.SetZeroCount(zero)
	for counts, side := range map[*map[int32]uint64]pmetric.ExponentialHistogramDataPointBuckets{
		&positive: p.Positive(), &negative: p.Negative(),
	} {
		if len(*counts) == 0 {
			continue
		}
		low, high := int32(math.MaxInt32), int32(math.MinInt32)
		for i := range *counts {
			low, high = min(low, i), max(high, i)
		}
		side.SetOffset(low)
		if !r.native { // a leading zero
			side.SetOffset(low - 1)
			side.BucketCounts().Append(0)
		}
		for i := low; i <= high; i++ {
			side.BucketCounts().Append((*counts)[i])
		}
	}
}

// exponentialOf counts by the definition: bucket i holds (base^i, base^(i+1)].
func exponentialOf(of []float64, scale int32, threshold float64) (zero uint64, positive, negative map[int32]uint64) {
	positive, negative = map[int32]uint64{}, map[int32]uint64{}
	for _, v := range of {
		index := int32(math.Ceil(math.Log2(math.Abs(v))*math.Exp2(float64(scale)))) - 1
		switch {
		case math.Abs(v) <= threshold:
			zero++
		case v > 0:
			positive[index]++
		default:
			negative[index]++
		}
	}
	return zero, positive, negative
}

func sumOf(of []float64) (sum float64) {
	for _, v := range of {
		sum += v
	}
	return sum
}
