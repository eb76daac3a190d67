package mcpserver

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestACurveOfAPartIsNamedWithIt where other parts have one of the same name.
func TestACurveOfAPartIsNamedWithIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "t.jsonl")
	for i := range 2 {
		write(t, path, fmt.Sprintf(`{"ts":%q,"event":"epoch.end","run_id":"cv","part":"fold=%d","body":{"epoch":0,"measurements":{"val/loss":%d,"only%d":7}}}`+"\n",
			time.Now().UTC().Format(time.RFC3339Nano), i, i, i))
	}
	write(t, path, record("own", "epoch.end", `"epoch":0,"measurements":{"val/loss":5}`))
	c := connect(t, dir, nil)
	m, _ := call(t, c, "get_metric", map[string]any{"run": "cv", "metric": "fold=1 val/loss"})
	assert.Equal(t, []any{[]any{0.0, 1.0}}, m["points"])
	assert.Equal(t, "fold=1", m["part"])
	m, _ = call(t, c, "get_metric", map[string]any{"run": "cv", "metric": "only0"})
	assert.Equal(t, "fold=0", m["part"], "no other part has one of this name")
	_, text := call(t, c, "get_metric", map[string]any{"run": "cv", "metric": "val/loss"})
	assert.Contains(t, text, "several parts")
	assert.Contains(t, text, `"measured":["fold=0 only0","fold=0 val/loss","fold=1 only1","fold=1 val/loss"]`)
	m, _ = call(t, c, "get_metric", map[string]any{"run": "own", "metric": "val/loss"})
	assert.NotContains(t, m, "part")
}
