package trainview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReasonsOfTexts reads "reason<tab>text" lines: what frameworks, runtimes and schedulers write.
func TestReasonsOfTexts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "stop_reasons.txt"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		want, said, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		seen[want] = true
		if want == "-" {
			want = ""
		}
		assert.Equal(t, want, classify(said), said)
	}
	for _, r := range table {
		assert.True(t, seen[r.Reason], "no text for %s", r.Reason)
	}
}

func TestBoundedReasons(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"early_stopping": "early_stopping", "Early-Stopping": "early_stopping", " OOM ": "oom", "max steps": "max_steps", "boredom": "", "": ""} {
		assert.Equal(t, want, bounded(text), text)
	}
}
