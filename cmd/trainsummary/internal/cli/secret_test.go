package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARunIDIsShownWithoutItsSecret, as results have it, and found by what the records say and by what is shown.
func TestARunIDIsShownWithoutItsSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	stream(t, dir, "a", epoch(0, "r-"+secret, 0, 1))
	stream(t, dir, "b", epoch(0, "other", 0, 1))
	for _, format := range []string{formatJSON, formatText, formatMarkdown, formatHTML} {
		code, out, errs := call(t, "--format", format, "--now", at(60), dir)
		require.Zero(t, code, errs)
		assert.NotContains(t, out+errs, secret, format)
	}
	_, out, errs := call(t, "--run", "r-"+secret, "--now", at(60), dir)
	require.Empty(t, errs)
	id := document(t, out)["run"].(map[string]any)["id"].(string)
	assert.NotContains(t, out, secret)
	_, again, _ := call(t, "--run", id, "--now", at(60), dir)
	assert.Equal(t, out, again)
}
