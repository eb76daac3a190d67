package merge

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// reading is a value of a gauge; an int or a float64.
type reading struct {
	run   string
	time  float64
	value any
}

func gauges(readings ...reading) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("g")
	m.SetEmptyGauge()
	for _, r := range readings {
		p := m.Gauge().DataPoints().AppendEmpty()
		if r.run != "" {
			p.Attributes().PutStr("run_id", r.run)
		}
		p.SetTimestamp(pcommon.Timestamp(sec(r.time)))
		switch v := r.value.(type) {
		case int:
			p.SetIntValue(int64(v))
		case float64:
			p.SetDoubleValue(v)
		}
	}
	return md
}

func TestGaugesFollowTheirRule(t *testing.T) {
	t.Parallel()
	three := []reading{{"a", 17, 4}, {"b", 19, 1}, {"c", 19, 3.5}}
	for _, c := range []struct {
		rule      GaugeRule
		decided   bool
		in        []reading
		want      any
		ambiguous int64
	}{
		{Last, false, three, 3.5, 1},
		{Last, true, three, 3.5, 0},
		{Last, false, []reading{{"a", 19, 1}}, int64(1), 0},
		{Last, false, []reading{{"a", 19, 1}, {"a", 19, 2}}, int64(2), 0},
		{Last, true, []reading{{"a", 19, 1}, {"b", 19.5, math.NaN()}}, math.NaN(), 0},
		{Mean, true, three, 8.5 / 3, 0},
		{Mean, true, append(three, reading{"d", 19, math.NaN()}), 8.5 / 3, 0},
		{Min, true, three, int64(1), 0},
		{Max, true, three, int64(4), 0},
		{Total, true, three, 8.5, 0},
		{Total, true, three[:2], int64(5), 0},
		{Total, true, []reading{{"a", 19, math.MaxInt64}, {"b", 19, math.MaxInt64}}, 2 * float64(math.MaxInt64), 0},
	} {
		r := newRig(testConfig(), plain{gauge: c.rule, rule: c.decided}, sec(0))
		r.now = sec(20)
		r.feed(gauges(c.in...))
		md := r.flush()
		require.Equal(t, 1, md.DataPointCount())
		p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
		var got any = p.IntValue()
		if p.ValueType() == pmetric.NumberDataPointValueTypeDouble {
			got = p.DoubleValue()
		}
		assert.Equal(t, fmt.Sprintf("%T %v", c.want, c.want), fmt.Sprintf("%T %v", got, got), "%+v", c)
		assert.Zero(t, p.StartTimestamp())
		assert.Equal(t, c.ambiguous, r.counts.Ambiguous)
	}
}

func TestAGaugeForgetsSilentSources(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{gauge: Total, rule: true}, sec(0))
	r.now = sec(20)
	r.feed(gauges(reading{"a", 19, 4}, reading{"b", 19, 1}))
	require.Equal(t, []string{"[] (none, 19] 5"}, sent(r.flush()))
	r.now = sec(310)
	r.feed(gauges(reading{"a", 309, 4}))
	require.Equal(t, []string{"[] (none, 309] 5"}, sent(r.flush()))
	r.now = sec(325)
	require.Empty(t, sent(r.flush()))
	r.now = sec(355)
	require.Equal(t, []string{"[] (none, 309.001] 4"}, sent(r.flush()))
}

func TestARuleThatDropsDropsWhatWouldMerge(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{gauge: Drop, rule: true, drop: true}, sec(0))
	r.now = sec(20)
	require.Equal(t, []string{"[] (none, 19] 7"}, sent(r.feed(gauges(reading{"a", 19, 4}, reading{"", 19, 7}))))
	require.Empty(t, sent(r.flush()))
	require.Equal(t, int64(1), r.batch.Counts.Dropped[Gauge][ByRule])
}

// TestAChangedPolicyMovesSourcesWithTheirBaselines first keeps the run, then removes it, then keeps it again.
func TestAChangedPolicyMovesSourcesWithTheirBaselines(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	keeps := r.NewBatch(keep{})
	strips := r.batch
	r.batch, r.now = keeps, sec(20)
	require.Len(t, sent(r.feed(sums(true, tick{run: "a", start: 10, time: 19, value: 100}))), 1, "native")
	require.Empty(t, sent(r.flush()))

	r.SetRules(plain{})
	r.batch, r.now = strips, sec(30)
	r.feed(sums(true, tick{run: "a", start: 10, time: 29, value: 110}, tick{run: "b", start: 21, time: 29, value: 5}))
	require.Equal(t, []string{"[] (19, 29] 15"}, sent(r.flush()), "only what a added since it passed")

	r.SetRules(plain{})
	r.batch, r.now = keeps, sec(40)
	require.Equal(t, []string{"[run_id:a] (10, 39] 120"}, sent(r.feed(sums(true, tick{run: "a", start: 10, time: 39, value: 120}))))
	require.Empty(t, sent(r.flush()), "the old output stops")
	require.Equal(t, Size{Series: 2, Sources: 2}, r.Size())
}

