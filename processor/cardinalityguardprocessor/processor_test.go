package cardinalityguardprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/pathologize/otelcol-train/internal/componentcheck"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

func TestNothingIsSentWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	p, tel, sink := start(t)
	require.NoError(t, p.ConsumeMetrics(t.Context(), pmetric.NewMetrics()))
	require.NoError(t, p.ConsumeMetrics(t.Context(), gaugeBatch("no points", "k")))
	require.NoError(t, p.ConsumeMetrics(t.Context(), gaugeBatch("loss_run_id_123", "k", "a", "b")))
	require.NoError(t, p.ConsumeMetrics(t.Context(), cumulativeBatch("a")))
	require.Empty(t, sink.AllMetrics())
	componentcheck.AssertTelemetry(t, tel, "otelcol_cardinality_guard_",
		`otelcol_cardinality_guard_attributes_removed{level="datapoint",processor="cardinality_guard",reason="run"} 1`,
		`otelcol_cardinality_guard_metrics_rejected{processor="cardinality_guard",reason="metric_name"} 1`,
		`otelcol_cardinality_guard_points_dropped{processor="cardinality_guard",reason="metric_name",type="gauge"} 2`,
		`otelcol_cardinality_guard_points_merged{processor="cardinality_guard",type="sum"} 1`,
		`otelcol_cardinality_guard_policy_info{mode="enforce",processor="cardinality_guard",version="registry"} 1`)
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
	md := gaugeBatch("g", "run_id", "a")
	kept := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	kept.AppendEmpty().SetName("empty")
	gaugeBatch("g", "k", "v").ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).CopyTo(kept.AppendEmpty())
	newLab(t, 1, policy.Default()).guard.take().guard(md, 1000)
	require.Equal(t, 1, md.ResourceMetrics().Len())
	require.Equal(t, 2, md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().Len())
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

	l := newLab(t, 1, policy.Default())
	l.feed(t, md)
	l.guard.flush(t.Context(), false)
	res = l.taken(t).ResourceMetrics().At(0).Resource()
	refs := entity.ResourceEntityRefs(res)
	require.Equal(t, 1, refs.Len())
	assert.Equal(t, []string{"service.name"}, refs.At(0).IdKeys().AsRaw())
	assert.Equal(t, []string{"service.version"}, refs.At(0).DescriptionKeys().AsRaw())
}
