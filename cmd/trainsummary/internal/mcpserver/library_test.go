package mcpserver

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryRowOfAListLeadsToItsRun, also where a stream tells of several whose ids are too long for a row.
func TestEveryRowOfAListLeadsToItsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := "experiment-of-2026-11-20-lr3e-4-bs64-seed000"
	sweep := filepath.Join(dir, "sweep.jsonl")
	write(t, sweep, record(long+"1", "epoch.end", `"epoch":0`)+record(long+"2", "epoch.end", `"epoch":0`))
	write(t, filepath.Join(dir, "one", "t.jsonl"), record(long+"3", "epoch.end", `"epoch":0`))
	c := connect(t, dir, nil)
	list, _ := call(t, c, "list_runs", nil)
	var got []any
	for _, r := range list["runs"].([]any) {
		d, text := call(t, c, "summarize_run", map[string]any{"run": r.(map[string]any)["ref"]})
		require.Empty(t, text)
		got = append(got, d["run"].(map[string]any)["id"])
	}
	assert.ElementsMatch(t, []any{long + "1", long + "2", long + "3"}, got)
	_, text := call(t, c, "summarize_run", map[string]any{"run": sweep})
	assert.Contains(t, text, "several runs")
}
