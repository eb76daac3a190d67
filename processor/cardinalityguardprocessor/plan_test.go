package cardinalityguardprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// TestHashesOfAScanAreThoseOfTheAttributes, whatever keys the point before had.
func TestHashesOfAScanAreThoseOfTheAttributes(t *testing.T) {
	keys := []string{"a", "b", "c", "", strings.Repeat("long", 100), "run_id"}
	property(t, func(t *rapid.T) {
		l := newLab(t, 1, policy.Default())
		w := l.guard.take()
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			md := pmetric.NewMetrics()
			sm := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
			for range rapid.IntRange(1, 3).Draw(t, "metrics") {
				m := sm.Metrics().AppendEmpty()
				m.SetName(rapid.SampledFrom([]string{"x", "y", "DCGM_FI_X"}).Draw(t, "name"))
				m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
				for range rapid.IntRange(0, 6).Draw(t, "points") {
					attrs := m.Sum().DataPoints().AppendEmpty().Attributes()
					for range rapid.IntRange(0, 3).Draw(t, "attributes") {
						attrs.PutInt(rapid.SampledFrom(keys).Draw(t, "key"), rapid.Int64Range(0, 2).Draw(t, "value"))
					}
				}
			}
			w.scan(md)
			for i, m := range sm.Metrics().All() {
				var want []merge.Hash
				for _, p := range m.Sum().DataPoints().All() {
					if _, forbidden := p.Attributes().Get("run_id"); forbidden {
						break
					}
					var fresh merge.Hasher
					want = append(want, fresh.Attributes(p.Attributes()))
				}
				if m.Name() == "DCGM_FI_X" {
					want = nil // one writer: the engine does not ask
				}
				require.Equal(t, want, append([]merge.Hash(nil), w.plan.hashesOf(i)...))
			}
		}
	})
}

// TestPointsOfUnlikeKeysStayApart would fail if the keys of one point were taken for those of another.
func TestPointsOfUnlikeKeysStayApart(t *testing.T) {
	t.Parallel()
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("x")
	m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	for _, key := range []string{"a", "a", "b", "a", strings.Repeat("long", 100), strings.Repeat("long", 101)} {
		m.Sum().DataPoints().AppendEmpty().Attributes().PutStr(key, "v")
	}
	w := newLab(t, 1, policy.Default()).guard.take()
	w.scan(md)
	distinct := map[merge.Hash]bool{}
	for _, h := range w.plan.hashesOf(0) {
		distinct[h] = true
	}
	require.Len(t, w.plan.hashesOf(0), 6)
	require.Len(t, distinct, 4)
}
