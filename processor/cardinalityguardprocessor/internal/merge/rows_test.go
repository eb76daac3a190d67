package merge

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

var totalKinds = []Kind{Sum, Histogram, Exponential, Summary}

// row is one of the design's table of what a cumulative point counts. The guard began at 100; each step is a batch at a time and what goes on of it.
type row struct {
	name  string
	kinds []Kind // none: all
	cfg   func(*Config)
	steps []rowStep
	count func(*Counts) int64 // one, when all is done; nil: not looked at
}

type rowStep struct {
	at     float64
	in     []ruledPoint
	change func(pmetric.Metric) // what no ruledPoint can say
	want   string               // "": nothing
}

func initial(v InitialValue) func(*Config) { return func(c *Config) { c.Initial = v } }

func reset(k Reset) func(*Counts) int64 { return func(c *Counts) int64 { return c.Resets[k] } }

func dropped(why Reason) func(*Counts) int64 {
	return func(c *Counts) (n int64) {
		for _, k := range totalKinds {
			n += c.Dropped[k][why]
		}
		return n
	}
}

func baselined(c *Counts) (n int64) {
	for _, k := range totalKinds {
		n += c.Baselined[k]
	}
	return n
}

func a(start, time, value float64) []ruledPoint {
	return []ruledPoint{{run: "a", start: start, time: time, value: value}}
}

func double(v float64) func(pmetric.Metric) {
	return func(m pmetric.Metric) { m.Sum().DataPoints().At(0).SetDoubleValue(v) }
}

func histPoint(change func(pmetric.HistogramDataPoint)) func(pmetric.Metric) {
	return func(m pmetric.Metric) { change(m.Histogram().DataPoints().At(0)) }
}

func expPoint(change func(pmetric.ExponentialHistogramDataPoint)) func(pmetric.Metric) {
	return func(m pmetric.Metric) { change(m.ExponentialHistogram().DataPoints().At(0)) }
}

// tenOfA is a source that began under the guard's eyes and reached ten.
var tenOfA = rowStep{at: 111, in: a(101, 110, 10), want: "(101, 110] 10"}

// moreOfA is a point that adds what tells whether it is compared with the ten or with something else.
func moreOfA(want string) rowStep { return rowStep{at: 131, in: a(101, 130, 13), want: want} }

