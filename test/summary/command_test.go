package summary

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// answer is what a call of the command gave.
type answer struct {
	code     int
	out, err string
}

func (a answer) document(t *testing.T) map[string]any {
	t.Helper()
	var d map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.out), &d), "%s%s", a.out, a.err)
	return d
}

func run(t *testing.T, args ...string) answer {
	t.Helper()
	return runIn(t, "", args...)
}

func runIn(t *testing.T, dir string, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), collector.Summary(t), args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return answer{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// trainer is a process that writes a stream until it is told to do something else.
type trainer struct {
	*exec.Cmd
	path string
	done chan struct{}
}

// script writes an epoch every 0.2 s with its process id; the file "do" in its folder tells it what to do next.
const script = `
n=0
host=$(hostname)
say() { printf '{"ts":"%s","event":"%s","run_id":"r","host":"%s","resource":{"process.pid":%d},"body":{%s}}\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ -d "$SHIFT")" "$1" "$host" $$ "$2" >> "$OUT"; }
say run.start '"planned_epochs":1000'
while :; do
  case "$(cat do 2>/dev/null)" in
  end) say run.end '"outcome":"success","stop_reason":"max_steps"'; exit 0 ;;
  leave) exit 0 ;;
  esac
  say epoch.end "\"epoch\":$n,\"measurements\":{\"val/loss\":$((1000 - n))}"
  n=$((n + 1))
  sleep "$PAUSE"
done
`

func train(t *testing.T, pause, shift string) *trainer {
	t.Helper()
	dir := t.TempDir()
	tr := &trainer{path: filepath.Join(dir, "train.jsonl"), done: make(chan struct{})}
	tr.Cmd = exec.CommandContext(t.Context(), "bash", "-c", script)
	tr.Dir, tr.Env = dir, append(os.Environ(), "OUT="+tr.path, "PAUSE="+pause, "SHIFT="+shift)
	require.NoError(t, tr.Start())
	go func() {
		_ = tr.Wait() // how it ends is the test's business
		close(tr.done)
	}()
	t.Cleanup(func() {
		_ = tr.Process.Kill() // it may be gone
		<-tr.done
	})
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(tr.path)
		return err == nil && bytes.Count(text, []byte("\n")) >= 5
	}, 30*time.Second, 50*time.Millisecond)
	return tr
}

func (tr *trainer) do(t *testing.T, what string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(tr.Dir, "do"), []byte(what), 0o600))
}
