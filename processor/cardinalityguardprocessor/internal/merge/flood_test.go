package merge

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
)

// TestAFloodAtTheLimitOfSourcesCostsOneSearch: not one of all sources for each point. The only one that could make room is in the batch itself.
func TestAFloodAtTheLimitOfSourcesCostsOneSearch(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.Sources = 20_000
	r := newRig(cfg, plain{}, sec(0))
	r.now = sec(20)
	var known, flood []tick
	for i := range cfg.Sources {
		known = append(known, tick{run: fmt.Sprint("r", i), start: 10, time: 19, value: 1})
	}
	r.feed(sums(true, known...))
	r.now = sec(30)
	ended := tick{run: "r0", start: 10, time: 25, ends: true}
	r.feed(sums(true, ended))
	r.relieved.Store(r.now) // else it had made room before
	flood = append(flood, ended)
	for i := range 2000 {
		flood = append(flood, tick{run: fmt.Sprint("n", i), start: 29, time: 30, value: 1})
	}
	all := sums(true, flood...)
	took := cputime.Of(func() { r.feed(all) })
	t.Log(took)
	require.Less(t, took, 2*time.Second, "a search for each point takes some ten seconds")
	require.Equal(t, int64(2000), r.batch.Counts.Dropped[Sum][SourceLimit])
	require.Equal(t, int64(cfg.Sources), r.Size().Sources)
	r.now = sec(40)
	r.feed(sums(true, flood[1:]...))
	require.Equal(t, int64(1), r.batch.Counts.Dropped[Sum][SourceLimit]-3998, "the one that ended made room")
}

// TestMetadataOfAMergedMetricIsBounded, where each batch has keys of its own; what finds no room is counted.
func TestMetadataOfAMergedMetricIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	for i := range 100 {
		r.now = sec(20 + float64(i))
		md := sums(true, tick{run: "a", start: 10, time: 19 + float64(i), value: int64(i)})
		metadata := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Metadata()
		metadata.PutStr(fmt.Sprint("key", i), "x")
		metadata.PutStr(fmt.Sprint("other", i/2), fmt.Sprint(i))
		r.feed(md)
	}
	metadata := r.flush().ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Metadata()
	require.LessOrEqual(t, metadata.Len(), keptMetadata)
	kept := 0
	for _, m := range r.shard("total").metrics {
		kept = m.empty.Metadata().Len() + len(m.conflicts)
	}
	require.Equal(t, keptMetadata, kept)
	require.Positive(t, r.batch.Counts.Metadata)
}

// TestMetadataOfTheFirstPointIsBounded too, and what contradicts is counted each time that it comes.
func TestMetadataOfTheFirstPointIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	for i, run := range []string{"a", "b", "c"} {
		md := sums(true, tick{run: run, start: 10, time: 19, value: 1})
		metadata := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Metadata()
		metadata.PutInt("differs", int64(i))
		for k := range 99 {
			metadata.PutStr(fmt.Sprint("key", k), "x")
		}
		r.feed(md)
	}
	require.Equal(t, keptMetadata-1, r.flush().ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Metadata().Len())
	require.Equal(t, int64(3*(100-keptMetadata)), r.batch.Counts.Metadata)
	require.Equal(t, int64(2), r.batch.Counts.Conflicted)
}

// TestWideDistributionsTakeTheMemoryOfUsualOnes: what is remembered of a source is no wider than what is sent on, and nothing is lost for it.
func TestWideDistributionsTakeTheMemoryOfUsualOnes(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	wide := func(n int) (bounds []float64, counts []uint64) {
		for i := range n {
			bounds, counts = append(bounds, float64(i)), append(counts, 1)
		}
		return bounds, append(counts, 1)
	}
	for i := range 2 {
		r.now = sec(20 + float64(10*i))
		bounds, counts := wide(20_000)
		counts[0] += uint64(i)
		r.feed(hist("a", 10, 19+float64(10*i), bounds, counts...))
		r.feed(expo("a", 10, 19+float64(10*i), -10_000, counts...))
		for _, rm := range r.flush().ResourceMetrics().All() {
			m := rm.ScopeMetrics().At(0).Metrics().At(0)
			if m.Type() == pmetric.MetricTypeHistogram {
				p := m.Histogram().DataPoints().At(0)
				require.Equal(t, uint64(20_001+i), p.Count())
				require.Equal(t, 500, p.ExplicitBounds().Len())
				require.InDelta(t, 39, p.ExplicitBounds().At(0), 0)
				require.Equal(t, uint64(40+i), p.BucketCounts().At(0))
				require.Equal(t, pcommon.Timestamp(sec(10)), p.StartTimestamp())
			} else {
				p := m.ExponentialHistogram().DataPoints().At(0)
				require.Equal(t, uint64(20_001+i), p.Count())
				require.LessOrEqual(t, p.Positive().BucketCounts().Len(), maxBuckets)
			}
		}
	}
	require.Zero(t, r.batch.Counts.Resets)
	require.Equal(t, int64(2*(20_000-500)), r.batch.Counts.Bounds)
	for _, sh := range r.shards {
		for _, s := range sh.sources {
			switch d := s.dist.(type) {
			case *histLast:
				require.LessOrEqual(t, len(d.bounds), maxBounds)
			case *expLast:
				require.LessOrEqual(t, len(d.positive.counts), maxBuckets)
				require.Less(t, cap(d.positive.counts), 2*maxBuckets)
			}
		}
	}
}

