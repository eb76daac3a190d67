package merge

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// wild draws points of one kind that agree with themselves and with nothing else: values fall and rise, starts move, two points of a source have one
// time and differ, sources end and go on.
type wild struct {
	t       *rapid.T
	kind    Kind
	natives bool
}

func drawWild(t *rapid.T, natives bool) wild {
	return wild{t, rapid.SampledFrom(kinds).Draw(t, "kind"), natives}
}

func wildConfig(t *rapid.T) Config {
	cfg := testConfig()
	cfg.SourceExpiry = 10 * time.Minute
	cfg.Initial = rapid.SampledFrom([]InitialValue{Auto, Auto, Keep, None}).Draw(t, "initial")
	return cfg
}

// later is a time until the next batch: some are long enough for sources to be stale or to expire.
func (w wild) later() float64 {
	return rapid.SampledFrom([]float64{5, 10, 20, 40, 301, 700}).Draw(w.t, "later")
}

func (w wild) batch(now float64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	for range rapid.IntRange(1, 4).Draw(w.t, "resources") {
		m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName(kindNames[w.kind])
		for range rapid.IntRange(1, 3).Draw(w.t, "points") {
			w.point(m, now)
		}
	}
	return md
}

func (w wild) head(p interface {
	movable
	SetFlags(pmetric.DataPointFlags)
}, now float64,
) {
	runs := []string{"a", "b", "c"}
	if w.natives {
		runs = append(runs, "")
	}
	if run := rapid.SampledFrom(runs).Draw(w.t, "run"); run != "" {
		p.Attributes().PutStr("run_id", run)
	}
	at := now - float64(rapid.SampledFrom([]int{0, 0, 0, 1, 5, 30, -2, -100}).Draw(w.t, "ago"))
	p.SetTimestamp(pcommon.Timestamp(sec(at)))
	switch rapid.IntRange(0, 4).Draw(w.t, "start") {
	case 0:
	case 1:
		since := rapid.SampledFrom([]float64{0, 1, 10, 60, -1}).Draw(w.t, "since")
		p.SetStartTimestamp(pcommon.Timestamp(sec(at - since)))
	case 2:
		p.SetStartTimestamp(pcommon.Timestamp(sec(-50)))
	default:
		p.SetStartTimestamp(pcommon.Timestamp(sec(1)))
	}
	p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(rapid.IntRange(0, 9).Draw(w.t, "ends") == 0))
}

func (w wild) count() uint64 {
	return rapid.SampledFrom([]uint64{0, 0, 1, 2, 5, 100}).Draw(w.t, "count")
}

func (w wild) counts(to pcommon.UInt64Slice, n int) (all uint64) {
	for range n {
		c := w.count()
		to.Append(c)
		all += c
	}
	return all
}

func (w wild) point(m pmetric.Metric, now float64) {
	temporality := pmetric.AggregationTemporalityCumulative
	if w.kind.delta() {
		temporality = pmetric.AggregationTemporalityDelta
	}
	switch w.kind {
	case Gauge, Sum, UpDown, DeltaSum:
		if m.Type() == pmetric.MetricTypeEmpty && w.kind == Gauge {
			m.SetEmptyGauge()
		} else if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptySum().SetAggregationTemporality(temporality)
			m.Sum().SetIsMonotonic(w.kind != UpDown)
		}
		w.number(Numbers(m).AppendEmpty(), now)
	case Histogram, DeltaHistogram:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptyHistogram().SetAggregationTemporality(temporality)
		}
		w.histogram(m.Histogram().DataPoints().AppendEmpty(), now)
	case Exponential, DeltaExponential:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
		}
		w.exponential(m.ExponentialHistogram().DataPoints().AppendEmpty(), now)
	case Summary:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptySummary()
		}
		w.summary(m.Summary().DataPoints().AppendEmpty(), now)
	}
}

func (w wild) number(p pmetric.NumberDataPoint, now float64) {
	w.head(p, now)
	if rapid.IntRange(0, 3).Draw(w.t, "double") == 0 {
		p.SetDoubleValue(rapid.SampledFrom([]float64{0, 0.5, 1, 2.5, 100, 95.5, -1.5}).Draw(w.t, "value"))
	} else {
		p.SetIntValue(rapid.SampledFrom([]int64{0, 1, 2, 10, 90, 100, -3}).Draw(w.t, "value"))
	}
}

func (w wild) histogram(p pmetric.HistogramDataPoint, now float64) {
	w.head(p, now)
	if bounds := rapid.SampledFrom(layouts).Draw(w.t, "bounds"); len(bounds) > 0 {
		p.ExplicitBounds().FromRaw(bounds)
		p.SetCount(w.counts(p.BucketCounts(), len(bounds)+1))
	} else {
		p.SetCount(w.count())
	}
	if rapid.IntRange(0, 3).Draw(w.t, "sum") > 0 {
		p.SetSum(float64(p.Count()))
		p.SetMin(1)
		p.SetMax(2)
	}
}

