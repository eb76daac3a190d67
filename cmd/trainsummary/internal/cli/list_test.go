package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheExitIsByTheStateOfAllRunsInEveryForm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stream(t, dir, "a", epoch(0, "a", 0, 1), record(1, "a", "run.end", `"outcome":"success"`))
	stream(t, dir, "b", epoch(0, "b", 0, 1), record(1, "b", "run.failure", `"message":"x"`))
	for _, args := range [][]string{nil, {"--full"}, {"--format", "html"}, {"--format", "text"}, {"--format", "text", "--full"}, {"--format", "markdown"}} {
		code, _, errs := call(t, append(args, "--exit-state", "--now", at(3600), dir)...)
		assert.Equal(t, exitFailed, code, "%v: %s", args, errs)
	}
}

// TestAPageOfManyRunsTellsFirstWhatNeedsAttention, and counts what it leaves out.
func TestAPageOfManyRunsTellsFirstWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 53 {
		last := record(1, fmt.Sprint("run", i), "run.end", `"outcome":"success"`)
		if i == 52 {
			last = record(1, "run52", "run.failure", `"message":"x"`)
		}
		stream(t, dir, fmt.Sprintf("r%02d", i), epoch(0, fmt.Sprint("run", i), 0, 1), last)
	}
	code, out, errs := call(t, "--format", "html", "--now", at(3600), dir)
	require.Zero(t, code, errs)
	assert.Equal(t, 50, strings.Count(out, "<h1>"))
	assert.Less(t, strings.Index(out, ">run52<"), strings.Index(out, ">run0<"))
	assert.Contains(t, out, ">run52<")
	assert.Contains(t, out, "3 more runs")
}
