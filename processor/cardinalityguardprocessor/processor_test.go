package cardinalityguardprocessor

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
)

// gaugeBatch makes a batch of one gauge with a point for each attribute set of one key.
func gaugeBatch(name, key string, values ...string) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName(name)
	m.SetEmptyGauge()
	for i, v := range values {
		p := m.Gauge().DataPoints().AppendEmpty()
		p.Attributes().PutStr(key, v)
		p.SetTimestamp(pcommon.Timestamp(i + 1))
		p.SetIntValue(int64(i))
	}
	return md
}

func cumulativeBatch(runs ...string) pmetric.Metrics {
	md := gaugeBatch("total", "run_id", runs...)
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	points := pmetric.NewNumberDataPointSlice()
	m.Gauge().DataPoints().MoveAndAppendTo(points)
	m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	points.MoveAndAppendTo(m.Sum().DataPoints())
	return md
}

func TestNothingIsSentWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	p, tel, sink := start(t)
	require.NoError(t, p.ConsumeMetrics(t.Context(), pmetric.NewMetrics()))
	require.NoError(t, p.ConsumeMetrics(t.Context(), gaugeBatch("no points", "k")))
	require.NoError(t, p.ConsumeMetrics(t.Context(), cumulativeBatch("a", "b")))
	require.Empty(t, sink.AllMetrics())
	componentcheck.AssertTelemetry(t, tel, "otelcol_cardinality_guard_",
		`otelcol_cardinality_guard_attributes_removed{level="datapoint",processor="cardinality_guard",reason="run"} 2`,
		`otelcol_cardinality_guard_points_dropped{processor="cardinality_guard",reason="merge_unsupported",type="sum"} 2`)
	require.NoError(t, p.ConsumeMetrics(t.Context(), gaugeBatch("g", "k", "v")))
	require.Len(t, sink.AllMetrics(), 1)
}

func TestItDeclaresThatItChangesData(t *testing.T) {
	t.Parallel()
	p, _, _ := start(t)
	assert.True(t, p.Capabilities().MutatesData)
}

func TestEmptyMetricsThatCameInAreNotOurs(t *testing.T) {
	t.Parallel()
	md := cumulativeBatch("a")
	kept := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	kept.AppendEmpty().SetName("empty")
	gaugeBatch("g", "k", "v").ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).CopyTo(kept.AppendEmpty())
	newWorker(registryRules()).guard(md)
	require.Equal(t, 1, md.ResourceMetrics().Len())
	require.Equal(t, 2, md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().Len())
}

func TestConcurrentBatchesDoNotMix(t *testing.T) {
	t.Parallel()
	p, tel, sink := start(t)
	var wg sync.WaitGroup
	for i := range 2 * idleWorkers {
		wg.Go(func() {
			for range 20 {
				key := []string{"run_id", "phase"}[i%2]
				assert.NoError(t, p.ConsumeMetrics(t.Context(), gaugeBatch("g", key, "a", "b")))
			}
		})
	}
	wg.Wait()
	points := map[int]int{}
	for _, md := range sink.AllMetrics() {
		points[md.DataPointCount()]++
	}
	require.Equal(t, map[int]int{1: 20 * idleWorkers, 2: 20 * idleWorkers}, points)
	componentcheck.AssertTelemetry(t, tel, "otelcol_cardinality_guard_",
		`otelcol_cardinality_guard_attributes_removed{level="datapoint",processor="cardinality_guard",reason="run"} 320`,
		`otelcol_cardinality_guard_points_merged{processor="cardinality_guard",type="gauge"} 160`)
}

func TestLossIsLoggedOnceAMinuteWithoutValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock stands still but for the sleeps
		core, logs := observer.New(zap.DebugLevel)
		set := processortest.NewNopSettings(metadata.Type)
		set.Logger = zap.New(core)
		g, err := newGuard(registryRules(), set)
		require.NoError(t, err)
		feed := func(md pmetric.Metrics) { _, _ = g.processMetrics(t.Context(), md) }

		feed(cumulativeBatch("secret-run", "b"))
		feed(cumulativeBatch("a"))
		time.Sleep(time.Minute - time.Nanosecond)
		feed(cumulativeBatch("a"))
		require.Equal(t, 1, logs.Len())
		time.Sleep(time.Nanosecond)
		feed(gaugeBatch("loss_run_id_123", "k", "v", "w"))
		feed(gaugeBatch("merged", "run_id", "v", "w"))
		require.Equal(t, []map[string]any{
			{"points": int64(2), "reason": "merge_unsupported", "metric": "total"},
			{"points": int64(4), "reason": "metric_name"},
		}, []map[string]any{logs.All()[0].ContextMap(), logs.All()[1].ContextMap()})
		require.Equal(t, 2, logs.Len())
	})
}

