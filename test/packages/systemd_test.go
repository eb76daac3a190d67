package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// booted is a Debian whose systemd runs.
type booted struct {
	root
	init int // its process, seen from here
}

// boot starts the systemd of a clean root in namespaces of its own; not every machine lets it.
func boot(t *testing.T) booted {
	t.Helper()
	r := debian(t)
	cgroups := ""
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(dir + "/cgroup.procs"); err == nil {
			cgroups = dir
		}
	}
	own := fmt.Sprintf("%s/otelcol-train-test-%d-%s", cgroups, os.Getpid(), t.Name())
	if cgroups == "" {
		t.Skip("NOT TESTED: the unit under systemd: no cgroups of version 2")
	}
	cmd := exec.Command("./boot-systemd", string(r), own) //nolint:gosec // ours
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	require.NoError(t, cmd.Start())
	b := booted{root: r}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // and with it, by --kill-child, the first process and all of its namespace
		_ = cmd.Wait()
		assert.Eventually(t, func() bool { return removed(own) }, time.Minute, 100*time.Millisecond)
	})
	ready := func() bool {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", cmd.Process.Pid))
		if err != nil || len(strings.Fields(string(children))) != 1 {
			return false
		}
		_, err = fmt.Sscan(string(children), &b.init)
		out, _ := b.inside("systemctl is-system-running")
		return err == nil && (strings.HasPrefix(out, "running") || strings.HasPrefix(out, "degraded"))
	}
	for until := time.Now().Add(30 * time.Second); !ready(); {
		if time.Now().After(until) {
			t.Skip("NOT TESTED: the unit under systemd: it does not start in namespaces here")
		}
		<-time.After(200 * time.Millisecond)
	}
	return b
}

// removed removes a cgroup and those below it.
func removed(dir string) bool {
	var dirs []string
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = syscall.Rmdir(dirs[i])
	}
	_, err := os.Stat(dir)
	return os.IsNotExist(err)
}

// inside runs a shell script beside the systemd, for a minute at most.
func (b booted) inside(script string) (string, error) {
	//nolint:gosec // a test's own script
	out, err := exec.Command("timeout", "-k", "5", "60", "nsenter", "-t", fmt.Sprint(b.init), "-p", "-m", "-u", "-i", "-n", "-C",
		"/bin/sh", "-ec", "PATH=/usr/sbin:/usr/bin:/sbin:/bin; "+script).CombinedOutput()
	return string(out), err
}

func (b booted) ok(t *testing.T, script string) string {
	t.Helper()
	out, err := b.inside(script)
	if err != nil {
		journal, _ := b.inside("journalctl --no-pager -o cat -n 40")
		require.NoError(t, err, "%s\n%s\n%s", script, out, journal)
	}
	return strings.TrimSpace(out)
}

// TestSystemdRunsTheUnit: started, reloaded, told to reload what is not valid, restarted by an upgrade, stopped; and what it may write.
func TestSystemdRunsTheUnit(t *testing.T) {
	t.Parallel()
	b := boot(t)
	for name, version := range map[string]string{"/first.deb": "0.1.0", "/second.deb": "0.2.0"} {
		b.take(t, built(t, "deb", version, same), name)
	}
	b.ok(t, "dpkg -i /first.deb; install -d -o otelcol-train -g otelcol-train /srv/results; install -d /srv/runs/a")
	pid := func() string { return b.ok(t, "systemctl show -P MainPID otelcol-train") }
	assert.Equal(t, "0", pid(), "an installation starts nothing")
	b.ok(t, "sed -i 's/^#RUNS_DIR/LATE_GRACE=300ms\\n#RUNS_DIR/' /etc/default/otelcol-train; "+blockOf(t, "install.md", 1))
	b.ok(t, `printf '%s\n' '{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"a","body":{"outcome":"success"}}' >/srv/runs/a/train.jsonl`)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(b.path("/srv/results/a/result.json"))
		return err == nil && strings.Contains(string(text), `"outcome": "success"`)
	}, time.Minute, 100*time.Millisecond)

	first := pid()
	status := b.ok(t, "cat /proc/"+first+"/status")
	for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapBnd:\t0000000000000000\n"} {
		assert.Contains(t, status, want)
	}
	b.ok(t, "systemctl reload otelcol-train; systemctl is-active otelcol-train")
	require.Eventually(t, func() bool { // what is on disk when the pipelines have stopped is read, not what was there when it was asked
		ready, err := b.inside("journalctl -u otelcol-train -o cat | grep -c 'Everything is ready'")
		return err == nil && strings.TrimSpace(ready) == "2"
	}, time.Minute, 100*time.Millisecond)
	b.ok(t, "cp /etc/otelcol-train/config.yaml /tmp/config.yaml; echo 'receivers: {nobody: {}}' >/etc/otelcol-train/config.yaml")
	_, err := b.inside("systemctl reload otelcol-train")
	require.Error(t, err, "what is not valid is not loaded")
	b.ok(t, "cat /tmp/config.yaml >/etc/otelcol-train/config.yaml; systemctl is-active otelcol-train")
	assert.Equal(t, first, pid(), "a reload is no restart")

	b.ok(t, "echo 'extensions: {}' >/etc/otelcol-train/extra.yaml; "+
		"echo 'OTELCOL_OPTIONS=--config=/etc/otelcol-train/config.yaml --config=/etc/otelcol-train/extra.yaml' >>/etc/default/otelcol-train")
	b.ok(t, "dpkg -i /second.deb; systemctl is-active otelcol-train")
	assert.NotEqual(t, first, pid(), "an upgrade restarts what runs")
	assert.Contains(t, b.ok(t, "tr '\\0' ' ' </proc/"+pid()+"/cmdline"), " --config=/etc/otelcol-train/extra.yaml")
	assert.Equal(t, "/srv\n/var/lib", b.ok(t, `find / -xdev -user otelcol-train -not -path '/proc/*' | sed -E 's,^(/srv|/var/lib|/[^/]*).*,\1,' | sort -u`), "it writes nowhere else")
	b.ok(t, "systemctl stop otelcol-train")
	assert.Equal(t, "success", b.ok(t, "systemctl show -P Result otelcol-train"))
	b.ok(t, "dpkg -P otelcol-train; systemctl daemon-reload; ! systemctl cat otelcol-train")
}
