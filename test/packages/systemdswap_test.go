package packages

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSystemdSwapsTheBinaryAndRollsBack: an old service under a systemd that runs, with the page's commands and the packaged drop-ins; the
// old user makes results of a group's runs, what the new binary refuses does not start, and deleting the one drop-in brings the old one back.
func TestSystemdSwapsTheBinaryAndRollsBack(t *testing.T) {
	t.Parallel()
	b := boot(t)
	laysStock(t, b.root, func(script string) string { return b.ok(t, script) })
	b.ok(t, "groupadd trainers")
	b.ok(t, "systemctl daemon-reload; systemctl start otelcol-contrib; "+blockOf(t, page, 1))
	ready := func(times string) {
		t.Helper()
		require.Eventually(t, func() bool { // it serves, and goes on to
			out, err := b.inside(`journalctl -o cat _SYSTEMD_INVOCATION_ID="$(systemctl show -P InvocationID otelcol-contrib)" | grep -c 'Everything is ready'`)
			return err == nil && strings.TrimSpace(out) == times
		}, time.Minute, 100*time.Millisecond)
	}
	runs := func(want string) {
		t.Helper()
		ready("1")
		assert.Equal(t, want, b.ok(t, "readlink /proc/$(systemctl show -P MainPID otelcol-contrib)/exe"))
		assert.Equal(t, "active", b.ok(t, "systemctl is-active otelcol-contrib"))
	}
	runs("/usr/bin/otelcol-contrib")

	const dropIns = "/etc/systemd/system/otelcol-contrib.service.d/"
	again := blockOf(t, page, 3)
	b.ok(t, "cp /usr/share/doc/otelcol-train/replace-otelcol-contrib.conf "+dropIns+"50-otelcol-train.conf; "+again)
	runs("/usr/bin/otelcol-train")
	b.ok(t, `[ -e /bin/kill ] || { printf '#!/bin/sh\nkill "$@"\n' >/bin/kill; chmod 755 /bin/kill; }`) // of procps, which a host has
	b.ok(t, blockOf(t, "operations.md", 0))
	ready("2")

	addTraining(t, b, dropIns)
	runs("/usr/bin/otelcol-train")
	const end = `{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"a","body":{"outcome":"success"}}`
	b.ok(t, "umask 027; echo '"+end+"' >/srv/runs/a/train.jsonl")
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(b.path("/srv/results/a/result.json"))
		return err == nil && strings.Contains(string(text), `"outcome": "success"`)
	}, time.Minute, 100*time.Millisecond)
	assert.Equal(t, "otelcol-contrib\notelcol-contrib", b.ok(t, "stat -c %U /srv/results/a/result.json /var/lib/otelcol-train/storage"))
	b.ok(t, "setpriv --reuid otelcol-contrib --regid otelcol-contrib --groups otelcol-train cat /etc/otelcol-train/policy/training.yaml")

	b.ok(t, "echo 'receivers: {nobody: {}}' >/etc/otelcol-contrib/otelcol-train.yaml")
	_, err := b.inside(again)
	require.Error(t, err, "what validate refuses is not started")
	assert.Contains(t, b.ok(t, "journalctl -u otelcol-contrib -o cat -n 30"), `unknown type: "nobody"`)

	b.ok(t, "rm "+dropIns+"50-otelcol-train.conf; systemctl reset-failed otelcol-contrib; "+again)
	runs("/usr/bin/otelcol-contrib")
}

// addTraining lays the page's block and the packaged drop-in over the swapped service, and the folders that it tells to make.
func addTraining(t *testing.T, b booted, dropIns string) {
	t.Helper()
	_, text, _ := strings.Cut(pageText(t, page), "## 4. Add training\n")
	_, text, _ = strings.Cut(text, "```yaml\n")
	block, _, found := strings.Cut(text, "```\n")
	require.True(t, found)
	require.NoError(t, os.WriteFile(b.path("/etc/otelcol-contrib/training.yaml"), []byte(block), 0o644)) //nolint:gosec // the service's user reads it
	b.ok(t, "install -d -g trainers -m 2750 /srv/runs /srv/runs/a; cp /usr/share/doc/otelcol-train/training.conf "+dropIns+"60-training.conf; "+
		"sed -i 's|otelcol-train.yaml$|& --config=/etc/otelcol-contrib/training.yaml|' "+dropIns+"50-otelcol-train.conf; "+blockOf(t, page, 4))
}
