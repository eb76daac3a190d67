package packages

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// requireEnv makes a skip a failure.
const requireEnv = "OTELCOL_TRAIN_REQUIRE_PACKAGES"

// cannot skips a test for want of a tool or of rights, loudly, unless the environment says that it must run.
func cannot(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv(requireEnv) != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf("NOT TESTED: "+format, args...)
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		cannot(t, "installing needs root")
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		cannot(t, "no mount namespace: %v %s", err, out)
	}
}

// root is a folder that is / for what runs in it.
type root string

// making lets tests that run side by side make one archive.
var (
	making sync.Once
	made   error
)

func makeDebian(top string) error {
	out, err := exec.Command(filepath.Join(top, "scripts", "debian-root")).CombinedOutput() //nolint:gosec // ours
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// debian unpacks a clean Debian 12 root; the first time in a build folder makes it, which takes a minute.
func debian(t *testing.T) root {
	t.Helper()
	needsRoot(t)
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		cannot(t, "no mmdebstrap to make a clean Debian 12 root: install mmdebstrap")
	}
	making.Do(func() { made = makeDebian(collector.Root(t)) })
	if made != nil {
		cannot(t, "no clean Debian 12 root: %v", made)
	}
	dir := t.TempDir()
	out, err := exec.Command("tar", "-C", dir, "-xf", filepath.Join(collector.Root(t), "build", "debian-12-systemd.tar")).CombinedOutput() //nolint:gosec // the test's own
	require.NoError(t, err, string(out))
	return root(dir)
}

// command prepares a shell script that runs inside, with a /proc.
func (r root) command(script string) *exec.Cmd {
	//nolint:gosec // a test's own script
	return exec.Command("unshare", "--mount", "sh", "-c", `mkdir -p "$1/proc" && mount -t proc proc "$1/proc" && exec chroot "$1" /bin/sh -ec "$2"`, "sh", string(r), script)
}

// run returns what a script printed and how it ended.
func (r root) run(t *testing.T, script string) (string, int) {
	t.Helper()
	cmd := r.command(script)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (r root) must(t *testing.T, script string) string {
	t.Helper()
	out, status := r.run(t, script)
	require.Zero(t, status, "%s\n%s", script, out)
	return out
}

func (r root) path(inside string) string { return filepath.Join(string(r), inside) }

// endsWithin is the unit's TimeoutStopSec.
const endsWithin = 40 * time.Second

// while runs a command, does something, and ends the command with SIGTERM, to which it must heed.
func while(t *testing.T, cmd *exec.Cmd, do func(output func() string)) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "output")
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	output := func() string {
		text, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		return string(text)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			assert.NoError(t, err, tail(output()))
		case <-time.After(endsWithin):
			_ = cmd.Process.Kill()
			<-ended
			t.Errorf("it did not end within %s:\n%s", endsWithin, tail(output()))
		}
	}()
	ready := assert.Eventually(t, func() bool { return strings.Contains(output(), "Everything is ready") }, time.Minute, 50*time.Millisecond)
	require.True(t, ready, tail(output()))
	do(output)
}

func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
