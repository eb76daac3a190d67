package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// TestTheOverflowAttributeHasOneValue: under its key no other rule looks at values.
func TestTheOverflowAttributeHasOneValue(t *testing.T) {
	t.Parallel()
	p, err := Parse("", []byte("attributes: {keep_only: {keys: [phase]}}"))
	require.NoError(t, err)
	audited, err := Parse("", []byte("mode: audit"))
	require.NoError(t, err)
	kept, err := Parse("", []byte("exempt: [{metrics: {exact: [m]}, keep: [otel.metric.overflow]}]"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		value any
		want  Outcome
	}{
		"true": {true, Stay}, "text": {"true", Stay}, "false": {false, Remove}, "other": {"other", Remove}, "run": {"run-17", Remove},
		"empty text": {"", Remove}, "number": {1, Remove}, "nothing": {nil, Remove}, "map": {map[string]any{"true": "x"}, Remove}, "list": {[]any{true}, Remove},
	} {
		value := pcommon.NewValueEmpty()
		require.NoError(t, value.FromRaw(c.value))
		for _, at := range []Level{Resource, Scope, Datapoint, Exemplar, Metadata} {
			enforce, audit := p.Metric("m").Class.Judge(at, false, OverflowKey)
			assert.Nil(t, audit)
			what, rule, _ := enforce.Decide(value)
			assert.Equal(t, c.want, what, name)
			if what == Remove {
				assert.Equal(t, "overflow", p.Rules()[rule].Reason)
			}
		}
		enforce, audit := audited.Metric("m").Class.Judge(Datapoint, false, OverflowKey)
		assert.Nil(t, enforce)
		what, _, _ := audit.Decide(value)
		assert.Equal(t, c.want, what, name)
		enforce, _ = kept.Metric("m").Class.Judge(Datapoint, false, OverflowKey)
		assert.Nil(t, enforce)
	}
}
