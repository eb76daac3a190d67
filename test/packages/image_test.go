package packages

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/testdata"
)

// imageConfig is what an image says of how it is run.
type imageConfig struct {
	Config struct {
		User       string
		Env        []string
		Entrypoint []string
		Cmd        []string
		Volumes    map[string]any

		ExposedPorts map[string]any
	} `json:"config"`
}

// unpacked gives the root of the image that make image built, and how it is run.
func unpacked(t *testing.T) (root, imageConfig) {
	t.Helper()
	needsRoot(t)
	found, err := filepath.Glob(filepath.Join(collector.Root(t), "dist", "*.oci.tar"))
	require.NoError(t, err)
	if len(found) == 0 {
		cannot(t, "the image: run make image, which needs buildah")
	}
	archive, dir := t.TempDir(), t.TempDir()
	tarInto(t, archive, found[0])
	blob := func(digest string) string {
		return filepath.Join(archive, "blobs", strings.Replace(digest, ":", "/", 1))
	}
	var index, manifest struct {
		Manifests, Layers []struct{ Digest string }
		Config            struct{ Digest string }
	}
	decode(t, filepath.Join(archive, "index.json"), &index)
	decode(t, blob(index.Manifests[0].Digest), &manifest)
	var config imageConfig
	decode(t, blob(manifest.Config.Digest), &config)
	for _, layer := range manifest.Layers {
		tarInto(t, dir, blob(layer.Digest))
	}
	return root(dir), config
}

// othersIn lists files of the image beside those that the page names.
func othersIn(t *testing.T, r root) []string {
	t.Helper()
	named := regexp.MustCompile(`^/(usr/bin/(otelcol-train|otelcol-train-compat|trainsummary)|etc/otelcol-train/(config|policy/[a-z]+)\.yaml|` +
		`usr/share/doc/otelcol-train/(LICENSE|NOTICE)|etc/ssl/certs/ca-certificates\.crt)$`)
	var others []string
	require.NoError(t, filepath.WalkDir(string(r), func(path string, entry fs.DirEntry, err error) error {
		if inside := strings.TrimPrefix(path, string(r)); err == nil && !entry.IsDir() && !named.MatchString(inside) {
			others = append(others, inside)
		}
		return err
	}))
	return others
}

// TestWhatTheContainerfileCopiesIsLaidWithoutBuildah: docker build has it, as its comment says.
func TestWhatTheContainerfileCopiesIsLaidWithoutBuildah(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil && os.Getenv("SSL_CERT_FILE") == "" {
		cannot(t, "what the image holds: no CA certificates")
	}
	top, dir := collector.Root(t), t.TempDir()
	for _, name := range []string{"build", "config", "packaging", "LICENSE"} {
		require.NoError(t, os.Symlink(filepath.Join(top, name), filepath.Join(dir, name)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dist"), 0o750))
	require.NoError(t, os.Symlink(filepath.Join(top, "dist", "NOTICE"), filepath.Join(dir, "dist", "NOTICE")))
	said := regexp.MustCompile(`(?m)^#   make sbom && scripts/image (\S+) (\S+) && docker build .*$`).FindStringSubmatch(packaged(t, "Containerfile"))
	require.Len(t, said, 3, "the comment has the commands")
	cmd := exec.Command(filepath.Join(top, "scripts", "image"), "0.0.0", said[2]) //nolint:gosec // ours
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	sources := regexp.MustCompile(`(?m)^COPY (\S+) /$`).FindAllStringSubmatch(packaged(t, "Containerfile"), -1)
	require.Len(t, sources, 1)
	laid := root(filepath.Join(dir, sources[0][1]))
	assert.FileExists(t, laid.path("/usr/bin/otelcol-train"))
	assert.DirExists(t, laid.path("/var/lib/otelcol-train"))
	assert.Empty(t, othersIn(t, laid))
	left, err := filepath.Glob(filepath.Join(dir, "dist", "*.oci.tar"))
	require.NoError(t, err)
	assert.Empty(t, left, "it builds no image")
}

func tarInto(t *testing.T, dir, archive string) {
	t.Helper()
	out, err := exec.Command("tar", "-C", dir, "-xf", archive).CombinedOutput() //nolint:gosec // the test's own
	require.NoError(t, err, string(out))
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // the test's own
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// listing is every file of a folder with what would tell that it was written.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		out = append(out, fmt.Sprintf("%s %s %d %s", path, info.Mode(), info.Size(), info.ModTime()))
		return nil
	}))
	return out
}