// TestASourceThatLooksNarrowerAgainDidNotReset: its zero threshold rose, so that fewer buckets are left, at the scale that it always had.
func TestASourceThatLooksNarrowerAgainDidNotReset(t *testing.T) {
	t.Parallel()
	r := newRig(testConfig(), plain{}, sec(0))
	counts := make([]uint64, 400)
	counts[0], counts[399] = 3, 4
	r.now = sec(20)
	r.feed(expo("a", 10, 19, -200, counts...))
	r.flush()
	md := expo("a", 10, 29, 199, 5)
	p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).ExponentialHistogram().DataPoints().At(0)
	p.SetZeroThreshold(1)
	p.SetZeroCount(3)
	p.SetCount(8)
	r.now = sec(30)
	r.feed(md)
	out := r.flush()
	require.Equal(t, 1, out.DataPointCount())
	p = out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).ExponentialHistogram().DataPoints().At(0)
	require.Equal(t, uint64(8), p.Count())
	require.Zero(t, r.batch.Counts.Resets)
}

// TestManyTenantsCostWhatTheirSeriesDo: a flush and its ends do not look at all of them for each of them.
func TestManyTenantsCostWhatTheirSeriesDo(t *testing.T) {
	t.Parallel()
	const tenants = 20_000
	r := newRig(testConfig(), plain{}, sec(0))
	r.now = sec(20)
	for i := range tenants {
		md := sums(true, tick{run: "a", start: 10, time: 19, value: 1})
		rm := md.ResourceMetrics().At(0)
		m := rm.ScopeMetrics().At(0).Metrics().At(0)
		tenant := fmt.Sprintf("tenant-%06d", i)
		id := r.batch.Hasher.Tenant(r.batch.Hasher.Resource(rm.Resource().Attributes()), tenant)
		metric := r.batch.Hasher.Metric(id, r.batch.Hasher.Scope(rm.ScopeMetrics().At(0).Scope()), m)
		r.batch.Add(Group{Metric: m, Resource: rm.Resource(), Scope: rm.ScopeMetrics().At(0).Scope(), Tenant: tenant, Source: metric, Output: metric})
		r.batch.Apply(r.now, r.Generation())
	}
	took := cputime.Of(func() {
		portions := r.Flush(r.now, &r.counts, false)
		require.Len(t, portions, tenants)
		for _, p := range portions {
			r.Commit(p.Tenant)
		}
	})
	t.Log(took)
	require.Less(t, took, 2*time.Second, "looking at all for each takes longer")
}

// TestWhatEndedMakesRoomForTheNextBatch, though it was in the batch of which the last search found nothing.
func TestWhatEndedMakesRoomForTheNextBatch(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.Sources = 10
	r := newRig(cfg, plain{}, sec(0))
	r.now = sec(20)
	var known []tick
	for i := range cfg.Sources {
		known = append(known, tick{run: fmt.Sprint("r", i), start: 10, time: 19, value: 1})
	}
	r.feed(sums(true, known...))
	ended := tick{run: "r0", start: 10, time: 25, ends: true}
	r.now = sec(30)
	r.feed(sums(true, ended))
	r.now = sec(31)
	r.feed(sums(true, ended, tick{run: "new", start: 29, time: 30, value: 1}))
	dropped := r.batch.Counts.Dropped[Sum][SourceLimit]
	r.now = sec(32)
	r.feed(sums(true, tick{run: "new", start: 29, time: 31, value: 2}))
	require.Equal(t, dropped, r.batch.Counts.Dropped[Sum][SourceLimit])
}
