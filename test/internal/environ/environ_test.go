package environ

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatTheCallerExportsReachesNoProgram: of the variables that shipped configurations name only those count that the test gives.
func TestWhatTheCallerExportsReachesNoProgram(t *testing.T) {
	t.Parallel()
	named, err := variables("../../../config")
	require.NoError(t, err)
	assert.Subset(t, named, []string{"IDLE_TIMEOUT", "STATE_DIR", "GATEWAY_ID", "METRICS_PORT"})
	callers := []string{"PATH=/bin", "IDLE_TIMEOUT=1s", "STATE_DIR=/nowhere", "GOFLAGS="}
	assert.Equal(t, []string{"PATH=/bin", "GOFLAGS=", "STATE_DIR=/tmp"}, clean(callers, named, map[string]string{"STATE_DIR": "/tmp"}))
	assert.Len(t, callers, 4, "it is the caller's")
}
