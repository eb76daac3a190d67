package merge

import (
	"encoding/binary"
	"errors"
	"math"
)

// codec writes values to its buffer, or reads them from it: one description serves both ways.
type codec struct {
	buf     []byte
	reading bool
	err     error
}

var errDamaged = errors.New("the state is damaged")

func (c *codec) fail() {
	c.err = errDamaged
	c.buf = nil
}

func (c *codec) u64(v *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	got, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail()
		*v = 0
		return
	}
	*v, c.buf = got, c.buf[n:]
}

func (c *codec) i64(v *int64) {
	u := uint64(*v<<1) ^ uint64(*v>>63)
	c.u64(&u)
	*v = int64(u>>1) ^ -int64(u&1)
}

func (c *codec) u32(v *uint32) {
	u := uint64(*v)
	c.u64(&u)
	*v = uint32(u)
}

func (c *codec) i32(v *int32) {
	i := int64(*v)
	c.i64(&i)
	*v = int32(i)
}

// length writes or reads a number of things that take at least a byte each.
func (c *codec) length(n int) int {
	u := uint64(n)
	c.u64(&u)
	if c.reading && u > uint64(len(c.buf)) {
		c.fail()
		return 0
	}
	return int(u)
}

func (c *codec) fixed(v *uint64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *v)
		return
	}
	if len(c.buf) < 8 {
		c.fail()
		*v = 0
		return
	}
	*v, c.buf = binary.LittleEndian.Uint64(c.buf), c.buf[8:]
}

func (c *codec) f64(v *float64) {
	bits := math.Float64bits(*v)
	c.fixed(&bits)
	*v = math.Float64frombits(bits)
}

func (c *codec) hash(h *Hash) {
	c.fixed(&h.Hi)
	c.fixed(&h.Lo)
}

// flags packs up to eight bits.
func (c *codec) flags(bits ...*bool) {
	var b uint64
	for i, bit := range bits {
		if *bit {
			b |= 1 << i
		}
	}
	c.u64(&b)
	for i, bit := range bits {
		*bit = b&(1<<i) != 0
	}
}

func (c *codec) bytes(v *[]byte) {
	n := c.length(len(*v))
	if !c.reading {
		c.buf = append(c.buf, *v...)
		return
	}
	*v, c.buf = append([]byte(nil), c.buf[:n]...), c.buf[n:]
}

func (c *codec) str(v *string) {
	b := []byte(*v)
	c.bytes(&b)
	*v = string(b)
}

// listOf writes or reads a list.
func listOf[T any](c *codec, v *[]T, each func(*T)) {
	n := c.length(len(*v))
	if c.reading {
		*v = make([]T, n)
	}
	for i := range n {
		each(&(*v)[i])
	}
}

func (c *codec) floats(v *[]float64) { listOf(c, v, c.f64) }

func (c *codec) counts(v *[]uint64) { listOf(c, v, c.u64) }

func (c *codec) total(t *total) {
	c.i64(&t.high)
	c.fixed(&t.low)
	c.f64(&t.sum)
	c.f64(&t.lost)
	c.flags(&t.double)
}

func (c *codec) histSum(h *histSum) {
	c.floats(&h.bounds)
	c.counts(&h.counts)
	c.u64(&h.count)
	c.total(&h.sum)
	c.f64(&h.min)
	c.f64(&h.max)
	c.flags(&h.strong, &h.weak, &h.noSum, &h.noMin, &h.noMax, &h.late, &h.older)
	c.layout(h.bounds, h.counts)
}

// layout refuses buckets that are not those of the bounds.
func (c *codec) layout(bounds []float64, counts []uint64) {
	if c.reading && len(counts) != len(bounds)+1 && (len(counts) > 0 || len(bounds) > 0) {
		c.fail()
	}
}

func (c *codec) side(b *buckets) {
	c.i32(&b.offset)
	c.counts(&b.counts)
}

func (c *codec) expTotal(t *expTotal) {
	c.side(&t.positive)
	c.side(&t.negative)
	c.u64(&t.count)
	c.u64(&t.zero)
	c.total(&t.sum)
	c.f64(&t.min)
	c.f64(&t.max)
	c.f64(&t.threshold)
	c.i32(&t.scale)
	c.flags(&t.set, &t.noSum, &t.noMin, &t.noMax)
	c.exponential(t.scale, t.threshold, &t.positive, &t.negative)
	if c.reading && !t.set && (!t.positive.empty() || !t.negative.empty()) {
		c.fail()
	}
}

// exponential refuses what no exponential histogram can have: where indexes are beyond those of doubles, the buckets between two have no end.
func (c *codec) exponential(scale int32, threshold float64, positive, negative *buckets) {
	if c.reading && (scale < minScale-11 || scale > maxScale || !finite(threshold) || threshold < 0 ||
		!indexed(scale, positive.offset, len(positive.counts)) || !indexed(scale, negative.offset, len(negative.counts))) {
		c.fail()
	}
}

func (c *codec) histLast(h *histLast) {
	c.floats(&h.bounds)
	c.counts(&h.counts)
	c.u64(&h.count)
	c.f64(&h.sum)
	c.flags(&h.noSum)
	c.layout(h.bounds, h.counts)
}

func (c *codec) expLast(e *expLast) {
	c.side(&e.positive)
	c.side(&e.negative)
	c.u64(&e.count)
	c.u64(&e.zero)
	c.f64(&e.sum)
	c.f64(&e.threshold)
	c.i32(&e.scale)
	c.flags(&e.noSum, &e.coarse)
	c.exponential(e.scale, e.threshold, &e.positive, &e.negative)
}

func (c *codec) summaryLast(s *summaryLast) {
	c.u64(&s.count)
	c.f64(&s.sum)
	listOf(c, &s.quantiles, func(q *quantile) {
		c.f64(&q.at)
		c.f64(&q.value)
	})
}

func (c *codec) windows(w *windows) {
	listOf(c, (*[]window)(w), func(w *window) {
		c.i64(&w.start)
		c.i64(&w.end)
	})
}
