package cardinalityguardprocessor

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

func intPoint(v int64) pmetric.NumberDataPoint {
	p := pmetric.NewNumberDataPoint()
	p.SetIntValue(v)
	return p
}

func doublePoint(v float64) pmetric.NumberDataPoint {
	p := pmetric.NewNumberDataPoint()
	p.SetDoubleValue(v)
	return p
}

func totalOf(points ...pmetric.NumberDataPoint) pmetric.NumberDataPoint {
	var sum total
	out := pmetric.NewNumberDataPoint()
	for _, p := range points {
		sum.add(p)
	}
	sum.put(out)
	return out
}

func TestIntegersAreAddedExactly(t *testing.T) {
	t.Parallel()
	// On the way the sum leaves the range; the result is in it.
	p := totalOf(intPoint(math.MaxInt64), intPoint(math.MaxInt64), intPoint(-math.MaxInt64), intPoint(-7))
	assert.Equal(t, pmetric.NumberDataPointValueTypeInt, p.ValueType())
	assert.Equal(t, int64(math.MaxInt64-7), p.IntValue())
	assert.Equal(t, int64(math.MinInt64), totalOf(intPoint(math.MinInt64)).IntValue())

	for want, p := range map[float64]pmetric.NumberDataPoint{
		-9223372036854775809.0: totalOf(intPoint(math.MinInt64), intPoint(-1)),
		9223372036854775808.0:  totalOf(intPoint(math.MaxInt64), intPoint(1)),
		-18446744073709551616:  totalOf(intPoint(math.MinInt64), intPoint(math.MinInt64)),
	} {
		assert.Equal(t, pmetric.NumberDataPointValueTypeDouble, p.ValueType())
		assert.Equal(t, want, p.DoubleValue())
	}
	assert.Equal(t, 10.5, totalOf(intPoint(5), doublePoint(2.5), intPoint(3)).DoubleValue())
}

func TestDoublesAreAddedWithoutLoss(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1.0, sumDoubles([]float64{1e20, 1, -1e20}))
	assert.Equal(t, 2.0, sumDoubles([]float64{1, 1e100, 1, -1e100}))
	assert.Equal(t, 0.0, sumDoubles([]float64{math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}))
	assert.True(t, math.IsInf(sumDoubles([]float64{math.MaxFloat64, math.MaxFloat64}), 1))
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e12, 1e12), 1, 40).Draw(t, "values")
		exact := new(big.Float).SetPrec(2200)
		magnitude := 0.0
		for _, v := range values {
			exact.Add(exact, big.NewFloat(v))
			magnitude += math.Abs(v)
		}
		want, _ := exact.Float64()
		shuffled := rapid.Permutation(values).Draw(t, "shuffled")
		got := sumDoubles(values)
		require.InDelta(t, want, got, magnitude*1e-15)
		require.Equal(t, got, sumDoubles(shuffled))
	})
}

func TestValuesAreCompared(t *testing.T) {
	t.Parallel()
	nan := doublePoint(math.NaN())
	ascending := []pmetric.NumberDataPoint{
		nan, doublePoint(math.Inf(-1)), doublePoint(-math.Exp2(63) * 2), intPoint(math.MinInt64), doublePoint(-1.5), intPoint(-1),
		intPoint(0), doublePoint(math.Copysign(0, -1)), doublePoint(0), doublePoint(0.5), intPoint(1), doublePoint(1), doublePoint(1.5), intPoint(2),
		intPoint(1<<53 + 1), doublePoint(1<<53 + 2), intPoint(math.MaxInt64), doublePoint(math.Exp2(63)), doublePoint(math.Inf(1)),
	}
	for i, a := range ascending {
		for j, b := range ascending {
			switch c := compareValues(a, b); {
			case i < j:
				assert.Negative(t, c, "%d < %d", i, j)
			case i > j:
				assert.Positive(t, c, "%d > %d", i, j)
			default:
				assert.Zero(t, c, "%d", i)
			}
		}
	}
}

func TestWhatHasAValue(t *testing.T) {
	t.Parallel()
	flagged := intPoint(1)
	flagged.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	assert.False(t, hasValue(flagged))
	assert.False(t, hasValue(pmetric.NewNumberDataPoint()))
	assert.False(t, hasValue(doublePoint(math.Float64frombits(0x7ff0000000000002))), "Prometheus' staleness marker")
	assert.True(t, hasValue(doublePoint(math.NaN())))
	assert.True(t, hasValue(doublePoint(0)))
	assert.True(t, hasValue(intPoint(0)))
}
