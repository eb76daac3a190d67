package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/testdata"
)

// built makes a package as make package does, after a change to nfpm.yaml, and returns its path.
func built(t *testing.T, format, version string, change func(string) string) string {
	t.Helper()
	top, dir := collector.Root(t), t.TempDir()
	for _, need := range []string{"build/nfpm", "build/otelcol-train/otelcol-train", "build/otelcol-train-compat", "build/trainsummary", "dist/NOTICE"} {
		_, err := os.Stat(filepath.Join(top, need))
		require.NoError(t, err, "run make package")
	}
	config := filepath.Join(dir, "nfpm.yaml")
	require.NoError(t, os.WriteFile(config, []byte(change(packaged(t, "nfpm.yaml"))), 0o600))
	cmd := exec.Command("build/nfpm", "package", "--config", config, "--packager", format, "--target", dir) //nolint:gosec // ours
	cmd.Dir, cmd.Env = top, append(os.Environ(), "VERSION="+version)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	found, err := filepath.Glob(filepath.Join(dir, "*."+format))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// fromPage gives the first shell block of a page in docs/.
func fromPage(t *testing.T, name string) string { return blockOf(t, name, 0) }

// blockOf gives a shell block of a page in docs/, counted from 0.
func blockOf(t *testing.T, name string, n int) string {
	t.Helper()
	blocks := strings.Split(pageText(t, name), "```sh\n")[1:]
	require.Greater(t, len(blocks), n)
	block, _, _ := strings.Cut(blocks[n], "```")
	return block
}

func pageText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "docs", name)) //nolint:gosec // a page of this repository
	require.NoError(t, err)
	return string(text)
}

