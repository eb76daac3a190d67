package e2e

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

const (
	endsWithin = time.Minute
	noRoot     = 1 // SECBIT_NOROOT: a program that root executes has no capabilities for it
)

// told are the rows of the page on a collector that does not run: what the log says, with … for anything.
func told(t *testing.T) []string {
	t.Helper()
	section := markdown.Section(t, markdown.Page(t, "docs/troubleshooting.md"), "The collector does not run")
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` ").FindAllStringSubmatch(section, -1) {
		rows = append(rows, row[1])
	}
	return rows
}

// lastError is what a collector that does not start says at its end.
func lastError(out string) string { return out[max(0, strings.LastIndex(out, "Error: ")):] }

// failing are starts that fail; each changes what a collector of its own gets.
var failing = map[string]struct {
	row    string // of the page
	says   string // beside it
	config string
	yaml   string
	env    func(t *testing.T, env map[string]string)
}{
	"a type":         {row: `unknown type: "…"`, says: "nobody", yaml: "receivers: {nobody: {}}"},
	"a key":          {row: "has invalid keys: …", says: "storag", yaml: "receivers: {train_jsonl: {storag: file_storage}}"},
	"a value":        {row: "invalid configuration: …", says: "include: name at least one glob", yaml: "receivers: {train_jsonl: {include: []}}"},
	"a name":         {row: "invalid configuration: …", says: `references exporter "nobody"`, yaml: "service: {pipelines: {logs: {exporters: [nobody]}}}"},
	"a scheme":       {row: `scheme "…" is not supported`, says: "vault", yaml: "receivers: {train_jsonl: {storage: '${vault:x}'}}"},
	"a file":         {row: "unable to read the file …", says: "/nonexistent", yaml: "receivers: '${file:/nonexistent}'"},
	"a profile":      {row: "profiles[…]: …", says: "want the path of a profile that can be read", yaml: "processors: {training_norm: {profiles: [/nonexistent]}}"},
	"no storage":     {row: "storage: extension … is not configured", says: "add it to extensions and to service::extensions", yaml: "receivers: {train_jsonl: {storage: file_storage/other}}"},
	"a storage":      {row: "the stored file is damaged", says: "move the file exporter_dvc_result_", yaml: "extensions: {file_storage: {recreate: false}}", env: damagedState},
	"two pipelines":  {row: "stands in two pipelines of …", says: "give each its own id", config: "host-training.yaml", yaml: "service: {pipelines: {metrics/gpu: {processors: [cardinality_guard/train]}}}"},
	"two reports":    {row: "is another guard's report", says: "a file of its own", config: "host-training.yaml", yaml: "processors: {cardinality_guard/train: {audit_report: '${env:STATE_DIR}.md'}, cardinality_guard/gpu: {audit_report: '${env:STATE_DIR}.md'}}"},
	"a policy":       {row: "policy_file: …", says: "line 1: nobody: unknown key", config: "host-training.yaml", env: nobodysPolicy},
	"results":        {row: "want a folder, or a path at which one can be made", says: "not a directory", env: func(t *testing.T, env map[string]string) { env["RESULTS_DIR"] = file(t, "x") }},
	"health's port":  {row: "bind: address already in use", says: "", env: held("HEALTH_ENDPOINT")},
	"otlp's port":    {row: "bind: address already in use", says: "", config: "host-training.yaml", env: held("OTLP_ENDPOINT")},
	"metrics' port":  {row: "bind: address already in use", says: "", env: held("METRICS_PORT")},
	"a full disk":    {row: "no space left on device", says: "make some and start again", env: onDisk(0)},
	"a frozen disk":  {row: "read-only file system", says: "", env: onDisk(syscall.MS_RDONLY)},
	"not its own":    {row: "permission denied", says: "", env: closedTo},
	"another's":      {row: "another process, pipeline or component holds it", says: "", env: another},
	"another policy": {row: "policy_file: …", says: "no such file", config: "host-training.yaml", env: func(_ *testing.T, env map[string]string) { env["GUARD_POLICY"] = "/nonexistent" }},
}

// elsewhere are rows whose start is tested elsewhere: no other version of a state is at hand.
var elsewhere = []string{"written by another version of dvc_result"}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func nobodysPolicy(t *testing.T, env map[string]string) {
	t.Helper()
	env["GUARD_POLICY"] = file(t, "nobody: 1\n")
}

func damagedState(t *testing.T, env map[string]string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(env["STATE_DIR"], 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(env["STATE_DIR"], "exporter_dvc_result_"), []byte("x"), 0o600))
}

// held takes a port before the collector does.
func held(name string) func(*testing.T, map[string]string) {
	return func(t *testing.T, env map[string]string) {
		t.Helper()
		listener, err := net.Listen("tcp", ports.Free(t))
		require.NoError(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		env[name] = listener.Addr().String()
		if strings.HasSuffix(name, "_PORT") {
			_, env[name], err = net.SplitHostPort(env[name])
			require.NoError(t, err)
		}
	}
}

func onDisk(flags uintptr) func(*testing.T, map[string]string) {
	return func(t *testing.T, env map[string]string) {
		t.Helper()
		disk := smallDisk(t, 1)
		fill(t, disk)
		if flags != 0 {
			require.NoError(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|flags, ""))
		}
		env["STATE_DIR"] = disk
	}
}

// closedTo makes a folder that the collector may not write to. A root may do everything, so a process that this goroutine starts is one
// without a root's powers: it owns what root owns, no more. The goroutine's thread ends with it.
func closedTo(t *testing.T, env map[string]string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(env["STATE_DIR"], 0o500))
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0)
	if errors.Is(err, unix.EPERM) {
		t.Skip("NOT TESTED: a start without permission: this root may not start a process without its powers")
	}
	require.NoError(t, err)
}

// another collector has the storage.
func another(t *testing.T, env map[string]string) {
	t.Helper()
	f := newFolders(t)
	f.State = env["STATE_DIR"]
	quickstart(t, f).Start()
}

// TestAStartThatFailsSaysWhatToDoAndThePageHasIt, and the page has nothing that no start says.
func TestAStartThatFailsSaysWhatToDoAndThePageHasIt(t *testing.T) {
	t.Parallel()
	rows := told(t)
	shown := append([]string(nil), elsewhere...)
	for name, c := range failing {
		shown = append(shown, c.row)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, rows, c.row)
			env := newFolders(t).env(t)
			_, env["METRICS_PORT"], _ = net.SplitHostPort(ports.Free(t))
			if c.env != nil {
				c.env(t, env)
			}
			config := c.config
			if config == "" {
				config = "quickstart.yaml"
			}
			args := []string{"--config", collector.Shipped(t, config)}
			if c.yaml != "" {
				args = append(args, "--config", "yaml:"+c.yaml)
			}
			out, err := collector.Run(t, collector.Options{Env: env}, args...)
			require.Error(t, err)
			assert.Regexp(t, strings.ReplaceAll(regexp.QuoteMeta(c.row), "…", ".+"), lastError(out))
			assert.Contains(t, lastError(out), c.says)
		})
	}
	assert.Subset(t, shown, rows, "rows that no start shows")
}

// TestACollectorStartsWhenThereIsRoomAgain: a start on a full disk leaves nothing that hinders the next one, and with a state of its own it
// starts on a full disk too.
func TestACollectorStartsWhenThereIsRoomAgain(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	f.State = smallDisk(t, 1)
	c := quickstart(t, f)
	filler := fill(t, f.State)
	for range 2 {
		require.NoError(t, c.Launch())
		require.Error(t, c.Wait(endsWithin))
		require.Contains(t, lastError(c.Logs()), "no space left on device")
	}
	require.NoError(t, os.Remove(filler))
	newTrainer(t, f, "native-7f3a9c").lines(sample(t, "native")...)
	c.Start()
	waitResult(t, f, "native-7f3a9c", "success")
	c.Stop()
	fill(t, f.State)
	c.Start()
	require.True(t, c.Running())
}
