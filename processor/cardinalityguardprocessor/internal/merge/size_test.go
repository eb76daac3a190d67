package merge

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// many makes a batch of sources of one output, of a type.
func many(kind string, from, n int, at float64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName(kind)
	switch kind {
	case "sum":
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		m.Sum().SetIsMonotonic(true)
	case "histogram":
		m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	case "exponential":
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	}
	for i := from; i < from+n; i++ {
		run := fmt.Sprintf("run-%d", i)
		switch kind {
		case "sum":
			p := m.Sum().DataPoints().AppendEmpty()
			p.Attributes().PutStr("run_id", run)
			p.SetStartTimestamp(pcommon.Timestamp(sec(at - 1)))
			p.SetTimestamp(pcommon.Timestamp(sec(at)))
			p.SetIntValue(1)
		case "histogram":
			p := m.Histogram().DataPoints().AppendEmpty()
			p.Attributes().PutStr("run_id", run)
			p.SetTimestamp(pcommon.Timestamp(sec(at)))
			p.ExplicitBounds().FromRaw([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
			p.BucketCounts().FromRaw(make([]uint64, 12))
		case "exponential":
			p := m.ExponentialHistogram().DataPoints().AppendEmpty()
			p.Attributes().PutStr("run_id", run)
			p.SetTimestamp(pcommon.Timestamp(sec(at)))
			for range 160 {
				p.Positive().BucketCounts().Append(1)
			}
			p.SetCount(160)
		}
	}
	return md
}

// TestMemoryOfASource holds the size of a source to what the limits are made for. Not parallel: it measures the heap.
func TestMemoryOfASource(t *testing.T) {
	for kind, limit := range map[string]int64{"sum": 200, "histogram": 400, "exponential": 3000} {
		const n = 20_000
		r := newRig(testConfig(), plain{}, sec(0))
		before := heap()
		for from := 0; from < n; from += 1000 {
			r.now = sec(20)
			r.feed(many(kind, from, 1000, 19))
		}
		grown := (heap() - before) / n
		require.Equal(t, int64(n), r.Size().Sources)
		t.Logf("%s: %d bytes a source", kind, grown)
		require.LessOrEqual(t, grown, limit, kind)
		runtime.KeepAlive(r)
	}
}

// TestAMillionRunsLeaveMemoryFlat lets runs come and go faster than they expire, ended or silent.
func TestAMillionRunsLeaveMemoryFlat(t *testing.T) {
	cfg := testConfig()
	cfg.Sources, cfg.Tombstones = 10_000, 10_000
	r := newRig(cfg, plain{}, sec(0))
	const batch = 1000
	var full int64
	for i := range 1000 {
		at := float64(20 + 60*i)
		r.now = sec(at + 1)
		r.feed(many("sum", i*batch, batch, at))
		r.flush()
		require.LessOrEqual(t, r.Size().Sources, int64(cfg.Sources))
		require.LessOrEqual(t, r.Size().Tombstones, int64(cfg.Tombstones))
		if i == 100 {
			full = heap()
		}
	}
	require.Less(t, heap()-full, int64(4<<20))
	require.Zero(t, r.batch.Counts.Lost)
	runtime.KeepAlive(r)
}