var rows = []row{
	{name: "1 an end counts nothing, and the baseline stays", count: dropped(NoValue), steps: []rowStep{
		tenOfA,
		{at: 116, in: []ruledPoint{{run: "a", start: 101, time: 115, value: 99, ends: true}}, want: "(101, 115] end"},
		moreOfA("(101, 130] 13"),
	}},
	{name: "2 a sum that is no number", kinds: []Kind{Sum}, count: dropped(NotFinite), steps: []rowStep{
		tenOfA, {at: 121, in: a(101, 120, 0), change: double(math.NaN())}, moreOfA("(101, 130] 13"),
	}},
	{name: "2 a sum that is infinite", kinds: []Kind{Sum}, count: dropped(NotFinite), steps: []rowStep{
		tenOfA, {at: 121, in: a(101, 120, 0), change: double(math.Inf(1))}, moreOfA("(101, 130] 13"),
	}},
	{name: "2 a negative counter", kinds: []Kind{Sum}, count: dropped(Malformed), steps: []rowStep{
		tenOfA, {at: 121, in: a(101, 120, -1)}, moreOfA("(101, 130] 13"),
	}},
	{name: "2 buckets that are not those of the bounds", kinds: []Kind{Histogram}, count: dropped(Malformed), steps: []rowStep{
		tenOfA,
		{at: 121, in: a(101, 120, 12), change: histPoint(func(p pmetric.HistogramDataPoint) { p.BucketCounts().FromRaw([]uint64{12}) })},
		moreOfA("(101, 130] 13"),
	}},
	{name: "2 bounds that do not ascend", kinds: []Kind{Histogram}, count: dropped(Malformed), steps: []rowStep{
		tenOfA,
		{at: 121, in: a(101, 120, 12), change: histPoint(func(p pmetric.HistogramDataPoint) {
			p.ExplicitBounds().FromRaw([]float64{1, 1})
			p.BucketCounts().FromRaw([]uint64{12, 0, 0})
		})},
		moreOfA("(101, 130] 13"),
	}},
	{name: "2 buckets that are not the count", kinds: []Kind{Histogram, Exponential}, count: dropped(Malformed), steps: []rowStep{
		tenOfA, {at: 121, in: a(101, 120, 12), change: setCount(11)}, moreOfA("(101, 130] 13"),
	}},
	{name: "2 a summary whose sum is no number", kinds: []Kind{Summary}, count: dropped(NotFinite), steps: []rowStep{
		tenOfA,
		{at: 121, in: a(101, 120, 12), change: func(m pmetric.Metric) { m.Summary().DataPoints().At(0).SetSum(math.NaN()) }},
		moreOfA("(101, 130] 13"),
	}},
	{name: "3 an untouched series of which nothing was sent counts in full, and gives its start", steps: []rowStep{
		{at: 111, in: []ruledPoint{{start: 50, time: 110, value: 8}, {run: "a", start: 101, time: 110, value: 2}}, want: "(50, 110] 10"},
	}},
	{name: "4 born under the guard's eyes", steps: []rowStep{{at: 111, in: a(101, 110, 10), want: "(101, 110] 10"}}},
	{name: "4 born as the guard began", steps: []rowStep{{at: 111, in: a(100, 110, 10), want: "(100, 110] 10"}}},
	{name: "4 under drop", cfg: initial(None), count: baselined, steps: []rowStep{{at: 111, in: a(101, 110, 10), want: "(110, 110] 0"}, moreOfA("(110, 130] 3")}},
	{name: "5 from before the guard", count: baselined, steps: []rowStep{{at: 111, in: a(99, 110, 10), want: "(110, 110] 0"}, {at: 131, in: a(99, 130, 13), want: "(110, 130] 3"}}},
	{name: "5 that begins with its point", count: baselined, steps: []rowStep{{at: 111, in: a(110, 110, 10), want: "(110, 110] 0"}}},
	{name: "5 without a start, in the warm-up", count: baselined, steps: []rowStep{{at: 399, in: a(0, 398, 10), want: "(398, 398] 0"}}},
	{name: "5 under keep", cfg: initial(Keep), steps: []rowStep{{at: 111, in: a(99, 110, 10), want: "(99, 110] 10"}}},
	{name: "6 without a start, after the warm-up", steps: []rowStep{{at: 401, in: a(0, 399, 10), want: "(none, 399] 10"}}},
	{name: "6 under drop", cfg: initial(None), count: baselined, steps: []rowStep{{at: 401, in: a(0, 399, 10), want: "(399, 399] 0"}}},
	{name: "6 with a tombstone goes on from it", kinds: []Kind{Sum}, steps: append(forgotten(), rowStep{at: 1000, in: a(0, 999, 13), want: "(none, 999] 13"})},
	{name: "6 with a tombstone, of what is more than a number, is a baseline", kinds: []Kind{Histogram, Exponential, Summary}, count: baselined, steps: append(forgotten(),
		rowStep{at: 1000, in: a(0, 999, 13), want: "(none, 999] 10"}, rowStep{at: 1010, in: a(0, 1009, 14), want: "(none, 1009] 11"})},
	{name: "7 older than the last point", count: dropped(OutOfOrder), steps: []rowStep{tenOfA, {at: 121, in: a(101, 109, 50)}, moreOfA("(101, 130] 13")}},
	{name: "7 as old as the last point", count: dropped(Duplicate), steps: []rowStep{tenOfA, {at: 121, in: a(101, 110, 50)}, moreOfA("(101, 130] 13")}},
	{name: "7 before 8: a newer start does not make a late point count", count: dropped(Duplicate), steps: []rowStep{tenOfA, {at: 121, in: a(109, 110, 50)}, moreOfA("(101, 130] 13")}},
	{name: "8 began anew, though the value rose", count: reset(TrueReset), steps: []rowStep{tenOfA, {at: 121, in: a(115, 120, 12), want: "(101, 120] 22"}}},
	{name: "8 began anew with the last point", count: reset(TrueReset), steps: []rowStep{tenOfA, {at: 121, in: a(110, 120, 12), want: "(101, 120] 22"}}},
	{name: "8 a start was not known", count: reset(TrueReset), steps: []rowStep{
		{at: 401, in: a(0, 399, 10), want: "(none, 399] 10"}, {at: 411, in: a(400, 410, 12), want: "(none, 410] 22"},
	}},
	{name: "9 the value fell", count: reset(ImplicitReset), steps: []rowStep{tenOfA, {at: 121, in: a(101, 120, 4), want: "(101, 120] 14"}}},
	{name: "9 a sum fell by an eighth", kinds: []Kind{Sum}, count: reset(ImplicitReset), steps: []rowStep{
		{at: 111, in: a(101, 110, 80), want: "(101, 110] 80"}, {at: 121, in: a(101, 120, 70), want: "(101, 120] 150"},
	}},
	{name: "9 a sum fell by less: a glitch", kinds: []Kind{Sum}, count: reset(Glitch), steps: []rowStep{
		{at: 111, in: a(101, 110, 80), want: "(101, 110] 80"}, {at: 121, in: a(101, 120, 71), want: "(101, 120] 80"}, {at: 131, in: a(101, 130, 72), want: "(101, 130] 81"},
	}},
	{name: "9 a sum fell by less, and its start moved", kinds: []Kind{Sum}, count: reset(ImplicitReset), steps: []rowStep{
		{at: 111, in: a(101, 110, 80), want: "(101, 110] 80"}, {at: 121, in: a(102, 120, 71), want: "(101, 120] 151"},
	}},
	{name: "9 a count knows no glitch", kinds: []Kind{Histogram, Exponential, Summary}, count: reset(ImplicitReset), steps: []rowStep{
		{at: 111, in: a(101, 110, 80), want: "(101, 110] 80"}, {at: 121, in: a(101, 120, 79), want: "(101, 120] 159"},
	}},
	{name: "9 a bucket fell", kinds: []Kind{Histogram}, count: reset(ImplicitReset), steps: []rowStep{
		tenOfA,
		{at: 121, in: a(101, 120, 12), change: histPoint(func(p pmetric.HistogramDataPoint) { p.BucketCounts().FromRaw([]uint64{9, 3}) }), want: "(101, 120] 22"},
	}},
	{name: "9 a bucket fell", kinds: []Kind{Exponential}, count: reset(ImplicitReset), steps: []rowStep{
		tenOfA,
		{at: 121, in: a(101, 120, 12), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) { p.Negative().BucketCounts().FromRaw([]uint64{9, 3}) }), want: "(101, 120] 22"},
	}},
	{name: "9 the zero count fell", kinds: []Kind{Exponential}, count: reset(ImplicitReset), steps: []rowStep{
		{at: 111, in: a(101, 110, 10), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) {
			p.SetZeroCount(4)
			p.Negative().BucketCounts().FromRaw([]uint64{6})
		}), want: "(101, 110] 10"},
		{at: 121, in: a(101, 120, 12), want: "(101, 120] 22"},
	}},
	{name: "9 the scale rose", kinds: []Kind{Exponential}, count: reset(ImplicitReset), steps: []rowStep{
		tenOfA, {at: 121, in: a(101, 120, 12), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) { p.SetScale(1) }), want: "(101, 120] 22"},
	}},
	{name: "9 the zero threshold fell", kinds: []Kind{Exponential}, count: reset(ImplicitReset), steps: []rowStep{
		{at: 111, in: a(101, 110, 10), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) { p.SetZeroThreshold(0.5) }), want: "(101, 110] 10"},
		{at: 121, in: a(101, 120, 12), want: "(101, 120] 22"},
	}},
	{name: "10 goes on", steps: []rowStep{tenOfA, {at: 121, in: a(101, 120, 12), want: "(101, 120] 12"}}},
	{name: "10 a start that jitters", count: reset(StartOverlap), steps: []rowStep{tenOfA, {at: 121, in: a(102, 120, 12), want: "(101, 120] 12"}}},
	{name: "10 an older start", count: reset(StartOverlap), steps: []rowStep{tenOfA, {at: 121, in: a(50, 120, 12), want: "(101, 120] 12"}}},
	{name: "10 a start that is the time", count: reset(StartOverlap), steps: []rowStep{tenOfA, {at: 121, in: a(120, 120, 12), want: "(101, 120] 12"}}},
	{name: "10 a start that is gone", count: reset(StartOverlap), steps: []rowStep{tenOfA, {at: 121, in: a(0, 120, 12), want: "(101, 120] 12"}}},
	{name: "10 a scale that fell", kinds: []Kind{Exponential}, steps: []rowStep{
		tenOfA, {at: 121, in: a(101, 120, 12), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) { p.SetScale(-1) }), want: "(101, 120] 12"},
	}},
	{name: "10 a scale that said nothing", kinds: []Kind{Exponential}, steps: []rowStep{
		{at: 111, in: a(101, 110, 10), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) {
			p.SetZeroCount(10)
			p.Negative().BucketCounts().FromRaw(nil)
		}), want: "(101, 110] 10"},
		{at: 121, in: a(101, 120, 12), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) {
			p.SetScale(20)
			p.SetZeroCount(11)
			p.Negative().BucketCounts().FromRaw([]uint64{1})
		}), want: "(101, 120] 12"},
	}},
	{name: "10 a zero threshold that rose", kinds: []Kind{Exponential}, steps: []rowStep{
		tenOfA,
		{at: 121, in: a(101, 120, 12), change: expPoint(func(p pmetric.ExponentialHistogramDataPoint) {
			p.SetZeroThreshold(2)
			p.SetZeroCount(12)
			p.Negative().BucketCounts().FromRaw(nil)
		}), want: "(101, 120] 12"},
	}},
}

