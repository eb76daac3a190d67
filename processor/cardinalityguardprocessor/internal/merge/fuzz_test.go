package merge

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// FuzzWhateverComesMergesOrIsDropped feeds any request twice and flushes: no panic, and no distribution goes out that contradicts itself.
func FuzzWhateverComesMergesOrIsDropped(f *testing.F) {
	for _, scale := range []int32{-10, 0, 4} {
		run := &run{name: "a", phase: "train", start: sec(1), scraped: sec(1), bounds: layouts[0], scale: scale, threshold: 0.5, values: values, fresh: values}
		text, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(run.scrape(sec(10)))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		md, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(text)
		if err != nil {
			return
		}
		r := newRig(testConfig(), plain{}, sec(0))
		for i := range 3 {
			r.now = sec(float64(20 + 40*i))
			in := pmetric.NewMetrics()
			md.CopyTo(in)
			r.feed(in)
			for _, rm := range r.flush().ResourceMetrics().All() {
				for _, sm := range rm.ScopeMetrics().All() {
					for _, m := range sm.Metrics().All() {
						requireSound(t, m)
					}
				}
			}
			_, err := r.Snapshot()
			require.NoError(t, err)
		}
	})
}

func requireSound(t *testing.T, m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			require.True(t, (&histScratch{}).read(p, &histLast{}))
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			require.LessOrEqual(t, p.Positive().BucketCounts().Len(), maxBuckets)
			require.LessOrEqual(t, p.Negative().BucketCounts().Len(), maxBuckets)
			var d expLast
			(&expScratch{}).read(p, &d)
			require.Equal(t, p.Count(), d.zero+d.positive.total()+d.negative.total())
		}
	}
}
