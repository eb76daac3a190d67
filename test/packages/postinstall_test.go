package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/executable"
)

// TestAnUpgradeReadsTheEnvironmentAsSystemdDoes: an unquoted value goes to the end of its line, and nothing of it is run.
func TestAnUpgradeReadsTheEnvironmentAsSystemdDoes(t *testing.T) {
	t.Parallel()
	const two = "validate --config=/etc/otelcol-train/config.yaml --config=/etc/otelcol-train/extra.yaml"
	for name, c := range map[string]struct{ environment, args, value string }{
		"no file":            {"", "validate --config=/etc/otelcol-train/config.yaml", "none"},
		"nothing of options": {"A=b\n", "validate --config=/etc/otelcol-train/config.yaml", "b"},
		"several words": {
			"# words\nOTELCOL_OPTIONS=--config=/etc/otelcol-train/config.yaml --config=/etc/otelcol-train/extra.yaml\n", two, "none",
		},
		"quoted": {
			"OTELCOL_OPTIONS=\"--config=/etc/otelcol-train/config.yaml --config=/etc/otelcol-train/extra.yaml\"\nA='b c'", two, "b c",
		},
		"continued":           {"OTELCOL_OPTIONS=--config=/etc/otelcol-train/config.yaml \\\n  --config=/etc/otelcol-train/extra.yaml\n", two, "none"},
		"signs of a shell":    {"A=http://h/x?a=1&b=$(touch $0.run);`touch $0.run` *\n", "validate --config=/etc/otelcol-train/config.yaml", "http://h/x?a=1&b=$(touch $0.run);`touch $0.run` *"},
		"no line of settings": {"; A=b\nnonsense\n1A=b\nA.b=c\n=d\n", "validate --config=/etc/otelcol-train/config.yaml", "none"},
		"a pattern":           {"OTELCOL_OPTIONS=--config=/*\n", "validate --config=/*", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			if c.environment != "" {
				require.NoError(t, os.WriteFile(path("default"), []byte(c.environment), 0o600))
			}
			binary := "#!/bin/sh\necho \"ran $*\"\nprintf 'with %s\\n' \"${A-none}\"\n"
			executable.Write(t, path("binary"), binary)
			script := strings.NewReplacer("/etc/default/otelcol-train", path("default"), "/usr/bin/otelcol-train", path("binary"), "/run/systemd/system", path("none")).
				Replace(packaged(t, "scripts/postinstall.sh"))
			require.NoError(t, os.WriteFile(path("script"), []byte(script), 0o600))
			cmd := exec.Command("sh", path("script"), "configure", "0.1.0") //nolint:gosec // the test's own
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Equal(t, "ran "+c.args+"\nwith "+c.value+"\n", string(out))
			entries, err := filepath.Glob(path("*.run"))
			require.NoError(t, err)
			assert.Empty(t, entries, "a value was run")
		})
	}
}

// TestAnUpgradeRestartsOnlyWhatTheNewBinaryTakes, and no other service; an installation starts nothing.
func TestAnUpgradeRestartsOnlyWhatTheNewBinaryTakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, status, calls, says string
	}{
		"deb, installed":         {"configure ", "0", "daemon-reload\n", "is installed and not started"},
		"deb, upgraded":          {"configure 0.1.0", "0", "daemon-reload\ntry-restart otelcol-train.service\n", ""},
		"deb, upgraded, refused": {"configure 0.1.0", "1", "daemon-reload\n", "refuses its configuration and was not restarted"},
		"deb, not removed":       {"abort-remove", "0", "", ""},
		"rpm, installed":         {"1", "0", "daemon-reload\n", "is installed and not started"},
		"rpm, upgraded":          {"2", "0", "daemon-reload\ntry-restart otelcol-train.service\n", ""},
		"rpm, upgraded, refused": {"2", "1", "daemon-reload\n", "refuses its configuration and was not restarted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			calls := filepath.Join(dir, "calls")
			for name, text := range map[string]string{"systemctl": `echo "$*" >>` + calls, "binary": "exit " + c.status} {
				executable.Write(t, filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n")
			}
			script := strings.NewReplacer("/etc/default/otelcol-train", dir+"/none", "/usr/bin/otelcol-train", dir+"/binary", "/run/systemd/system", dir).
				Replace(packaged(t, "scripts/postinstall.sh"))
			cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, strings.Split(c.args, " ")...)...) //nolint:gosec // the test's own
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Contains(t, string(out), c.says)
			called, err := os.ReadFile(calls) //nolint:gosec // the test's own
			if c.calls != "" {
				require.NoError(t, err)
			}
			assert.Equal(t, c.calls, string(called))
		})
	}
}
