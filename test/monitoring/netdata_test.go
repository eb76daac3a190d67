package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// TestSelfTelemetryReachesNetdataUnderTheNamesOfTheAlarms, and a restart and another version begin no new chart.
func TestSelfTelemetryReachesNetdataUnderTheNamesOfTheAlarms(t *testing.T) {
	t.Parallel()
	config := func(name string) string { return filepath.Join(collector.Root(t), "config", name) }
	var sets [][]string
	for range 2 {
		sink := otlpsink.Start(t, otlpsink.Accept)
		dir := t.TempDir()
		_, metricsPort, _ := strings.Cut(ports.Free(t), ":")
		// not by the harness: its own overlay would replace the readers
		//nolint:gosec // the binary under test
		cmd := exec.Command(collector.Binary(t), "--config", config("quickstart.yaml"), "--config", config("overlays/self-telemetry-netdata.yaml"))
		cmd.Env = append(os.Environ(), "NETDATA_OTLP_ENDPOINT="+sink.Endpoint(), "SELF_INTERVAL_MS=500", "METRICS_PORT="+metricsPort,
			"HEALTH_ENDPOINT="+ports.Free(t), "RUNS_DIR="+dir, "RESULTS_DIR="+dir, "STATE_DIR="+filepath.Join(dir, "state"))
		var keys []string
		while(t, cmd, func() {
			require.Eventually(t, func() bool {
				points := series.Points(sink.Metrics()...)
				keys = series.Keys(points, nil)
				for _, name := range []string{"otelcol_train_jsonl_lag", "otelcol_process_memory_rss"} {
					if !slices.ContainsFunc(points, func(p series.Point) bool { return p.Name == name }) {
						return false
					}
				}
				return true
			}, 30*time.Second, 100*time.Millisecond)
		})
		sets = append(sets, keys)
	}
	assert.Equal(t, sets[0], sets[1])
}

// while runs a command, does something, and ends the command with SIGTERM.
func while(t *testing.T, cmd *exec.Cmd, do func()) {
	t.Helper()
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			assert.NoError(t, err, output.String())
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			t.Error("it did not end")
		}
	}()
	do()
}
