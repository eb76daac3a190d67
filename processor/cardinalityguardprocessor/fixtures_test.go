package cardinalityguardprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// TestFixtures runs each case forwards, with everything in it reversed, and again on its own output.
func TestFixtures(t *testing.T) {
	t.Parallel()
	componentcheck.EachCase(t, "testdata", func(t *testing.T, c *componentcheck.Case) {
		in, want := c.Metrics(t, "in"), flatten(c.Metrics(t, "out"))
		requireOut := func(in pmetric.Metrics, why string) pmetric.Metrics {
			p, tel, sink := start(t)
			require.NoError(t, p.ConsumeMetrics(t.Context(), in))
			out := pmetric.NewMetrics()
			if len(want) == 0 {
				require.Empty(t, sink.AllMetrics(), why)
			} else {
				require.Len(t, sink.AllMetrics(), 1, why)
				out = sink.AllMetrics()[0]
			}
			require.Equal(t, want, flatten(out), why)
			requireNothingEmpty(t, out)
			c.EqualTelemetry(t, tel, "otelcol_cardinality_guard_")
			return out
		}
		out := requireOut(clone(in), "as it is")
		if !c.Has("order") { // the result may depend on the order
			reverse(in)
			requireOut(in, "reversed")
		}
		if len(want) == 0 {
			return
		}
		p, tel, sink := start(t)
		bytes := marshal(t, out)
		require.NoError(t, p.ConsumeMetrics(t.Context(), out))
		require.Equal(t, bytes, marshal(t, sink.AllMetrics()[0]), "the output guarded again")
		componentcheck.AssertTelemetry(t, tel, "otelcol_cardinality_guard_")
	})
}

func requireNothingEmpty(t *testing.T, md pmetric.Metrics) {
	t.Helper()
	for _, rm := range md.ResourceMetrics().All() {
		require.NotZero(t, rm.ScopeMetrics().Len())
		for _, sm := range rm.ScopeMetrics().All() {
			require.NotZero(t, sm.Metrics().Len())
			for _, m := range sm.Metrics().All() {
				require.NotZero(t, pointCount(m), m.Name())
			}
		}
	}
}

// reverse turns the order of resources, scopes, metrics and number points around.
func reverse(md pmetric.Metrics) {
	reverseSlice(md.ResourceMetrics())
	for _, rm := range md.ResourceMetrics().All() {
		reverseSlice(rm.ScopeMetrics())
		for _, sm := range rm.ScopeMetrics().All() {
			reverseSlice(sm.Metrics())
			for _, m := range sm.Metrics().All() {
				if m.Type() == pmetric.MetricTypeGauge || m.Type() == pmetric.MetricTypeSum {
					reverseSlice(numbers(m))
				}
			}
		}
	}
}

func reverseSlice[E comparable, S interface {
	Len() int
	At(int) E
	Sort(func(a, b E) bool)
}](s S) {
	at := map[E]int{}
	for i := range s.Len() {
		at[s.At(i)] = i
	}
	s.Sort(func(a, b E) bool { return at[a] > at[b] })
}
