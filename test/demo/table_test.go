package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheTableSaysWhatTheResultsSay: a run, its framework, epochs, best, outcome and file; one that said no end is provisional.
func TestTheTableSaysWhatTheResultsSay(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, text := range []string{
		`{"run_id":"a","outcome":"success","stop_reason":"completed","epochs":{"planned":4,"completed":3},"best":{"metric":"val/loss","value":0.9,"step":2},"source":{"framework":{"name":"pytorch"}}}`,
		`{"run_id":"b","outcome":"stalled","provisional":true}`,
	} {
		path := filepath.Join(t.TempDir(), "result.json")
		_, err := readResult(path)
		require.ErrorContains(t, err, "no result yet")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		r, err := readResult(path)
		require.NoError(t, err)
		rows = append(rows, row{result: r, path: filepath.Join(r.RunID, "result.json")})
	}
	var out strings.Builder
	printTable(&out, rows)
	assert.Equal(t, `
RUN  FRAMEWORK  EPOCHS  BEST               OUTCOME               RESULT
a    pytorch    3 of 4  val/loss 0.9 at 2  success, completed    a/result.json
b    -          -       -                  stalled, provisional  b/result.json
`, out.String())
}
