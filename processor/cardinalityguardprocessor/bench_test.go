package cardinalityguardprocessor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

var cleanKeys = []string{"phase", "framework", "task_family", "outcome", "host.name"}

var forbiddenKeys = []string{"run_id", "trace_id", "epoch"}

// benchBatch makes one metric of 10,000 points with eight attributes. Every runs points have one identity after a removal.
func benchBatch(kind string, extra []string, runs int) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("training.samples")
	if kind == "gauge" {
		m.SetEmptyGauge()
	} else {
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	}
	for i := range 10_000 {
		p := numbers(m).AppendEmpty()
		for _, k := range cleanKeys {
			p.Attributes().PutStr(k, fmt.Sprintf("value-%d", i/runs))
		}
		for _, k := range extra {
			p.Attributes().PutStr(k, fmt.Sprintf("value-%d", i))
		}
		p.SetStartTimestamp(pcommon.Timestamp(10 + i))
		p.SetTimestamp(pcommon.Timestamp(20 + i))
		p.SetIntValue(int64(i))
	}
	return md
}

func TestUntouchedPointsCostNoAllocation(t *testing.T) {
	w := newWorker(registryRules())
	md := benchBatch("gauge", []string{"a", "b", "c"}, 1)
	w.guard(md) // the keys are judged once
	require.Zero(t, testing.AllocsPerRun(10, func() { w.guard(md) }))
}

// BenchmarkUntouched is held against BenchmarkPlainDelete: at most twice its time, and no allocation.
func BenchmarkUntouched(b *testing.B) {
	for _, kind := range []string{"gauge", "delta"} {
		b.Run(kind, func(b *testing.B) {
			w := newWorker(registryRules())
			md := benchBatch(kind, []string{"a", "b", "c"}, 1)
			w.guard(md)
			b.ReportAllocs()
			for b.Loop() {
				w.guard(md)
			}
			perPoint(b)
		})
	}
}

// BenchmarkPlainDelete removes three of eight attributes and merges nothing, as the attributes processor does.
func BenchmarkPlainDelete(b *testing.B) {
	benchCopies(b, func(md pmetric.Metrics) {
		for _, p := range numbers(md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)).All() {
			for _, k := range forbiddenKeys {
				p.Attributes().Remove(k)
			}
		}
	}, benchBatch("gauge", forbiddenKeys, 1))
}

func BenchmarkMerge(b *testing.B) {
	for _, kind := range []string{"gauge", "delta"} {
		for _, runs := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/runs=%d", kind, runs), func(b *testing.B) {
				w := newWorker(registryRules())
				benchCopies(b, w.guard, benchBatch(kind, forbiddenKeys, runs))
			})
		}
	}
}

// benchCopies times f on copies of a batch that are made outside the timer.
func benchCopies(b *testing.B, f func(pmetric.Metrics), md pmetric.Metrics) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		work := clone(md)
		b.StartTimer()
		f(work)
	}
	perPoint(b)
}

func perPoint(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/point")
}