func TestEntityReferencesLoseForbiddenKeys(t *testing.T) {
	t.Parallel()
	md := gaugeBatch("g", "k", "v")
	res := md.ResourceMetrics().At(0).Resource()
	res.Attributes().PutStr("service.name", "x")
	res.Attributes().PutStr("run_id", "a")
	run := entity.ResourceEntityRefs(res).AppendEmpty()
	run.SetType("run")
	run.IdKeys().Append("run_id")
	service := entity.ResourceEntityRefs(res).AppendEmpty()
	service.SetType("service")
	service.IdKeys().Append("service.name")
	service.DescriptionKeys().Append("epoch", "service.version")

	w := newWorker(registryRules())
	w.guard(md)
	refs := entity.ResourceEntityRefs(res)
	require.Equal(t, 1, refs.Len())
	assert.Equal(t, []string{"service.name"}, refs.At(0).IdKeys().AsRaw())
	assert.Equal(t, []string{"service.version"}, refs.At(0).DescriptionKeys().AsRaw())
}

func TestTheMergedMetricIsDescribedAlikeInAnyOrder(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "longer", betterDescription("long", "longer"))
	assert.Equal(t, "longer", betterDescription("longer", "long"))
	assert.Equal(t, "a", betterDescription("b", "a"))
	assert.Equal(t, "a", betterDescription("a", "b"))
	for _, order := range [][]string{{"1", "2", "3"}, {"3", "2", "1"}, {"2", "3", "1"}} {
		md := pmetric.NewMetrics()
		for _, url := range order {
			one := gaugeBatch("g", "run_id", url)
			rm := one.ResourceMetrics().At(0)
			rm.SetSchemaUrl(map[string]string{"1": "old", "2": "new", "3": "old"}[url])
			rm.ScopeMetrics().At(0).SetSchemaUrl(map[string]string{"1": "x", "2": "a", "3": "y"}[url])
			rm.ScopeMetrics().At(0).Metrics().At(0).SetDescription("text" + url)
			rm.CopyTo(md.ResourceMetrics().AppendEmpty())
		}
		newWorker(registryRules()).guard(md)
		require.Equal(t, 1, md.ResourceMetrics().Len())
		rm := md.ResourceMetrics().At(0)
		assert.Equal(t, "old/y", rm.SchemaUrl()+"/"+rm.ScopeMetrics().At(0).SchemaUrl())
		assert.Equal(t, "text1", rm.ScopeMetrics().At(0).Metrics().At(0).Description())
	}
}

func TestAWorkerForgetsTheBatch(t *testing.T) {
	t.Parallel()
	w := newWorker(registryRules())
	values := make([]string, keptIdentities+1)
	w.guard(gaugeBatch("g", "run_id", values...))
	require.Empty(t, w.table.refs)
	require.LessOrEqual(t, cap(w.table.refs), keptIdentities)
	require.LessOrEqual(t, cap(w.parts), keptIdentities)
	w.guard(gaugeBatch("g", "run_id", "a", "b"))
	for _, r := range w.table.refs[:cap(w.table.refs)] {
		require.Equal(t, ref{}, r)
	}
	require.Equal(t, place{}, w.at)
	require.Empty(t, w.ids.known)
	require.Empty(t, w.touched)
}

func TestMetadataThatContradictsGoesForGood(t *testing.T) {
	t.Parallel()
	md := pmetric.NewMetrics()
	for _, v := range []string{"1", "2", "1"} {
		rm := gaugeBatch("g", "run_id", v).ResourceMetrics().At(0)
		rm.ScopeMetrics().At(0).Metrics().At(0).Metadata().PutStr("k", v)
		rm.CopyTo(md.ResourceMetrics().AppendEmpty())
	}
	newWorker(registryRules()).guard(md)
	require.Zero(t, md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Metadata().Len())
}

func TestExemplarsOfOneTimeAreChosenByContent(t *testing.T) {
	t.Parallel()
	md := gaugeBatch("g", "run_id", "a", "b", "c")
	for i, p := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().All() {
		for j := range 5 {
			e := p.Exemplars().AppendEmpty()
			e.SetTimestamp(7)
			e.SetDoubleValue(float64(i*5 + j))
		}
	}
	turned := clone(md)
	reverse(turned)
	newWorker(registryRules()).guard(md)
	newWorker(registryRules()).guard(turned)
	require.Equal(t, flatten(md), flatten(turned))
	require.Len(t, flatten(md)[0].exemplars, exemplarLimit)
}
