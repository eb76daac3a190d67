package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultCompiles(t *testing.T) {
	t.Parallel()
	p := Default()
	require.Equal(t, Enforce, p.Mode())
	v, audit := p.Metric("x").Class.Judge(Datapoint, false, "mlflow.run_id")
	require.Nil(t, audit)
	require.Equal(t, "run", p.Rules()[v.Key()].Reason)
	require.True(t, p.Metric("DCGM_FI_X").Single)
	require.True(t, p.Metric("DCGM_EXP_X").Single)
	require.False(t, p.Metric("DCGM").Single)
	require.False(t, p.Selects(), "one look fits all metrics")
	require.Same(t, p.Metric("DCGM_FI_X").Class, p.Metric("x").Class)
}

func TestOwnExemptionsReplaceTheDefault(t *testing.T) {
	t.Parallel()
	p, err := Parse("", []byte("exempt: [{metrics: {prefix: [a_]}, writer: single}, {metrics: {prefix: [b_]}, keep: [run_id]}]"))
	require.NoError(t, err)
	require.True(t, p.Metric("a_x").Single)
	require.False(t, p.Metric("b_x").Single)
	require.False(t, p.Metric("DCGM_FI_X").Single)
	v, _ := p.Metric("b_x").Class.Judge(Datapoint, false, "run_id")
	require.Nil(t, v)
	_, err = Parse("", []byte("exempt: [{metrics: {prefix: [a_]}}, {keep: [x]}, {writer: single}]"))
	require.ErrorContains(t, err, "exempt[0]: no effect")
	require.ErrorContains(t, err, "exempt[1].metrics: selects nothing")
	require.ErrorContains(t, err, "exempt[2]: no effect")
	none, err := Parse("", []byte("exempt: []"))
	require.NoError(t, err)
	require.False(t, none.Metric("DCGM_FI_X").Single, "an empty list is a list")
}

func TestValuesOfALimitedAttributeOutliveAReload(t *testing.T) {
	t.Parallel()
	const limited = "limits: {values_per_attribute: {colour: 2}}"
	judge := func(p *Policy, value string) Outcome {
		v, _ := p.Metric("m").Class.Judge(Datapoint, false, "Colour")
		what, _, _ := v.Decide(text(value))
		return what
	}
	before, err := Parse("", []byte(limited))
	require.NoError(t, err)
	require.Equal(t, Stay, judge(before, "red"))
	require.Equal(t, Stay, judge(before, "blue"))
	require.Equal(t, Replace, judge(before, "green"))
	after, err := Parse("", []byte(limited))
	require.NoError(t, err)
	after.Inherit(before)
	require.Equal(t, Replace, judge(after, "green"))
	require.Equal(t, Stay, judge(after, "red"))
	require.Equal(t, Stay, judge(after, otherWord))
}
