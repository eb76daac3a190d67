package cardinalityguardprocessor

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// TestFixtures runs each case forwards, with everything in it reversed, and again on its own output. A case is one batch and the flush behind it.
func TestFixtures(t *testing.T) {
	t.Parallel()
	componentcheck.EachCase(t, "testdata", func(t *testing.T, c *componentcheck.Case) {
		in, want := c.Metrics(t, "in"), flatten(c.Metrics(t, "out"))
		cfg := componentcheck.CaseConfig[*Config](t, c, NewFactory())
		guarded := func() *lab {
			p, err := cfg.inlinePolicy()
			require.NoError(t, err)
			return newLab(t, 1, p, func(c *Config) { *c = *cfg })
		}
		requireOut := func(in pmetric.Metrics, why string) pmetric.Metrics {
			l := guarded()
			l.at(1000)
			l.feed(t, in)
			l.guard.flush(t.Context(), false)
			out := l.taken(t)
			require.Equal(t, want, flatten(out), why)
			requireNothingEmpty(t, out)
			c.Equal(t, "telemetry", l.counted(t))
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
		l := guarded()
		l.at(1000)
		bytes := marshal(t, out)
		l.feed(t, out)
		require.Equal(t, bytes, marshal(t, l.sink.AllMetrics()[0]), "the output guarded again")
		l.guard.flush(t.Context(), false)
		require.Len(t, l.sink.AllMetrics(), 1)
	})
}

// counted lists the self-metrics that tell what was done, without those of sizes and durations.
func (l *lab) counted(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, line := range componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_") {
		if !sizes.MatchString(line) {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

var sizes = regexp.MustCompile(`_(series|sources|tombstones)(_limit)?\{|_flush_duration`)

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
