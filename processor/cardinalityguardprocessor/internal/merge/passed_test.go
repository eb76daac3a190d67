package merge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// one is a batch of one point of a kind, of a run or native.
func one(k Kind, runID string, start, at int64, v int64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("m")
	if k == Gauge {
		m.SetEmptyGauge()
	} else {
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	}
	p := Numbers(m).AppendEmpty()
	p.SetStartTimestamp(pcommon.Timestamp(start))
	p.SetTimestamp(pcommon.Timestamp(at))
	p.SetIntValue(v)
	if runID != "" {
		p.Attributes().PutStr("run_id", runID)
	}
	return md
}

func onlyPoint(t *testing.T, md pmetric.Metrics) pmetric.NumberDataPoint {
	t.Helper()
	require.Equal(t, 1, md.DataPointCount())
	return Numbers(md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)).At(0)
}

// metricID is the identity of the metric of one.
func metricID(md pmetric.Metrics) Hash {
	var h Hasher
	rm := md.ResourceMetrics().At(0)
	return h.Metric(h.Resource(rm.Resource().Attributes()), h.Scope(rm.ScopeMetrics().At(0).Scope()), rm.ScopeMetrics().At(0).Metrics().At(0))
}

// TestAMergedPointComesAfterTheNativeOnes: a gauge or a delta that passed is not remembered, and the first merged point has a later time all the same.
func TestAMergedPointComesAfterTheNativeOnes(t *testing.T) {
	t.Parallel()
	for _, k := range []Kind{Gauge, DeltaSum} {
		r := newRig(testConfig(), plain{}, sec(0))
		r.now = sec(30)
		native := one(k, "", sec(10), sec(20), 1)
		r.Passed(metricID(native), k, sec(20), r.now) // nothing of its name merges: it does not come here
		assert.Zero(t, r.feed(one(k, "a", sec(12), sec(20), 2)).DataPointCount())
		require.Zero(t, r.flush().DataPointCount(), "held: something newer may come")
		r.now = sec(70)
		p := onlyPoint(t, r.flush())
		assert.Equal(t, sec(20)+int64(time.Millisecond), int64(p.Timestamp()))
		assert.Equal(t, int64(2), p.IntValue())
		if k == DeltaSum {
			assert.Equal(t, sec(20), int64(p.StartTimestamp()), "the windows do not overlap")
		}
	}
}

// TestAPointThatPassedIsKnownBySeriesOnceTheNameMerges: another series of the metric does not wait for it.
func TestAPointThatPassedIsKnownBySeriesOnceTheNameMerges(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	phase := func(md pmetric.Metrics, v string) pmetric.Metrics {
		Numbers(md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)).At(0).Attributes().PutStr("phase", v)
		return md
	}
	r.now = sec(30)
	r.feed(phase(one(Gauge, "a", 0, sec(20), 1), "x"))
	r.flush()
	assert.Equal(t, 1, r.feed(phase(one(Gauge, "", 0, sec(25), 2), "y")).DataPointCount(), "native: it passes")
	r.feed(phase(one(Gauge, "a", 0, sec(25), 3), "z"))
	assert.Equal(t, int64(3), onlyPoint(t, r.flush()).IntValue())
	r.feed(phase(one(Gauge, "a", 0, sec(25), 4), "y"))
	require.Zero(t, r.flush().DataPointCount(), "one of this time passed")
	r.feed(phase(one(Gauge, "a", 0, sec(26), 5), "y"))
	p := onlyPoint(t, r.flush())
	assert.Equal(t, sec(26), int64(p.Timestamp()))
}

// TestTheEndOfANativeSeriesIsAPointToo: a merged one of its time would be a second one.
func TestTheEndOfANativeSeriesIsAPointToo(t *testing.T) {
	t.Parallel()
	phase := func(md pmetric.Metrics, v string) pmetric.Metrics {
		p := onlyPoint(t, md)
		p.Attributes().PutStr("phase", v)
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(v == "ends"))
		return md
	}
	for _, k := range []Kind{Gauge, DeltaSum} {
		r := newRig(testConfig(), plain{}, sec(0))
		r.now = sec(30)
		r.feed(phase(one(k, "a", sec(10), sec(20), 1), "x"))
		r.flush()
		require.Equal(t, 1, r.feed(phase(one(k, "", sec(10), sec(25), 0), "ends")).DataPointCount(), "native: it passes")
		touched := one(k, "a", sec(10), sec(25), 2)
		onlyPoint(t, touched).Attributes().PutStr("phase", "ends")
		r.feed(touched)
		require.Zero(t, r.flush().DataPointCount())
		r.now = sec(61)
		assert.Equal(t, sec(25)+int64(time.Millisecond), int64(onlyPoint(t, r.flush()).Timestamp()))
	}
	r := newRig(testConfig(), plain{}, sec(0)) // two ends of a watched series, the later one first
	r.now = sec(30)
	for _, at := range []float64{27, 25} {
		r.feed(sums(true, tick{start: 10, time: 20, value: 5}))
		r.feed(sums(true, tick{start: 10, time: at, ends: true}))
	}
	r.feed(sums(true, tick{run: "a", start: 10, time: 26, value: 5}))
	require.Empty(t, sent(r.flush()))
	r.now = sec(61)
	require.Equal(t, []string{"[] (10, 27.001] 10"}, sent(r.flush()))
}

