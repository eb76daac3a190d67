package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/executable"
)

// tree lays files into a git repository of its own, and scripts of ours as they are.
func tree(t *testing.T, ours []string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range ours {
		text, err := os.ReadFile(filepath.Join(collector.Root(t), name)) //nolint:gosec // a script of this repository
		require.NoError(t, err)
		files[name] = string(text)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		executable.Write(t, path, text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput() //nolint:gosec // the test's own
		require.NoError(t, err, string(out))
	}
	return dir
}

// run gives what a command printed and how it ended.
func run(t *testing.T, dir string, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...) //nolint:gosec // the test's own
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err, string(out))
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// last gives the last lines of a text.
func last(text string, n int) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[max(0, len(lines)-n):]
}
