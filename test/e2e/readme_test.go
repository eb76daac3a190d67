package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// block gives a code block of a language in a page, counted from 0.
func block(t *testing.T, page, language string, n int) string {
	t.Helper()
	found := markdown.Blocks(markdown.Page(t, page), language)
	require.Greater(t, len(found), n, "%s has too few blocks of %s", page, language)
	return found[n]
}

// TestTheReadmesCommandsWork starts the collector with the README's commands, runs its trainer, and reads the result it promises.
func TestTheReadmesCommandsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("THE README'S TRAINER WAS NOT RUN: %v", err)
	}
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "HEALTH_ENDPOINT="+ports.Free(t))
	commands := strings.TrimSpace(block(t, "README.md", "sh", 0))
	commands = strings.Replace(commands, "\nbuild/otelcol-train/otelcol-train ", "\nexec "+collector.Binary(t)+" ", 1)
	cmd := exec.Command("sh", "-ec", commands+` --config "yaml:service::telemetry::metrics::level: none"`)
	cmd.Dir, cmd.Env = collector.Root(t), env
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			assert.NoError(t, err, output.String())
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Error("the collector did not end")
		}
	})
	debug := exec.Command("sh", "-ec", strings.Replace(block(t, "README.md", "sh", 1), "build/otelcol-train/otelcol-train", collector.Binary(t)+" validate", 1))
	debug.Dir = cmd.Dir
	shown, err := debug.CombinedOutput()
	require.NoError(t, err, string(shown))
	trainer := exec.Command("python3", "-c", block(t, "README.md", "python", 0))
	trainer.Env = env
	out, err := trainer.CombinedOutput()
	require.NoError(t, err, string(out))

	got := waitResult(t, folders{collector.Folders{Results: filepath.Join(home, "repo", "results")}}, "run-7", "success")
	require.NotNil(t, got.Best)
	assert.Equal(t, bestOne{Metric: "val/loss", Mode: "min", Value: 1, Step: 1}, *got.Best)
	for _, name := range []string{"metrics.json", "params.yaml", "dvc.yaml", "plots/metrics/val/loss.tsv"} {
		assert.FileExists(t, filepath.Join(home, "repo", "results", "run-7", name))
	}
}
