package isolateconnector

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

func TestComponent(t *testing.T) {
	t.Parallel()
	componentcheck.Run(t, NewFactory())
}

func TestMaxBytesTakesANumberOrAUnit(t *testing.T) {
	t.Parallel()
	for _, written := range []any{1048576, "1048576", "1MiB"} {
		cfg := createDefaultConfig().(*Config)
		require.NoError(t, confmap.NewFromStringMap(map[string]any{"max_bytes": written}).Unmarshal(cfg))
		assert.Equal(t, &Config{MaxBytes: 1 << 20}, cfg)
	}
}

func TestMaxBytesMustBePositive(t *testing.T) {
	t.Parallel()
	for _, bytes := range []componentkit.ByteSize{0, -1} {
		require.ErrorContains(t, (&Config{MaxBytes: bytes}).Validate(), "max_bytes: want a size above 0")
	}
	require.NoError(t, (&Config{MaxBytes: 1}).Validate())
	assert.Equal(t, &Config{MaxBytes: 16 << 20}, createDefaultConfig())
}
