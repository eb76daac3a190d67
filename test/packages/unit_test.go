package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// setting is what the unit says for a key, the last time.
func setting(t *testing.T, unit, key string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+key+`=(.*)$`).FindAllStringSubmatch(unit, -1)
	require.NotEmpty(t, found, key)
	return found[len(found)-1][1]
}

func packaged(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "packaging", name)) //nolint:gosec // a file of this repository
	require.NoError(t, err)
	return string(text)
}

func analyze(t *testing.T, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		cannot(t, "the units: no systemd-analyze")
	}
	out, err := exec.Command("systemd-analyze", args...).CombinedOutput() //nolint:gosec // the test's own
	return string(out), err
}

var exposure = regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`)

func TestTheUnitIsConfined(t *testing.T) {
	t.Parallel()
	out, err := analyze(t, "security", "--offline=yes", filepath.Join(collector.Root(t), "packaging", "otelcol-train.service"))
	require.NoError(t, err, out)
	found := exposure.FindStringSubmatch(out)
	require.NotNil(t, found, out)
	level, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	assert.LessOrEqual(t, level, 2.0, out)
}

// stockUnit is as the upstream package has it.
const stockUnit = `[Unit]
Description=OpenTelemetry Collector Contrib
After=network.target

[Service]
EnvironmentFile=/etc/otelcol-contrib/otelcol-contrib.conf
ExecStart=/usr/bin/otelcol-contrib $OTELCOL_OPTIONS
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
Restart=on-failure
Type=simple
User=otelcol-contrib
Group=otelcol-contrib

[Install]
WantedBy=multi-user.target
`

// tree lays files below a folder that systemd-analyze takes for /.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, target := range []string{"sysinit.target", "multi-user.target", "network.target", "network-online.target", "basic.target", "shutdown.target", "-.slice", "system.slice"} {
		files["/usr/lib/systemd/system/"+target] = "[Unit]\nDescription=" + target + "\n"
	}
	for _, binary := range []string{"/usr/bin/otelcol-train", "/usr/bin/otelcol-contrib", "/bin/sh", "/bin/kill"} {
		files[binary] = "#!/bin/sh\n"
	}
	for path, text := range files {
		mode := os.FileMode(0o644)
		if strings.Contains(path, "/bin/") {
			mode = 0o755
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), mode))
	}
	return dir
}

func TestUnitAndDropInsAreRight(t *testing.T) {
	t.Parallel()
	const units = "/usr/lib/systemd/system/"
	swap, training := packaged(t, "replace-otelcol-contrib.conf"), packaged(t, "training.conf")
	for name, c := range map[string]struct {
		files map[string]string
		unit  string
		right bool
	}{
		"the unit": {map[string]string{units + "otelcol-train.service": packaged(t, "otelcol-train.service")}, "otelcol-train.service", true},
		"the unit with training": {map[string]string{
			units + "otelcol-train.service":                                packaged(t, "otelcol-train.service"),
			"/etc/systemd/system/otelcol-train.service.d/60-training.conf": training,
		}, "otelcol-train.service", true},
		"the old service": {map[string]string{units + "otelcol-contrib.service": stockUnit}, "otelcol-contrib.service", true},
		"the old service, swapped": {map[string]string{
			units + "otelcol-contrib.service":                                     stockUnit,
			"/etc/systemd/system/otelcol-contrib.service.d/50-otelcol-train.conf": swap,
			"/etc/systemd/system/otelcol-contrib.service.d/60-training.conf":      training,
		}, "otelcol-contrib.service", true},
		"swapped without the empty ExecStart": {map[string]string{
			units + "otelcol-contrib.service":                                     stockUnit,
			"/etc/systemd/system/otelcol-contrib.service.d/50-otelcol-train.conf": strings.Replace(swap, "ExecStart=\n", "", 1),
		}, "otelcol-contrib.service", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := analyze(t, "verify", "--man=no", "--recursive-errors=no", "--root="+tree(t, c.files), c.unit)
			assert.Equal(t, c.right, err == nil, out)
			if c.right {
				assert.NotContains(t, out, c.unit, "no warning either")
			}
		})
	}
}

// TestThePageHasTheFilesThatArePackaged: an operator copies either.
func TestThePageHasTheFilesThatArePackaged(t *testing.T) {
	t.Parallel()
	for name, pages := range map[string][]string{
		"replace-otelcol-contrib.conf": {"replace-host-collector.md"}, "training.conf": {"replace-host-collector.md", "install.md"},
	} {
		_, body, _ := strings.Cut(packaged(t, name), "\n")
		for _, page := range pages {
			text, err := os.ReadFile(filepath.Join(collector.Root(t), "docs", page)) //nolint:gosec // a page of this repository
			require.NoError(t, err)
			assert.Contains(t, string(text), body, name)
		}
	}
}

// TestPagesSayOfTheUnitWhatItSays: settings that are named with a value.
func TestPagesSayOfTheUnitWhatItSays(t *testing.T) {
	t.Parallel()
	says := "\n" + packaged(t, "otelcol-train.service") + packaged(t, "default")
	files, err := filepath.Glob(filepath.Join(collector.Root(t), "docs", "*.md"))
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a page of this repository
		require.NoError(t, err)
		for _, found := range regexp.MustCompile("`([A-Z][A-Za-z]+=[A-Za-z0-9-]+)`").FindAllStringSubmatch(string(text), -1) {
			assert.Contains(t, says, "\n"+found[1]+"\n", filepath.Base(file))
			checked++
		}
	}
	assert.Greater(t, checked, 8)
}

// TestTheUnitRunsNothingThatAMinimalHostLacks: kill is a program of procps, which nobody has to install.
func TestTheUnitRunsNothingThatAMinimalHostLacks(t *testing.T) {
	t.Parallel()
	lines := regexp.MustCompile(`(?m)^Exec\w+=(\S+)`).FindAllStringSubmatch(packaged(t, "otelcol-train.service"), -1)
	require.NotEmpty(t, lines)
	for _, line := range lines {
		assert.Contains(t, []string{"/usr/bin/otelcol-train", "/bin/sh"}, line[1], line[0])
	}
}
