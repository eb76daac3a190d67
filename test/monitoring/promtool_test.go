package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// promtool is $PROMTOOL or the one on the PATH.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	name := os.Getenv("PROMTOOL")
	if name == "" {
		name = "promtool"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("OTELCOL_TRAIN_REQUIRE_PACKAGES") != "" {
			t.Fatalf("no promtool: install prometheus or name it with PROMTOOL")
		}
		t.Skipf("NOT TESTED: the alerts: no promtool (Debian: prometheus); name it with PROMTOOL")
	}
	cmd := exec.Command(path, args...) //nolint:gosec // the developer names it
	cmd.Dir = filepath.Join(collector.Root(t), "monitoring")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestAlertsAreRules(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", "alerts.yaml")
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	promtool(t, "test", "rules", "alerts_test.yaml")
}