// TestAValueThatNoSumTakesDoesNotForgetItsSource: after a change of the policy, or a restart with a state, the first point of a source may be one.
func TestAValueThatNoSumTakesDoesNotForgetItsSource(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	r.feed(sums(false, tick{run: "a", start: 10, time: 19, value: 10}, tick{run: "b", start: 10, time: 19, value: 5}))
	require.Equal(t, []string{"[] (10, 19] 15"}, sent(r.flush()))

	r.SetRules(plain{})
	r.now = sec(30)
	in := sums(false, tick{run: "a", start: 10, time: 29, value: 11}, tick{run: "b", start: 10, time: 29})
	Numbers(in.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)).At(1).SetDoubleValue(math.NaN())
	require.Empty(t, sent(r.feed(in)))
	require.Equal(t, []string{"[] (10, 29] 16"}, sent(r.flush()), "b is as it was")
	require.Equal(t, int64(1), r.batch.Counts.Dropped[UpDown][NotFinite])
	require.Equal(t, Size{Series: 1, Sources: 2}, r.Size())
}

type keep struct{}

func (keep) ScrubPoint(pcommon.Map) bool          { return false }
func (keep) ScrubExemplars(pmetric.ExemplarSlice) {}

func TestExemplarsOfAnIntervalAreFewAndNew(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	for _, run := range []string{"a", "b"} {
		md := hist(run, 10, 19, []float64{1, 2, 4}, 3, 3, 0, 0)
		p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().DataPoints().At(0)
		for i, v := range []float64{0.5, 0.7, 1.5, 1.7} {
			e := p.Exemplars().AppendEmpty()
			e.SetDoubleValue(v)
			e.SetTimestamp(pcommon.Timestamp(sec(11 + float64(i))))
			e.FilteredAttributes().PutStr("run_id", run)
		}
		p.Exemplars().AppendEmpty().SetTimestamp(pcommon.Timestamp(sec(9)))
		r.feed(md)
	}
	p := r.hist(t, 21)
	var got []float64
	for _, e := range p.Exemplars().All() {
		require.Zero(t, e.FilteredAttributes().Len())
		got = append(got, e.DoubleValue())
	}
	require.Equal(t, []float64{1.7, 0.7}, got, "one a bucket, the newest first")
	require.Equal(t, int64(2), r.counts.Exemplars[ExemplarTooOld])
	require.Equal(t, int64(6), r.counts.Exemplars[ExemplarOverLimit])
}

func TestQuantilesOfSeveralSourcesAreTheExtremesOnly(t *testing.T) {
	t.Parallel()
	summary := func(run string, low, mid, high float64) pmetric.Metrics {
		md := pmetric.NewMetrics()
		m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		p := m.SetEmptySummary().DataPoints().AppendEmpty()
		p.Attributes().PutStr("run_id", run)
		p.SetStartTimestamp(pcommon.Timestamp(sec(10)))
		p.SetTimestamp(pcommon.Timestamp(sec(19)))
		p.SetCount(3)
		p.SetSum(6)
		for q, v := range map[float64]float64{0: low, 0.5: mid, 1: high} {
			e := p.QuantileValues().AppendEmpty()
			e.SetQuantile(q)
			e.SetValue(v)
		}
		return md
	}
	quantiles := func(r *rig) map[float64]float64 {
		p := r.flush().ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Summary().DataPoints().At(0)
		out := map[float64]float64{}
		for _, q := range p.QuantileValues().All() {
			out[q.Quantile()] = q.Value()
		}
		return out
	}
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	r.feed(summary("a", 1, 2, 3))
	require.Equal(t, map[float64]float64{0: 1, 0.5: 2, 1: 3}, quantiles(r))
	r.now = sec(60)
	r.feed(summary("b", 0.5, 2, 2.5))
	r.now = sec(100)
	require.Equal(t, map[float64]float64{0: 0.5, 1: 3}, quantiles(r))
}

// TestHowLongALevelWaitedDoesNotDependOnTheOrder: in one batch its last live source ends and another one comes back, all with times behind what was sent.
func TestHowLongALevelWaitedDoesNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	ends, back := tick{run: "a", start: 1, time: 12, ends: true}, tick{run: "b", start: 1, time: 13, value: 7}
	for _, batch := range [][]tick{{ends, back}, {back, ends}} {
		r := newRig(testConfig(), plain{}, sec(0))
		r.now = sec(21)
		r.feed(sums(false, tick{run: "a", start: 1, time: 9, value: 1}, tick{run: "b", start: 1, time: 9, value: 2}, tick{run: "c", start: 1, time: 20, value: 4}))
		r.feed(sums(false, tick{run: "b", start: 1, time: 10, ends: true}, tick{run: "c", start: 1, time: 20.5, ends: true}))
		require.Equal(t, []string{"[] (1, 20.5] 1"}, sent(r.flush()))
		r.now = sec(30)
		r.feed(sums(false, tick{run: "a", start: 1, time: 11, value: 5})) // it waits for a newer time
		require.Empty(t, sent(r.flush()))
		r.now = sec(45)
		r.feed(sums(false, batch...))
		r.now = sec(60)
		require.Equal(t, []string{"[] (1, 20.501] 7"}, sent(r.flush()), "%v", batch)
	}
}
