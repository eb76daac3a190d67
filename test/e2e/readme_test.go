package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// block gives a code block of a language in a page, counted from 0.
func block(t *testing.T, page, language string, n int) string {
	t.Helper()
	found := markdown.Blocks(markdown.Page(t, page), language)
	require.Greater(t, len(found), n, "%s has too few blocks of %s", page, language)
	return found[n]
}

// readmesCollector runs commands of the README, the last of which starts the collector, until the test ends.
func readmesCollector(t *testing.T, env []string, commands, more string) {
	t.Helper()
	commands = strings.Replace("\n"+strings.TrimSpace(commands), "\nbuild/otelcol-train/otelcol-train ", "\nexec "+collector.Binary(t)+" ", 1)
	cmd := exec.Command("sh", "-ec", commands+more) //nolint:gosec // the README's
	cmd.Dir, cmd.Env = collector.Root(t), env
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			assert.NoError(t, err, output.String())
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Error("the collector did not end")
		}
	})
}

// readmesTrainer runs the README's trainer.
func readmesTrainer(t *testing.T, env []string) {
	t.Helper()
	trainer := exec.Command("python3", "-c", block(t, "README.md", "python", 0)) //nolint:gosec // the README's
	trainer.Env = env
	out, err := trainer.CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestTheReadmesChartsAndSummary: with its commands a run of its trainer is in charts, and in a summary.
func TestTheReadmesChartsAndSummary(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("THE README'S TRAINER WAS NOT RUN: %v", err)
	}
	home, sink := t.TempDir(), otlpsink.Start(t, otlpsink.Accept)
	_, port, _ := strings.Cut(ports.Free(t), ":")
	env := collector.Environ(t, map[string]string{
		"HOME": home, "HEALTH_ENDPOINT": ports.Free(t), "METRICS_PORT": port, "OTLP_ENDPOINT": ports.Free(t),
		"DCGM_EXPORTER_ENDPOINT": ports.Free(t), "NETDATA_OTLP_ENDPOINT": sink.Endpoint(), "SIGNALS_INTERVAL": "1s", "LATE_GRACE": "300ms",
	})
	folders, _, _ := strings.Cut(block(t, "README.md", "sh", 0), "\n")
	require.Contains(t, folders, "export ")
	charts := strings.Replace(block(t, "README.md", "sh", 2), " /etc/netdata/", " "+home+"/netdata/", 1)
	readmesCollector(t, env, folders+"\n"+charts, "")
	readmesTrainer(t, env)
	require.Eventually(t, func() bool {
		return total(sink.Metrics(), "run.outcomes", map[string]string{"run.outcome": "success"}) == 1
	}, time.Minute, 100*time.Millisecond)
	want, err := os.ReadFile(collector.Shipped(t, "netdata/otel.d/v1/metrics/train.yaml"))
	require.NoError(t, err)
	laid, err := os.ReadFile(filepath.Join(home, "netdata/otel.d/v1/metrics/train.yaml")) //nolint:gosec // the test's own
	require.NoError(t, err)
	assert.Equal(t, string(want), string(laid))
	ask, _, _ := strings.Cut(block(t, "docs/troubleshooting.md", "sh", 0), "\n")
	asked, err := exec.Command("sh", "-ec", strings.Replace(ask, ":8888/", ":"+port+"/", 1)).CombinedOutput() //nolint:gosec // the page's
	require.NoError(t, err, string(asked))
	assert.Contains(t, string(asked), "otelcol_training_signals_records")
	summary, err := exec.Command(collector.Summary(t), filepath.Join(home, "runs", "run-7")).CombinedOutput() //nolint:gosec // ours
	require.NoError(t, err, string(summary))
	assert.Contains(t, string(summary), `"state":"finished"`)
}

// TestTheReadmesCommandsWork starts the collector with the README's commands, runs its trainer, and reads the result it promises.
func TestTheReadmesCommandsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("THE README'S TRAINER WAS NOT RUN: %v", err)
	}
	home := t.TempDir()
	env := collector.Environ(t, map[string]string{"HOME": home, "HEALTH_ENDPOINT": ports.Free(t)})
	readmesCollector(t, env, block(t, "README.md", "sh", 0), ` --config "yaml:service::telemetry::metrics::level: none"`)
	debug := exec.Command("sh", "-ec", strings.Replace(block(t, "README.md", "sh", 1), "build/otelcol-train/otelcol-train", collector.Binary(t)+" validate", 1))
	debug.Dir, debug.Env = collector.Root(t), env
	shown, err := debug.CombinedOutput()
	require.NoError(t, err, string(shown))
	readmesTrainer(t, env)

	got := waitResult(t, folders{collector.Folders{Results: filepath.Join(home, "repo", "results")}}, "run-7", "success")
	require.NotNil(t, got.Best)
	assert.Equal(t, bestOne{Metric: "val/loss", Mode: "min", Value: 1, Step: 1}, *got.Best)
	for _, name := range []string{"metrics.json", "params.yaml", "dvc.yaml", "plots/metrics/val/loss.tsv"} {
		assert.FileExists(t, filepath.Join(home, "repo", "results", "run-7", name))
	}
}
