package cardinalityguardprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

func replicated(c *Config) { c.ReplicaAttribute = ReplicaConfig{Key: "collector", Value: "0"} }

// TestTheReplicaAttributeIsPartOfTheIdentity: what sources have under its key already makes no second series of one identity.
func TestTheReplicaAttributeIsPartOfTheIdentity(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1000*second, policy.Default(), replicated, func(c *Config) { c.Limits.SeriesPerMetric = 2 })
	for _, at := range []int64{1010, 1020} {
		l.at(at * second)
		for i, attrs := range [][]string{{"collector", "p"}, {"collector", "q"}, {"collector", "0"}, {}} {
			l.feed(t, pointOf("sum", 1001*second, at*second, int64(1+i), append([]string{"run_id", "a"}, attrs...)...))
			l.feed(t, pointOf("sum", 1001*second, at*second, int64(1+i), append([]string{"run_id", "a", "over", "limit"}, attrs...)...))
		}
		l.guard.flush(t.Context(), false)
		out := l.taken(t)
		require.Equal(t, 2, out.DataPointCount(), "and one over the limit")
		for _, p := range out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().All() {
			assert.EqualValues(t, 10, p.IntValue())
			own, _ := p.Attributes().Get("collector")
			assert.Equal(t, "0", own.Str())
		}
	}
}

// TestAPolicyMayForbidTheReplicaAttribute: on what comes, not on what the guard says of itself.
func TestAPolicyMayForbidTheReplicaAttribute(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1000*second, policy.Default(), replicated)
	l.at(1010 * second)
	l.feed(t, pointOf("updown", 1001*second, 1010*second, 5, "run_id", "a"))
	l.guard.flush(t.Context(), false)
	l.taken(t)
	p, err := policy.Parse("", []byte("attributes: {deny: {exact: [collector]}}\n"))
	require.NoError(t, err)
	l.guard.govern(p)
	l.at(1020 * second)
	l.feed(t, pointOf("updown", 1001*second, 1020*second, 6, "run_id", "b", "collector", "x"))
	l.guard.flush(t.Context(), false)
	out := l.taken(t)
	assert.InDelta(t, 11, tell(out)[0].value, 0)
	var keys []string
	out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0).Attributes().Range(func(k string, _ pcommon.Value) bool {
		keys = append(keys, k)
		return true
	})
	assert.Equal(t, []string{"collector"}, keys)
	assert.Equal(t, pmetric.MetricTypeSum, out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Type())
}
