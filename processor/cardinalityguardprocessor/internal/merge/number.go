package merge

import (
	"cmp"
	"math"
	"math/bits"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// number is the value of a number point: the bits of an int64 or of a float64.
type number struct {
	bits   uint64
	double bool
}

func numberOf(p pmetric.NumberDataPoint) number {
	if p.ValueType() == pmetric.NumberDataPointValueTypeDouble {
		return number{math.Float64bits(p.DoubleValue()), true}
	}
	return number{uint64(p.IntValue()), false}
}

func (n number) float() float64 {
	if n.double {
		return math.Float64frombits(n.bits)
	}
	return float64(int64(n.bits))
}

func (n number) int() int64 { return int64(n.bits) }

func (n number) finite() bool { return !n.double || finite(n.float()) }

func (n number) put(p pmetric.NumberDataPoint) {
	if n.double {
		p.SetDoubleValue(n.float())
	} else {
		p.SetIntValue(n.int())
	}
}

// compare orders numbers by size without rounding, NaN below everything; then by an order that only settles ties.
func (n number) compare(m number) int {
	switch {
	case n.double && m.double:
		return cmp.Or(cmp.Compare(n.float(), m.float()), cmp.Compare(int64(n.bits), int64(m.bits)))
	case !n.double && !m.double:
		return cmp.Compare(n.int(), m.int())
	case n.double:
		return -compareMixed(m.int(), n.float())
	default:
		return compareMixed(n.int(), m.float())
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

// less says whether n is smaller in value, whatever the kind of number.
func (n number) less(m number) bool {
	if n.double == m.double {
		if n.double {
			return n.float() < m.float()
		}
		return n.int() < m.int()
	}
	return n.float() < m.float()
}

// fellLittle says whether a value that fell to n lost less than an eighth.
func (n number) fellLittle(from number) bool {
	return from.float()-n.float() < from.float()/8
}

// total adds numbers: integers exactly, doubles with compensation.
type total struct {
	high      int64 // with low, a 128-bit integer
	low       uint64
	sum, lost float64
	double    bool // a double took part
}

func (t *total) add(n number) {
	if n.double {
		t.double = true
		t.addFloat(n.float())
		return
	}
	t.addInt(n.int())
}

// addDifference adds to - from.
func (t *total) addDifference(from, to number) {
	if from.double || to.double {
		t.double = true
		t.addFloat(to.float())
		t.addFloat(-from.float())
		return
	}
	t.addInt(to.int())
	low, borrow := bits.Sub64(t.low, from.bits, 0)
	high, _ := bits.Sub64(uint64(t.high), uint64(from.int()>>63), borrow)
	t.low, t.high = low, int64(high)
}

func (t *total) addInt(v int64) {
	low, carry := bits.Add64(t.low, uint64(v), 0)
	high, _ := bits.Add64(uint64(t.high), uint64(v>>63), carry)
	t.low, t.high = low, int64(high)
}

func (t *total) addFloat(v float64) {
	next := t.sum + v
	if math.Abs(t.sum) >= math.Abs(v) {
		t.lost += (t.sum - next) + v
	} else {
		t.lost += (v - next) + t.sum
	}
	t.sum = next
}

func (t *total) subtract(o total) {
	low, borrow := bits.Sub64(t.low, o.low, 0)
	high, _ := bits.Sub64(uint64(t.high), uint64(o.high), borrow)
	t.low, t.high = low, int64(high)
	t.addFloat(-o.sum)
	t.addFloat(-o.lost)
}

func (t *total) join(o total) {
	t.double = t.double || o.double
	low, carry := bits.Add64(t.low, o.low, 0)
	high, _ := bits.Add64(uint64(t.high), uint64(o.high), carry)
	t.low, t.high = low, int64(high)
	t.addFloat(o.sum)
	t.addFloat(o.lost)
}

func (t *total) float() float64 {
	whole := float64(int64(t.low))
	if t.high != int64(t.low)>>63 {
		whole = math.Ldexp(float64(t.high), 64) + float64(t.low)
	}
	all := *t
	all.addFloat(whole)
	if math.IsInf(all.sum, 0) || math.IsNaN(all.lost) {
		return all.sum
	}
	return all.sum + all.lost
}

// value gives an integer if every number was one and the total fits, and a double otherwise.
func (t *total) value() number {
	if !t.double && t.high == int64(t.low)>>63 {
		return number{t.low, false}
	}
	return number{math.Float64bits(t.float()), true}
}
