package trainview

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// A launcher writes the exit status, whatever the trainer told before it.
func TestAFailureSaysMoreThanAnExitStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure, said, want string
		later               bool // there is progress behind the failure
	}{
		"interrupted":             {failure: "KeyboardInterrupt", said: "exit status 130", want: "user"},
		"out of memory, aborted":  {failure: "OutOfMemoryError", said: "exit code -6", want: "oom"},
		"any error":               {failure: "OutOfMemoryError", said: "exit status 1", want: "oom"},
		"an error of no reason":   {failure: "ValueError", said: "exit status 137", want: "signal"},
		"a signal by name":        {failure: "KeyboardInterrupt", said: "SIGTERM", want: "signal"},
		"one that was got over":   {failure: "OutOfMemoryError", said: "exit status 137", want: "signal", later: true},
		"no failure that is told": {said: "exit status 137", want: "signal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t).line(start, "run.start", "")
			if c.failure != "" {
				r.line(start.Add(time.Second), "run.failure", fmt.Sprintf(`"error_type":%q,"message":""`, c.failure))
			}
			if c.later {
				r.epochs("val/loss", 1)
			}
			d := r.line(start.Add(time.Hour), "run.end", fmt.Sprintf(`"outcome":"failed","stop_reason":%q`, c.said)).after(time.Second)
			assert.Equal(t, c.want, d.Stop.Reason)
		})
	}
}
