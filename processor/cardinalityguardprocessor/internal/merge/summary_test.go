package merge

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// quantiled makes a batch of a summary point with quantiles, given as pairs.
func quantiled(run string, time float64, pairs ...float64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("s")
	p := m.SetEmptySummary().DataPoints().AppendEmpty()
	p.Attributes().PutStr("run_id", run)
	p.SetStartTimestamp(pcommon.Timestamp(sec(10)))
	p.SetTimestamp(pcommon.Timestamp(sec(time)))
	for i := 0; i < len(pairs); i += 2 {
		q := p.QuantileValues().AppendEmpty()
		q.SetQuantile(pairs[i])
		q.SetValue(pairs[i+1])
	}
	return md
}

func (r *rig) quantiles(t *testing.T) (pairs []float64) {
	t.Helper()
	md := r.flush()
	require.Equal(t, 1, md.DataPointCount())
	p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Summary().DataPoints().At(0)
	for _, q := range p.QuantileValues().All() {
		pairs = append(pairs, q.Quantile(), q.Value())
	}
	return pairs
}

// TestASourceThatSawNothingLatelyHidesNoExtreme: it sends NaN for its quantiles.
func TestASourceThatSawNothingLatelyHidesNoExtreme(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		r := newRig(testConfig(), plain{}, sec(0))
		r.now = sec(20)
		for _, run := range order {
			if run == "a" {
				r.feed(quantiled("a", 19, 0, 1, 0.5, 2, 1, 3))
			} else {
				r.feed(quantiled("b", 19, 0, math.NaN(), 0.5, math.NaN(), 1, math.NaN()))
			}
		}
		require.Equal(t, []float64{0, 1, 1, 3}, r.quantiles(t))
	}
}

// TestRepeatedQuantilesDoNotMultiply: of a source each is known once, and not more than some.
func TestRepeatedQuantilesDoNotMultiply(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	var pairs []float64
	for i := range 400 {
		pairs = append(pairs, 0, float64(i), 1, float64(i), math.NaN(), 1, 2+float64(i), 1)
	}
	for _, run := range []string{"a", "b", "c"} {
		r.feed(quantiled(run, 19, pairs...))
	}
	for _, sh := range r.shards {
		for _, s := range sh.sources {
			require.Len(t, s.dist.(*summaryLast).quantiles, keptQuantiles)
		}
	}
	require.Equal(t, []float64{0, 0, 1, 0}, r.quantiles(t))
}

// TestQuantilesThatAreNotSentOnAreCounted, by what a source has too many of, what is no quantile, and what several sources cannot share.
func TestQuantilesThatAreNotSentOnAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	pairs := []float64{0, 1, 0, 2, math.NaN(), 1, 1, 3}
	for i := range keptQuantiles {
		pairs = append(pairs, float64(i+1)/100, 2)
	}
	r.feed(quantiled("a", 19, pairs...))
	require.Len(t, r.quantiles(t), 2*keptQuantiles)
	require.Equal(t, [QuantileReasons]int64{QuantileOverLimit: 2, QuantileMalformed: 2}, r.batch.Counts.Quantiles)
	require.Zero(t, r.counts.Quantiles, "one live source keeps its quantiles")

	r.now = sec(40)
	r.feed(quantiled("b", 39, 0, 1, 0.5, 2))
	require.Equal(t, []float64{0, 1}, r.quantiles(t))
	require.Equal(t, [QuantileReasons]int64{QuantileMerged: keptQuantiles - 1 + 1}, r.counts.Quantiles)
}