// forgotten is a source without a start that came after the warm-up, ended, and left a tombstone.
func forgotten() []rowStep {
	return []rowStep{
		{at: 401, in: a(0, 399, 10), want: "(none, 399] 10"},
		{at: 411, in: []ruledPoint{{run: "a", time: 410, ends: true}}, want: "(none, 410] end"},
		{at: 411 + endedExpiry.Seconds()},
	}
}

func setCount(n uint64) func(pmetric.Metric) {
	return func(m pmetric.Metric) {
		if m.Type() == pmetric.MetricTypeHistogram {
			m.Histogram().DataPoints().At(0).SetCount(n)
		} else {
			m.ExponentialHistogram().DataPoints().At(0).SetCount(n)
		}
	}
}

// rowSent is ruledSent for whole seconds and integers.
func rowSent(md pmetric.Metrics) []string {
	out := ruledSent(md)
	for i := range out {
		out[i] = strings.TrimSuffix(strings.ReplaceAll(out[i], ".000", ""), " false")
	}
	return out
}

// TestEachRowOfTheTable tries each condition of a cumulative point by itself, for each type that it concerns.
func TestEachRowOfTheTable(t *testing.T) {
	t.Parallel()
	for _, c := range rows {
		kinds := c.kinds
		if kinds == nil {
			kinds = totalKinds
		}
		for _, k := range kinds {
			t.Run(fmt.Sprint(c.name, " ", kindNames[k]), func(t *testing.T) {
				t.Parallel()
				cfg := testConfig()
				if c.cfg != nil {
					c.cfg(&cfg)
				}
				r := newRig(cfg, plain{}, sec(100))
				for i, s := range c.steps {
					r.now = sec(s.at)
					md := ruledBatch(k, s.in)
					if s.change != nil {
						s.change(md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0))
					}
					require.Empty(t, ruledSent(r.feed(md)), "nothing passes")
					var want []string
					if s.want != "" {
						want = []string{s.want}
					}
					require.Equal(t, want, rowSent(r.flush()), "step %d", i+1)
				}
				if c.count != nil {
					require.Equal(t, int64(1), c.count(&r.batch.Counts))
				}
			})
		}
	}
}