func (w wild) exponential(p pmetric.ExponentialHistogramDataPoint, now float64) {
	w.head(p, now)
	p.SetScale(rapid.Int32Range(-2, 4).Draw(w.t, "scale"))
	p.SetZeroThreshold(rapid.SampledFrom([]float64{0, 0, 0.3, 1, 2}).Draw(w.t, "threshold"))
	p.SetZeroCount(w.count())
	all := p.ZeroCount()
	for _, side := range []pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
		side.SetOffset(rapid.Int32Range(-4, 90).Draw(w.t, "offset"))
		all += w.counts(side.BucketCounts(), rapid.IntRange(0, 4).Draw(w.t, "buckets"))
	}
	p.SetCount(all)
	if rapid.IntRange(0, 3).Draw(w.t, "sum") > 0 {
		p.SetSum(float64(all))
		p.SetMin(1)
		p.SetMax(2)
	}
}

func (w wild) summary(p pmetric.SummaryDataPoint, now float64) {
	w.head(p, now)
	p.SetCount(w.count())
	p.SetSum(float64(p.Count()))
	for _, q := range []float64{0, 0.5, 1} {
		if rapid.Bool().Draw(w.t, "has a quantile") {
			v := p.QuantileValues().AppendEmpty()
			v.SetQuantile(q)
			v.SetValue(rapid.SampledFrom([]float64{1, 2, 3}).Draw(w.t, "quantile"))
		}
	}
}

// TestTheOrderOfPointsThatContradictEachOtherDoesNotCount, also of those that have one source and one time.
func TestTheOrderOfPointsThatContradictEachOtherDoesNotCount(t *testing.T) {
	property(t, func(t *rapid.T) {
		w := drawWild(t, true)
		cfg, now := wildConfig(t), 0.
		x, y := newRig(cfg, plain{}, sec(0)), newRig(cfg, plain{}, sec(0))
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			now += w.later()
			x.now, y.now = sec(now), sec(now)
			md, mixed := w.batch(now), pmetric.NewMetrics()
			for _, i := range rapid.Permutation(slices.Collect(intsTo(md.ResourceMetrics().Len()))).Draw(t, "order") {
				md.ResourceMetrics().At(i).CopyTo(mixed.ResourceMetrics().AppendEmpty())
			}
			require.Equal(t, listed(t, x.feed(md)), listed(t, y.feed(mixed)))
			if rapid.Bool().Draw(t, "flush") {
				require.Equal(t, listed(t, x.flush()), listed(t, y.flush()), "at %v", now)
			}
		}
	})
}

// TestARestartWithAStateChangesNothingWhateverComes compares an engine with one that is restarted behind flushes, refused ones too, while sources end,
// are stale, expire and come back.
func TestARestartWithAStateChangesNothingWhateverComes(t *testing.T) {
	property(t, func(t *rapid.T) {
		w := drawWild(t, false)
		cfg, now := wildConfig(t), 0.
		cfg.SeriesPerMetric = rapid.SampledFrom([]int{1, 2, 2000}).Draw(t, "series")
		rules := plain{gauge: rapid.SampledFrom([]GaugeRule{Last, Mean, Min, Max, Total}).Draw(t, "rule"), rule: true}
		x, y := newRig(cfg, rules, sec(0)), newRig(cfg, rules, sec(0))
		stored := map[string][]byte{}
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			now += w.later()
			x.now, y.now = sec(now), sec(now)
			if rapid.IntRange(0, 4).Draw(t, "feed") > 0 {
				md, same := w.batch(now), pmetric.NewMetrics()
				md.CopyTo(same)
				require.Equal(t, listed(t, x.feed(md)), listed(t, y.feed(same)))
			}
			if !rapid.Bool().Draw(t, "flush") {
				continue
			}
			refused := rapid.IntRange(0, 3).Draw(t, "refused") == 0
			require.Equal(t, x.land(t, refused), y.land(t, refused), "at %v", now)
			dirty, err := y.Snapshot()
			require.NoError(t, err)
			maps.Copy(stored, dirty)
			if rapid.Bool().Draw(t, "restart") {
				y = newRig(cfg, rules, sec(now))
				require.NoError(t, y.Restore(stored, sec(now)))
				require.Equal(t, x.Size(), y.Size())
			}
		}
	})
}

// land flushes, which the next component may refuse.
func (r *rig) land(t *rapid.T, refused bool) (out []string) {
	for _, p := range r.Flush(r.now, &r.counts, false) {
		out = append(out, listed(t, p.Metrics)...)
	}
	if refused {
		r.Rollback("", r.now)
	} else {
		r.Commit("")
	}
	return out
}