// TestTheImageRunsAsNobodyAndWritesToItsMountsOnly runs the image's command as its user, with folders mounted as a container has them.
func TestTheImageRunsAsNobodyAndWritesToItsMountsOnly(t *testing.T) {
	t.Parallel()
	r, config := unpacked(t)
	assert.Equal(t, "10001:10001", config.Config.User)
	assert.Contains(t, config.Config.Volumes, "/var/lib/otelcol-train")
	assert.ElementsMatch(t, []string{"4319/tcp", "8888/tcp", "13133/tcp"}, slices.Collect(maps.Keys(config.Config.ExposedPorts)))
	assert.Empty(t, othersIn(t, r))
	certificates, err := os.ReadFile(r.path("/etc/ssl/certs/ca-certificates.crt"))
	require.NoError(t, err)
	assert.Contains(t, string(certificates), "BEGIN CERTIFICATE")

	mounts := map[string]string{"/srv/runs": t.TempDir(), "/srv/results": t.TempDir(), "/var/lib/otelcol-train": t.TempDir()}
	script := "set -e; mkdir -p \"$1/proc\"; mount -t proc proc \"$1/proc\"\n"
	for inside, outside := range mounts {
		require.NoError(t, os.MkdirAll(r.path(inside), 0o755))
		require.NoError(t, os.Chown(outside, 10001, 10001))
		require.NoError(t, os.Chmod(filepath.Dir(outside), 0o755)) //nolint:gosec // the image's user passes through
		script += fmt.Sprintf("mount --bind %q \"$1%s\"\n", outside, inside)
	}
	require.NoError(t, os.MkdirAll(r.path("/proc"), 0o755))
	env := append(append([]string{}, config.Config.Env...), "LATE_GRACE=300ms", "IDLE_TIMEOUT=5s", "METRICS_PORT="+port(ports.Free(t)))
	for _, name := range []string{"HEALTH_ENDPOINT", "OTLP_ENDPOINT", "NETDATA_OTLP_ENDPOINT", "DCGM_EXPORTER_ENDPOINT"} {
		env = append(env, name+"="+ports.Free(t))
	}
	before := listing(t, string(r))
	command := strings.Join(append(append([]string{}, config.Config.Entrypoint...), config.Config.Cmd...), " ")
	script += "exec chroot --userspec=" + config.Config.User + " --groups= \"$1\" " + command
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", string(r)) //nolint:gosec // the test's own
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"))
	while(t, cmd, func(output func() string) {
		lines, err := testdata.Stream("native")
		require.NoError(t, err)
		dir := filepath.Join(mounts["/srv/runs"], "native-7f3a9c")
		require.NoError(t, os.MkdirAll(dir, 0o755))                                                                        //nolint:gosec // the image's user reads it
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)) //nolint:gosec // the same
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(filepath.Join(mounts["/srv/results"], "native-7f3a9c", "result.json"))
			return err == nil && strings.Contains(string(text), `"outcome": "success"`)
		}, time.Minute, 50*time.Millisecond, tail(output()))
	})
	assert.Equal(t, before, listing(t, string(r)), "it wrote beside its mounts")
	assert.NotEmpty(t, listing(t, filepath.Join(mounts["/var/lib/otelcol-train"], "storage")))
	info, err := os.Stat(filepath.Join(mounts["/srv/results"], "native-7f3a9c", "result.json"))
	require.NoError(t, err)
	assert.Equal(t, "10001", owner(info))
}

func owner(info os.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(stat.Uid)
}
