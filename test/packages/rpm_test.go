package packages

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// rpm runs the host's rpm on a root.
func (r root) rpm(t *testing.T, args ...string) (string, int) {
	t.Helper()
	//nolint:gosec // the test's own
	cmd := exec.Command("rpm", append([]string{"--root", string(r), "--dbpath", "/var/lib/rpm", "--nodeps"}, args...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// fromRpmBlock is what the page gives rpm before the file, and what it runs then.
func fromRpmBlock(t *testing.T) (args []string, then string) {
	t.Helper()
	line, then, _ := strings.Cut(blockOf(t, "install.md", 2), "\n")
	words := strings.Fields(line)
	require.Len(t, words, 3, line)
	require.Equal(t, "rpm", words[0])
	require.Regexp(t, `^dist/otelcol-train-\*\.x86_64\.rpm$`, words[2])
	return words[1:2], then
}

// TestAHostsLifeWithTheRpm: the same scripts with the arguments that rpm gives them. The root is Debian's: what they call is there.
func TestAHostsLifeWithTheRpm(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rpm"); err != nil {
		cannot(t, "the rpm: no rpm to install it with")
	}
	r := debian(t)
	must := func(args ...string) string {
		out, status := r.rpm(t, args...)
		require.Zero(t, status, "%v: %s", args, out)
		return out
	}
	args, then := fromRpmBlock(t)
	assert.Contains(t, must(append(args, built(t, "rpm", "0.1.0", same))...), "installed and not started")
	assert.Equal(t, "640 root otelcol-train\n", r.must(t, "stat -c '%a %U %G' /etc/otelcol-train/config.yaml"))
	r.must(t, then+"echo '# edited' >>/etc/otelcol-train/config.yaml")
	assert.Equal(t, "750 otelcol-train\n", r.must(t, "stat -c '%a %U' /var/lib/otelcol-train"))
	r.must(t, "chown man /var/lib/otelcol-train; chmod 755 /var/lib/otelcol-train") // as StateDirectory= of another service's unit does
	changed := filepath.Join(t.TempDir(), "config.yaml")
	shipped, err := os.ReadFile(filepath.Join(collector.Root(t), "config", "host-training.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(changed, append([]byte("# the next version's\n"), shipped...), 0o600))
	must("-U", built(t, "rpm", "0.2.0", func(s string) string {
		return strings.Replace(s, "src: config/host-training.yaml", "src: "+changed, 1)
	}))
	assert.Equal(t, "755 man\n", r.must(t, "stat -c '%a %U' /var/lib/otelcol-train"), "it is the swapped service's that runs")
	assert.Contains(t, r.must(t, "cat /etc/otelcol-train/config.yaml"), "# edited")
	assert.Contains(t, r.must(t, "cat /etc/otelcol-train/config.yaml.rpmnew"), "# the next version's")

	const dropIn = "/etc/systemd/system/otelcol-contrib.service.d/50-otelcol-train.conf"
	r.must(t, "mkdir -p /etc/systemd/system/otelcol-contrib.service.d && cp /usr/share/doc/otelcol-train/replace-otelcol-contrib.conf "+dropIn)
	out, status := r.rpm(t, "-e", "otelcol-train")
	assert.NotZero(t, status, "a removal goes through while a drop-in runs the binary")
	assert.Contains(t, out, dropIn)
	assert.FileExists(t, r.path("/usr/bin/otelcol-train"))

	r.must(t, "echo state >/var/lib/otelcol-train/state; rm "+dropIn)
	must("-e", "otelcol-train")
	assert.NoFileExists(t, r.path("/usr/bin/otelcol-train"))
	assert.FileExists(t, r.path("/var/lib/otelcol-train/state"))
	r.must(t, "id otelcol-train")
	saved, err := os.ReadDir(r.path("/etc/otelcol-train"))
	require.NoError(t, err)
	names := ""
	for _, entry := range saved {
		names += entry.Name() + " "
	}
	assert.True(t, strings.Contains(names, "config.yaml.rpmsave"), names)
}

func TestWhatTheRpmSays(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rpm"); err != nil {
		cannot(t, "the rpm: no rpm to ask")
	}
	path := built(t, "rpm", "0.1.0", same)
	ask := func(args ...string) string {
		out, err := exec.Command("rpm", append(append([]string{"-qp"}, args...), path)...).CombinedOutput() //nolint:gosec // the test's own
		require.NoError(t, err, string(out))
		return string(out)
	}
	configs := ask("--configfiles")
	for _, want := range []string{"/etc/otelcol-train/config.yaml", "/etc/otelcol-train/policy/training.yaml", "/etc/default/otelcol-train"} {
		assert.Contains(t, configs, want+"\n")
	}
	scripts := ask("--scripts")
	for _, want := range []string{"preinstall", "postinstall", "preuninstall", "postuninstall"} {
		assert.Contains(t, scripts, want)
	}
	assert.Contains(t, ask("-lv"), "/usr/bin/otelcol-train")
}