// filesOnPage are those of the table of install.md.
func filesOnPage(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(/[^`]+)` \\|").FindAllStringSubmatch(pageText(t, "install.md"), -1) {
		files = append(files, row[1])
	}
	require.Greater(t, len(files), 5)
	return files
}

func same(text string) string { return text }

func (r root) take(t *testing.T, file, as string) {
	t.Helper()
	out, err := exec.Command("cp", file, r.path(as)).CombinedOutput() //nolint:gosec // the test's own
	require.NoError(t, err, string(out))
}

// unitLine runs the unit's command line as the unit's user, with its environment; more is added to the environment.
func (r root) unitLine(t *testing.T, more string) *exec.Cmd {
	t.Helper()
	unit, err := os.ReadFile(r.path("/usr/lib/systemd/system/otelcol-train.service"))
	require.NoError(t, err)
	get := func(key string) string { return setting(t, string(unit), key) }
	return r.command(fmt.Sprintf("umask %s; set -a; %s; . %s; %s; set +a\n"+
		"as='setpriv --reuid %s --regid %s --init-groups --no-new-privs --bounding-set=-all'\n$as %s\nexec $as %s",
		get("UMask"), get("Environment"), strings.TrimPrefix(get("EnvironmentFile"), "-"), more,
		get("User"), get("Group"), get("ExecStartPre"), get("ExecStart")))
}

// TestAHostsLifeWithThePackage: install, validate, run, upgrade, removal refused, remove, purge.
func TestAHostsLifeWithThePackage(t *testing.T) {
	t.Parallel()
	r := debian(t)
	r.take(t, built(t, "deb", "0.1.0", same), "/first.deb")
	changed := filepath.Join(t.TempDir(), "config.yaml")
	shipped, err := os.ReadFile(filepath.Join(collector.Root(t), "config", "host-training.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(changed, append([]byte("# the next version's\n"), shipped...), 0o600))
	r.take(t, built(t, "deb", "0.2.0", func(s string) string {
		return strings.Replace(s, "src: config/host-training.yaml", "src: "+changed, 1)
	}), "/second.deb")

	out := r.must(t, "mkdir -p /download/dist && cp /first.deb /download/dist/otelcol-train_0.1.0_amd64.deb && cd /download\n"+fromPage(t, "install.md"))
	assert.Contains(t, out, "installed and not started")
	assert.Equal(t, "640 root otelcol-train\n", r.must(t, "stat -c '%a %U %G' /etc/otelcol-train/config.yaml"))
	assert.Equal(t, "750 otelcol-train otelcol-train\n", r.must(t, "stat -c '%a %U %G' /var/lib/otelcol-train"))
	r.must(t, "dpkg --verify otelcol-train")
	for _, file := range filesOnPage(t) {
		r.must(t, "test -e "+file)
	}
	pagesLeadSomewhere(t, r)
	areOfOneBuild(t, r)
	assert.Contains(t, r.must(t, "otelcol-train-compat /etc/otelcol-train/config.yaml"), "validate: ok")
	r.must(t, "mkdir -p /srv/runs")
	runsByHand(t, r, "before")

	r.must(t, "echo '# edited' >>/etc/otelcol-train/config.yaml; echo 'GOMEMLIMIT=300MiB' >>/etc/default/otelcol-train")
	r.must(t, "rm -r /download && mkdir -p /download/dist && cp /second.deb /download/dist/otelcol-train_0.2.0_amd64.deb && cd /download\n"+fromPage(t, "upgrading.md"))
	assert.Contains(t, r.must(t, "cat /etc/otelcol-train/config.yaml"), "# edited")
	assert.Contains(t, r.must(t, "cat /etc/otelcol-train/config.yaml.dpkg-dist"), "# the next version's")
	assert.Contains(t, r.must(t, "cat /etc/default/otelcol-train"), "GOMEMLIMIT=300MiB")
	runsByHand(t, r, "after")
	assert.FileExists(t, r.path("/srv/results/before/result.json"))
	assert.Contains(t, r.must(t, "trainsummary /srv/runs"), "before")

	refusedWhileUsed(t, r)

	r.must(t, "dpkg -r otelcol-train")
	for _, kept := range []string{"/etc/otelcol-train/config.yaml", "/etc/default/otelcol-train", "/var/lib/otelcol-train/storage", "/srv/results/after/result.json"} {
		_, err := os.Stat(r.path(kept))
		assert.NoError(t, err, "a removal keeps it")
	}
	assert.NoFileExists(t, r.path("/usr/bin/otelcol-train"))
	r.must(t, "id otelcol-train; dpkg -P otelcol-train")
	for _, gone := range []string{"/etc/otelcol-train", "/etc/default/otelcol-train", "/var/lib/otelcol-train", "/usr/share/doc/otelcol-train", "/usr/share/otelcol-train"} {
		_, err := os.Stat(r.path(gone))
		assert.ErrorIs(t, err, os.ErrNotExist, "a purge removes it")
	}
	_, status := r.run(t, "id otelcol-train || getent group otelcol-train")
	assert.NotZero(t, status, "the user is gone")
	assert.FileExists(t, r.path("/srv/results/before/result.json"), "results are never touched")
}

// areOfOneBuild: the commands tell the version of the manifest.
func areOfOneBuild(t *testing.T, r root) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "builder-config.yaml"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^  version: (\S+)`).FindSubmatch(text)
	require.NotNil(t, version)
	for _, command := range []string{"otelcol-train", "otelcol-train-compat", "trainsummary"} {
		assert.Equal(t, fmt.Sprintf("%s version %s\n", command, version[1]), r.must(t, command+" --version"))
	}
}

// runsByHand starts the unit's command line, lets a trainer write a stream, and reads its result.
func runsByHand(t *testing.T, r root, run string) {
	t.Helper()
	lines, err := testdata.Stream("native")
	require.NoError(t, err)
	more := fmt.Sprintf("HEALTH_ENDPOINT=%s METRICS_PORT=%s OTLP_ENDPOINT=%s NETDATA_OTLP_ENDPOINT=%s DCGM_EXPORTER_ENDPOINT=%s LATE_GRACE=300ms IDLE_TIMEOUT=5s",
		ports.Free(t), port(ports.Free(t)), ports.Free(t), ports.Free(t), ports.Free(t))
	while(t, r.unitLine(t, more), func(output func() string) {
		dir := r.path("/srv/runs/" + run)
		require.NoError(t, os.MkdirAll(dir, 0o755)) //nolint:gosec // the collector's user reads it
		text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "native-7f3a9c", run)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train.jsonl"), []byte(text), 0o644)) //nolint:gosec // the same
		result := r.path("/srv/results/" + run + "/result.json")
		final := func() bool {
			text, err := os.ReadFile(result) //nolint:gosec // the test's own
			return err == nil && strings.Contains(string(text), `"outcome": "success"`)
		}
		require.Eventually(t, final, time.Minute, 50*time.Millisecond, tail(output()))
	})
}

func port(address string) string {
	return address[strings.LastIndex(address, ":")+1:]
}

// refusedWhileUsed lays the drop-in of the swap: without the binary the swapped service would not start again.
func refusedWhileUsed(t *testing.T, r root) {
	t.Helper()
	const dropIn = "/etc/systemd/system/otelcol-contrib.service.d/50-otelcol-train.conf"
	r.must(t, "mkdir -p "+filepath.Dir(dropIn)+" && cp /usr/share/doc/otelcol-train/replace-otelcol-contrib.conf "+dropIn)
	out, status := r.run(t, "dpkg -r otelcol-train")
	assert.NotZero(t, status, "a removal goes through while a drop-in runs the binary")
	assert.Contains(t, out, dropIn)
	assert.FileExists(t, r.path("/usr/bin/otelcol-train"))
	// what only mentions it, or is the service's own, is no reason
	r.must(t, "printf '[Service]\\n#ExecStart=/usr/bin/otelcol-train\\nExecStartPre=/usr/bin/otelcol-train-compat x\\n' >"+dropIn)
	r.must(t, "mkdir -p /etc/systemd/system/otelcol-train.service.d && cp /usr/share/doc/otelcol-train/replace-otelcol-contrib.conf /etc/systemd/system/otelcol-train.service.d/x.conf")
}

func TestTheSameInputMakesTheSamePackage(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"deb", "rpm"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			one, err := os.ReadFile(built(t, format, "0.1.0", same))
			require.NoError(t, err)
			two, err := os.ReadFile(built(t, format, "0.1.0", same))
			require.NoError(t, err)
			assert.True(t, string(one) == string(two), "two packages differ")
		})
	}
}
