package trainrun

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailuresAndPathsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	e, ok := Reduce(record("run.failure", nil, map[string]any{
		"error_type": "E", "message": "GET https://u:pw@h/ failed", "stack": "  login(\"x\", password='pw')",
	}))
	require.True(t, ok)
	assert.Equal(t, "GET https://***@h/ failed", e.Detail.Message)
	assert.Equal(t, "  login(\"x\", password='***')", e.Detail.Stack)
	assert.Equal(t, int64(2), e.Masked)
	e, _ = Reduce(record("checkpoint.save", nil, map[string]any{"path": "s3://id:pw@bucket/last.pt"}))
	assert.Equal(t, "s3://***@bucket/last.pt", e.Detail.Checkpoint.Path)
	assert.Equal(t, int64(1), e.Masked)
	e, _ = Reduce(record("run.end", nil, map[string]any{
		"stop_reason": "token=pw", "artifacts": []any{map[string]any{"path": "https://h/x?sig=pw"}},
	}))
	assert.Equal(t, "token=***", e.Detail.StopReason)
	assert.Equal(t, "https://h/x?sig=***", e.Detail.Artifacts[0].Path)
	e, _ = Reduce(record("run.start", nil, map[string]any{
		"versions": map[string]any{"torch": "2.9", "hub_token": "pw", "index": "https://u:pw@h"}, "git": map[string]any{"branch": "token=pw", "commit": "https://u:pw@h/c"},
	}))
	assert.NotContains(t, dump(e), "pw")
	assert.Equal(t, int64(4), e.Masked)
}

func TestASecretAtTheCutStaysOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x ", MaxText/2-8) + "token=" + strings.Repeat("secret", 10)
	e, _ := Reduce(record("run.failure", nil, map[string]any{"message": long}))
	assert.NotContains(t, e.Detail.Message, "sec")
	assert.LessOrEqual(t, len(e.Detail.Message), MaxText)
}
