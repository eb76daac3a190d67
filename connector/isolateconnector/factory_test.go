package isolateconnector

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestComponent(t *testing.T) {
	t.Parallel()
	componentcheck.Run(t, NewFactory())
}

func TestMaxBytesMustBePositive(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{0, -1} {
		require.ErrorContains(t, (&Config{MaxBytes: bytes}).Validate(), "max_bytes: want a number of bytes above 0")
	}
	require.NoError(t, (&Config{MaxBytes: 1}).Validate())
	assert.Equal(t, &Config{MaxBytes: 16 << 20}, createDefaultConfig())
}
