package summary

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// expectation is expected.json of a case.
type expectation struct {
	Given struct {
		Now   string               `json:"now"`
		Mtime map[string]time.Time `json:"mtime"`
		Args  []string             `json:"args"`
	} `json:"given"`
	Expect map[string]any `json:"expect"`
}

// TestCases runs the worked cases; SUMMARY_CASES names a folder with more.
func TestCases(t *testing.T) {
	t.Parallel()
	folders := []string{filepath.Join(collector.Root(t), "cmd", "trainsummary", "testdata", "cases")}
	if more := os.Getenv("SUMMARY_CASES"); more != "" {
		folders = append(folders, more)
	}
	for _, folder := range folders {
		cases, err := filepath.Glob(filepath.Join(folder, "*", "expected.json"))
		require.NoError(t, err)
		require.NotEmpty(t, cases)
		for _, file := range cases {
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				t.Parallel()
				checkCase(t, file)
			})
		}
	}
}

func checkCase(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var c expectation
	require.NoError(t, json.Unmarshal(text, &c))
	dir := filepath.Join(t.TempDir(), filepath.Base(filepath.Dir(file)))
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(file))))
	for name, at := range c.Given.Mtime {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	got := runIn(t, dir, append([]string{"--now", c.Given.Now, "--no-process-check"}, c.Given.Args...)...)
	require.Zero(t, got.code, got.err)
	d := got.document(t)
	for _, diff := range differences("", c.Expect, d) {
		t.Error(diff)
	}
	assert.Equal(t, c.Expect["why"], d["why"])
	assert.LessOrEqual(t, len(got.out)-1, 2048)
}

// differences lists where a document has not what is expected; further keys are allowed.
func differences(path string, want, got any) []string {
	bad := []string{fmt.Sprintf("%s: want %v, got %v", path, want, got)}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return bad
		}
		var out []string
		for k, v := range w {
			inner, ok := g[k]
			if !ok {
				out = append(out, path+"."+k+": missing")
				continue
			}
			out = append(out, differences(path+"."+k, v, inner)...)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return bad
		}
		var out []string
		for i := range w {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return out
	case float64:
		tolerance := 1e-6 * math.Abs(w)
		if strings.HasSuffix(path, ".change") || strings.HasSuffix(path, ".gap") {
			tolerance = 1e-3
		}
		if g, ok := got.(float64); !ok || math.Abs(g-w) > tolerance {
			return bad
		}
		return nil
	default:
		if want != got {
			return bad
		}
		return nil
	}
}
