package cardinalityguardprocessor

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// total adds the values of number points. Integers are added exactly, doubles in a fixed order, so that the order of the
// points does not change a bit of the result.
type total struct {
	high    int64 // with low, a 128-bit integer
	low     uint64
	doubles []float64
}

func (t *total) reset() { t.high, t.low, t.doubles = 0, 0, t.doubles[:0] }

func (t *total) add(p pmetric.NumberDataPoint) {
	if p.ValueType() == pmetric.NumberDataPointValueTypeDouble {
		t.doubles = append(t.doubles, p.DoubleValue())
		return
	}
	v := p.IntValue()
	low, carry := bits.Add64(t.low, uint64(v), 0)
	high, _ := bits.Add64(uint64(t.high), uint64(v>>63), carry)
	t.low, t.high = low, int64(high)
}

// put writes the total: an integer if every value was one and the total fits, a double otherwise.
func (t *total) put(p pmetric.NumberDataPoint) {
	fits := t.high == int64(t.low)>>63
	if len(t.doubles) == 0 && fits {
		p.SetIntValue(int64(t.low))
		return
	}
	whole := float64(int64(t.low))
	if !fits {
		whole = math.Ldexp(float64(t.high), 64) + float64(t.low)
	}
	t.doubles = append(t.doubles, whole)
	p.SetDoubleValue(sumDoubles(t.doubles))
}

// sumDoubles adds finite doubles with compensation, in sorted order.
func sumDoubles(values []float64) float64 {
	slices.Sort(values)
	var sum, lost float64
	for _, v := range values {
		next := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - next) + v
		} else {
			lost += (v - next) + sum
		}
		sum = next
	}
	if result := sum + lost; !math.IsNaN(result) && !math.IsInf(result, 0) {
		return result
	}
	exact := new(big.Float).SetPrec(2200) // the span of a double's bits: nothing is rounded
	for _, v := range values {
		exact.Add(exact, new(big.Float).SetFloat64(v))
	}
	result, _ := exact.Float64()
	return result
}

// finite says whether a value can be part of a sum.
func finite(p pmetric.NumberDataPoint) bool {
	if p.ValueType() != pmetric.NumberDataPointValueTypeDouble {
		return true
	}
	v := p.DoubleValue()
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

// compareValues orders the values of two points: by size, NaN below everything, then an order that only settles ties.
func compareValues(a, b pmetric.NumberDataPoint) int {
	aDouble := a.ValueType() == pmetric.NumberDataPointValueTypeDouble
	bDouble := b.ValueType() == pmetric.NumberDataPointValueTypeDouble
	switch {
	case aDouble && bDouble:
		x, y := a.DoubleValue(), b.DoubleValue()
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(int64(math.Float64bits(x)), int64(math.Float64bits(y))))
	case !aDouble && !bDouble:
		return cmp.Compare(a.IntValue(), b.IntValue())
	case aDouble:
		return -compareMixed(b.IntValue(), a.DoubleValue())
	default:
		return compareMixed(a.IntValue(), b.DoubleValue())
	}
}

// compareMixed compares without rounding the integer; of equals, the integer is the smaller one.
func compareMixed(i int64, f float64) int {
	switch {
	case math.IsNaN(f):
		return 1
	case f >= 1<<63:
		return -1
	case f < -(1 << 63):
		return 1
	}
	whole := math.Floor(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return -1 // equal, or the double has a fraction on top
}