// TestATimeFromTheFutureHoldsNothingBack: it would do so until then.
func TestATimeFromTheFutureHoldsNothingBack(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(30)
	r.Passed(metricID(one(Gauge, "", 0, 1, 1)), Gauge, sec(1e6), r.now)
	r.feed(one(Gauge, "a", 0, sec(20), 1))
	assert.Equal(t, sec(20), int64(onlyPoint(t, r.flush()).Timestamp()))
}

// TestGaugesThatPassDoNotChangeTheFirstPointOfASum: there may be more of them than the table has places.
func TestGaugesThatPassDoNotChangeTheFirstPointOfASum(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(21)
	for i := range uint64(len(passedPlaces{}[0])) {
		r.Passed(Hash{Hi: i, Lo: i}, Gauge, sec(20), r.now)
	}
	r.feed(sums(true, tick{run: "a", start: 10, time: 19, value: 100}))
	assert.Equal(t, []string{"[] (10, 19] 100"}, sent(r.flush()))
}

// TestManySeriesThatPassHoldFewFirstPointsBack: a gateway sees some ten thousand metrics that it does not remember.
func TestManySeriesThatPassHoldFewFirstPointsBack(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(21)
	var h Hasher
	for i := range 20_000 {
		h.Begin()
		resource := pcommon.NewMap()
		resource.PutInt("host", int64(i))
		r.Passed(h.Metric(h.Resource(resource), Hash{}, pmetric.NewMetric()), Gauge, sec(20), r.now)
	}
	const outputs = 200
	for i := range outputs {
		md := one(Gauge, "a", 0, sec(19), 1)
		md.ResourceMetrics().At(0).Resource().Attributes().PutInt("gateway", int64(i))
		r.feed(md)
	}
	assert.GreaterOrEqual(t, r.flush().DataPointCount(), outputs*9/10)
}

// TestAForgottenNativeSeriesOfASumThatWaitsIsNotCountedAgain: nothing was sent of the output, and the native series makes room without a tombstone.
func TestAForgottenNativeSeriesOfASumThatWaitsIsNotCountedAgain(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.Sources, cfg.Tombstones = 2, 0
	r := newRig(cfg, plain{}, sec(0))
	r.now = sec(21)
	r.feed(sums(true, tick{start: 5, time: 20, value: 100}, tick{run: "a", start: 10, time: 20, value: 3}))
	r.now = sec(400)
	r.feed(sums(true, tick{start: 5, time: 399, value: 100}))
	assert.Equal(t, []string{"[] (5, 399] 103"}, sent(r.flush()))
}

// TestAForgottenNativeDistributionBeginsAnewWhenATouchedOneJoins: what it sent is not known any more.
func TestAForgottenNativeDistributionBeginsAnewWhenATouchedOneJoins(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	native := &run{phase: "train", start: sec(5), bounds: []float64{1, 2}, values: []float64{1, 2, 3}, native: true}
	r.now = sec(21)
	r.feed(native.scrape(sec(20)))
	native.ended = true
	r.feed(native.scrape(sec(21)))
	r.now = sec(400)
	r.flush()
	require.Equal(t, int64(4), r.Size().Tombstones, "of the sum, the histograms and the summary")
	r.now = sec(411)
	native.ended = false
	native.values = append(native.values, 4)
	touched := &run{name: "a", phase: "train", start: sec(400), scraped: sec(400), bounds: []float64{1, 2}, values: []float64{5, 6}}
	both := native.scrape(sec(410))
	touched.scrape(sec(410)).ResourceMetrics().MoveAndAppendTo(both.ResourceMetrics())
	r.feed(both)
	totals := map[restartable]*restarted{}
	for _, m := range r.flush().ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		addMetric(totals, m)
	}
	for _, k := range []Kind{Histogram, Exponential, Summary} {
		got := totals[restartable{kindNames[k], "train"}]
		require.NotNil(t, got, kindNames[k])
		assert.InDelta(t, 2, got.value, 0, "%s: those of the touched source", kindNames[k])
		assert.InDelta(t, float64(sec(400)), got.start, 0, kindNames[k])
	}
}
