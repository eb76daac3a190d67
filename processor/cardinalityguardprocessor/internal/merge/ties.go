package merge

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// compareContent orders two distributions of one source that have one time, one start and one count: which of them counts must not depend on the
// order in the batch.
func (b *Batch) compareContent(x, y *item) int {
	if k := b.groups[x.group].kind; !k.distribution() && k != DeltaHistogram && k != DeltaExponential {
		return 0
	}
	return bytes.Compare(slices.Clone(b.content(x)), b.content(y))
}

// content writes down what a distribution says. It is overwritten by the next one.
func (b *Batch) content(it *item) []byte {
	g, h := &b.groups[it.group], &b.text
	h.buf = h.buf[:0]
	switch g.Metric.Type() {
	case pmetric.MetricTypeHistogram:
		p := g.Metric.Histogram().DataPoints().At(int(it.index))
		h.putFloats(p.Sum(), p.Min(), p.Max())
		h.buf = append(h.buf, boolByte(p.HasSum()), boolByte(p.HasMin()), boolByte(p.HasMax()))
		h.putCounts(p.BucketCounts())
		for i := range p.ExplicitBounds().Len() {
			h.putFloats(p.ExplicitBounds().At(i))
		}
	case pmetric.MetricTypeExponentialHistogram:
		p := g.Metric.ExponentialHistogram().DataPoints().At(int(it.index))
		h.putFloats(p.Sum(), p.Min(), p.Max(), p.ZeroThreshold())
		h.buf = append(h.buf, boolByte(p.HasSum()), boolByte(p.HasMin()), boolByte(p.HasMax()))
		h.buf = binary.BigEndian.AppendUint64(h.buf, p.ZeroCount())
		h.buf = binary.BigEndian.AppendUint32(h.buf, uint32(p.Scale()))
		for _, side := range [...]pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
			h.buf = binary.BigEndian.AppendUint32(h.buf, uint32(side.Offset()))
			h.putCounts(side.BucketCounts())
		}
	case pmetric.MetricTypeSummary:
		p := g.Metric.Summary().DataPoints().At(int(it.index))
		h.putFloats(p.Sum())
		for _, q := range p.QuantileValues().All() {
			h.putFloats(q.Quantile(), q.Value())
		}
	}
	return h.buf
}

func (h *Hasher) putFloats(list ...float64) {
	for _, f := range list {
		h.buf = binary.BigEndian.AppendUint64(h.buf, math.Float64bits(f))
	}
}

func (h *Hasher) putCounts(list pcommon.UInt64Slice) {
	h.buf = binary.BigEndian.AppendUint64(h.buf, uint64(list.Len()))
	for i := range list.Len() {
		h.buf = binary.BigEndian.AppendUint64(h.buf, list.At(i))
	}
}
