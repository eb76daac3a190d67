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
}
