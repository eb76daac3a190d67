package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARemovalSeesWhoeverRunsTheBinary, wherever systemd reads units and however the line is written.
func TestARemovalSeesWhoeverRunsTheBinary(t *testing.T) {
	t.Parallel()
	const etc = "/etc/systemd/system/"
	for name, c := range map[string]struct {
		file, line string
		refused    bool
	}{
		"a drop-in":               {etc + "otelcol-contrib.service.d/50-otelcol-train.conf", "ExecStart=/usr/bin/otelcol-train --config=x", true},
		"of another name":         {etc + "gpu@.service.d/x.conf", "ExecStart=/usr/bin/otelcol-train", true},
		"a unit":                  {etc + "gpu.service", "ExecStart=/usr/bin/otelcol-train", true},
		"of this boot":            {"/run/systemd/system/gpu.service", "ExecStart=/usr/bin/otelcol-train x", true},
		"of another package":      {"/usr/lib/systemd/system/gpu.service", "ExecStart=/usr/bin/otelcol-train x", true},
		"a drop-in of a package":  {"/usr/lib/systemd/system/gpu.service.d/a.conf", "ExecStart=/usr/bin/otelcol-train x", true},
		"a drop-in of an admin":   {"/usr/local/lib/systemd/system/gpu.service.d/a.conf", "ExecStart=/usr/bin/otelcol-train x", true},
		"with a prefix":           {etc + "gpu.service", "ExecStart=-/usr/bin/otelcol-train x", true},
		"in quotes":               {etc + "gpu.service", `ExecStart="/usr/bin/otelcol-train" --config=x`, true},
		"by a shell":              {etc + "gpu.service", "ExecStart=/bin/sh -c 'exec /usr/bin/otelcol-train'", true},
		"spaced":                  {etc + "gpu.service", "ExecStart = /usr/bin/otelcol-train x", true},
		"by its name in /bin":     {etc + "gpu.service", "ExecStart=/bin/otelcol-train x", true},
		"by its name alone":       {etc + "gpu.service", "ExecStart=-otelcol-train x", true},
		"behind another command":  {etc + "gpu.service", "ExecStart=/usr/bin/nice -n 5 /bin/otelcol-train", true},
		"on a second line":        {etc + "gpu.service", "ExecStart=/usr/bin/nice -n 5 \\\n  /usr/bin/otelcol-train x", true},
		"behind a sign":           {etc + "gpu.service", "ExecStart=/bin/sh -c 'test $# = 0 && exec /usr/bin/otelcol-train'", true},
		"a copy elsewhere":        {etc + "gpu.service", "ExecStart=/usr/local/bin/otelcol-train x", false},
		"its user alone":          {etc + "gpu.service", "ExecStart=/usr/bin/setpriv --reuid otelcol-train /usr/bin/true", false},
		"its own unit":            {"/usr/lib/systemd/system/otelcol-train.service", "ExecStart=/usr/bin/otelcol-train", false},
		"a drop-in of its own":    {etc + "otelcol-train.service.d/a.conf", "ExecStart=/usr/bin/otelcol-train", false},
		"a comment":               {etc + "gpu.service", "#ExecStart=/usr/bin/otelcol-train", false},
		"another binary":          {etc + "gpu.service", "ExecStart=/usr/bin/otelcol-train-compat x", false},
		"a drop-in that was left": {etc + "gpu.service.d/a.conf.disabled", "ExecStart=/usr/bin/otelcol-train", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, c.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
			require.NoError(t, os.WriteFile(file, []byte("[Service]\n"+c.line+"\n"), 0o600))
			script := packaged(t, "scripts/preremove.sh")
			for _, top := range []string{"/etc/systemd", "/run/systemd", "/usr/lib/systemd", "/usr/local/lib/systemd"} {
				script = strings.ReplaceAll(script, " "+top, " "+dir+top)
			}
			require.NotContains(t, script, " /etc/systemd")
			cmd := exec.Command("sh", "-c", strings.ReplaceAll(script, "-d "+dir, "-d /nonexistent"), "sh", "remove") //nolint:gosec // the test's own
			out, err := cmd.CombinedOutput()
			assert.Equal(t, c.refused, err != nil, string(out))
			if c.refused {
				assert.Contains(t, string(out), "  "+file+"\n")
			}
		})
	}
}
