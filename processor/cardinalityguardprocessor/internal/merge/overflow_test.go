package merge

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// huge makes a batch of a point that says as much as its type can.
func huge(k Kind, run string, start, time float64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("m")
	temporality := pmetric.AggregationTemporalityCumulative
	if k.delta() {
		temporality = pmetric.AggregationTemporalityDelta
	}
	head := func(p movable) {
		p.Attributes().PutStr("run_id", run)
		p.SetStartTimestamp(pcommon.Timestamp(sec(start)))
		p.SetTimestamp(pcommon.Timestamp(sec(time)))
	}
	const most = uint64(math.MaxUint64)
	switch k {
	case Sum, DeltaSum:
		m.SetEmptySum().SetAggregationTemporality(temporality)
		m.Sum().SetIsMonotonic(true)
		p := m.Sum().DataPoints().AppendEmpty()
		head(p)
		p.SetDoubleValue(math.MaxFloat64)
	case Histogram, DeltaHistogram:
		m.SetEmptyHistogram().SetAggregationTemporality(temporality)
		p := m.Histogram().DataPoints().AppendEmpty()
		head(p)
		p.SetCount(most)
		p.SetSum(math.MaxFloat64)
	case Exponential, DeltaExponential:
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		head(p)
		p.SetCount(most)
		p.SetZeroCount(most)
	case Summary:
		p := m.SetEmptySummary().DataPoints().AppendEmpty()
		head(p)
		p.SetCount(most)
		p.SetSum(math.MaxFloat64)
	}
	return md
}

// TestNothingBeginsAgainAtZeroForWhatItsTypeCannotSay: a total that would go beyond counts what it can, and the rest is dropped and counted.
func TestNothingBeginsAgainAtZeroForWhatItsTypeCannotSay(t *testing.T) {
	t.Parallel()
	for _, k := range []Kind{Sum, DeltaSum, Histogram, DeltaHistogram, Exponential, DeltaExponential, Summary} {
		t.Run(kindNames[k], func(t *testing.T) {
			t.Parallel()
			r := newRig(testConfig(), plain{}, sec(0))
			said := func() string {
				md := r.flush()
				require.Equal(t, 1, md.DataPointCount())
				return fmt.Sprint(ruledSent(md))
			}
			r.now = sec(20)
			r.feed(huge(k, "a", 10, 19))
			r.feed(huge(k, "b", 10, 19))
			first := said()
			require.Contains(t, []string{
				fmt.Sprintf("[(10.000, 19.000] %v true]", math.MaxFloat64), "[(10.000, 19.000] -1 false]", // as ruledSent reads the largest count
			}, first)
			why := Malformed
			if k == Sum || k == DeltaSum {
				why = NotFinite
			}
			require.Equal(t, int64(1), r.batch.Counts.Dropped[k][why])
			if k.delta() { // the next window has room again
				r.now = sec(30)
				r.feed(huge(k, "b", 19, 29))
				require.NotEqual(t, first, said())
			}
		})
	}
}
