package monitoring

import (
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
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// TestSelfTelemetryReachesNetdataUnderTheNamesOfTheAlarms, and a restart and another version begin no new chart.
func TestSelfTelemetryReachesNetdataUnderTheNamesOfTheAlarms(t *testing.T) {
	t.Parallel()
	var sets [][]string
	for range 2 {
		sink := otlpsink.Start(t, otlpsink.Accept)
		dir := t.TempDir()
		_, metricsPort, _ := strings.Cut(ports.Free(t), ":")
		// not by the harness: its own overlay would replace the readers
		//nolint:gosec // the binary under test
		cmd := exec.Command(collector.Binary(t), "--config", collector.Shipped(t, "quickstart.yaml"), "--config", collector.Shipped(t, "overlays/self-telemetry-netdata.yaml"))
		cmd.Env = append(collector.Environ(t, nil), "NETDATA_OTLP_ENDPOINT="+sink.Endpoint(), "SELF_INTERVAL_MS=500", "METRICS_PORT="+metricsPort,
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
			}, time.Minute, 100*time.Millisecond)
		})
		sets = append(sets, keys)
	}
	assert.Equal(t, sets[0], sets[1])
}

var increased = regexp.MustCompile(`increase\((\w+)(?:\{(\w+)(=~|!=|=)"([^"]*)"\})?\[`)

// TestNetdataTellsOfTheLossesThatAlertsTellOf: every counter of an alert that is critical or a warning has an alarm, on the same values of labels.
func TestNetdataTellsOfTheLossesThatAlertsTellOf(t *testing.T) {
	t.Parallel()
	alarms := map[string]string{}
	for _, body := range strings.Split(string(file(t, "netdata/health.d/otelcol-train.conf")), "\n\n") {
		if on := alarm.FindStringSubmatch(body); on != nil {
			require.NotContains(t, alarms, on[1], "twice")
			alarms[on[1]] = body
		}
	}
	var f ruleFile
	require.NoError(t, yaml.Unmarshal(file(t, "alerts.yaml"), &f))
	counters := 0
	for _, group := range f.Groups {
		for _, rule := range group.Rules {
			if rule.Labels["severity"] == "info" {
				continue
			}
			for _, found := range increased.FindAllStringSubmatch(rule.Expr, -1) {
				counters++
				body, has := alarms[found[1]]
				if !assert.True(t, has, "%s looks at %s, on which monitoring/netdata has no alarm", rule.Alert, found[1]) {
					continue
				}
				_, labels, _ := strings.Cut(body, "\nchart labels: ")
				labels, _, _ = strings.Cut(labels, "\n")
				assert.Equal(t, chartLabels(found[2], found[3], found[4]), labels, found[1])
			}
		}
	}
	assert.Greater(t, counters, 40)
}

// chartLabels is how Netdata writes what Prometheus writes as a matcher.
func chartLabels(label, operator, values string) string {
	switch {
	case label == "":
		return ""
	case operator == "!=":
		return label + "=!" + values + " *"
	}
	return label + "=" + strings.ReplaceAll(values, "|", " ")
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
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Error("it did not end")
		}
	}()
	do()
}
