package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// hosts names the hosts of a fleet and their runs.
var hosts = map[string][]string{"host-a": {"run-a1", "run-a2", "run-a3"}, "host-b": {"run-b1", "run-b2", "run-b3"}}

func runsOf(hosts map[string][]string) []string {
	var out []string
	for _, runs := range hosts {
		out = append(out, runs...)
	}
	return out
}

func (f *fleet) writeAll(from, to int) {
	for host, runs := range hosts {
		for _, run := range runs {
			f.write(host, run, from, to)
		}
	}
}

func (f *fleet) agents() {
	for host := range hosts {
		f.start("fleet-agent.yaml", host, nil)
	}
}

// atTheEdge gives the results that a host would have written itself of the same streams.
func (f *fleet) atTheEdge(host string) map[string]string {
	f.t.Helper()
	edge := &fleet{t: f.t, brokers: f.brokers, dir: f.dir, results: filepath.Join(f.dir, "edge-"+host)}
	edge.start("quickstart.yaml", "edge-"+host, map[string]string{"RUNS_DIR": f.runs(host)})
	return edge.complete(hosts[host])
}

// TestResultsSurviveTheDeathOfAGateway: two gateways write the results of a fleet; one is killed in the middle of all runs and comes back.
// Nothing that is ever on disk is wrong, and what is there in the end is what the hosts would have written themselves.
func TestResultsSurviveTheDeathOfAGateway(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	runs := runsOf(hosts)
	f.watch(runs)
	one, two := f.start("fleet-gateway-results.yaml", "gateway-1", nil), f.start("fleet-gateway-results.yaml", "gateway-2", nil)
	f.agents()
	f.writeAll(0, 8)
	f.seen(runs, 8)
	one.Kill()
	f.writeAll(8, 14)
	one.Start()
	f.writeAll(14, epochs)
	central := f.complete(runs)
	for host, its := range hosts {
		edge := f.atTheEdge(host)
		for _, run := range its {
			assert.Equal(t, edge[run], central[run], run)
		}
	}
	assertNoneIsRewritten(t, f, central, one, two)
}

// assertNoneIsRewritten starts a gateway that has never been there: it reads everything and changes nothing. Where a file is another one, though its
// bytes are the same in the end, the lines of the gateways tell which of them wrote it.
func assertNoneIsRewritten(t *testing.T, f *fleet, central map[string]string, gateways ...*collector.Process) {
	t.Helper()
	before := map[string]time.Time{}
	for run := range central {
		before[run] = f.written(run)
	}
	third := f.start("fleet-gateway-results.yaml", "gateway-3", nil)
	third.WaitMetric("otelcol_dvc_result_records", nil, float64(len(central)*(epochs+2)), within)
	<-time.After(2 * time.Second) // late_grace is over
	third.Stop()
	for run, text := range f.complete(runsOf(hosts)) {
		assert.Equal(t, central[run], text, run)
		if assert.Equal(t, before[run], f.written(run), run) {
			continue
		}
		for n, g := range append(gateways, third) {
			for line := range strings.Lines(g.Logs()) {
				if strings.Contains(line, "Wrote a result") && strings.Contains(line, strconv.Quote(run)) {
					t.Logf("gateway %d: %s", n+1, line)
				}
			}
		}
	}
}

// written is when the file of a run's result was written.
func (f *fleet) written(run string) time.Time {
	f.t.Helper()
	info, err := os.Stat(filepath.Join(f.results, run, "result.json"))
	require.NoError(f.t, err)
	return info.ModTime()
}

// TestAGatewayThatWasPausedOverwritesNothing: it wakes with the state of long ago, takes the runs for silent, and must not put that over the
// result that the other has written meanwhile.
func TestAGatewayThatWasPausedOverwritesNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	runs := runsOf(hosts)
	f.watch(runs)
	short := map[string]string{"IDLE_TIMEOUT": "3s"}
	paused := f.start("fleet-gateway-results.yaml", "gateway-1", short)
	f.start("fleet-gateway-results.yaml", "gateway-2", map[string]string{"IDLE_TIMEOUT": "1m"})
	f.agents()
	f.writeAll(0, 8)
	f.seen(runs, 8)
	paused.WaitMetric("otelcol_dvc_result_records", nil, float64(len(runs)*9), within)
	require.NoError(t, syscall.Kill(paused.PID(), syscall.SIGSTOP))
	resumed := false
	defer func() {
		if !resumed {
			_ = syscall.Kill(paused.PID(), syscall.SIGCONT)
		}
	}()
	f.writeAll(8, epochs)
	central := f.complete(runs)
	<-time.After(4 * time.Second) // longer than idle_timeout
	require.NoError(t, syscall.Kill(paused.PID(), syscall.SIGCONT))
	resumed = true
	paused.WaitMetric("otelcol_dvc_result_records", nil, float64(len(runs)*(epochs+2)), within)
	for run, text := range f.complete(runs) {
		assert.Equal(t, central[run], text, run)
	}
}

// TestAGatewayWithoutItsStorageReadsFromTheBeginning under the new name that the configuration asks for.
func TestAGatewayWithoutItsStorageReadsFromTheBeginning(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	runs := runsOf(hosts)
	f.watch(runs)
	f.agents()
	lost := f.start("fleet-gateway-results.yaml", "gateway-1", nil)
	f.writeAll(0, 12)
	f.seen(runs, 12)
	lost.Kill()
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "gateway-1")))
	f.writeAll(12, epochs)
	f.start("fleet-gateway-results.yaml", "gateway-1-again", nil)
	f.complete(runs)
}

// TestADenseBatchIsNotTooLargeForKafka: the rows that grow most when they are encoded, in full batches.
func TestADenseBatchIsNotTooLargeForKafka(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	agent := f.start("fleet-agent.yaml", "host-a", nil)
	path := filepath.Join(f.runs("host-a"), "dense", "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	row := `{"schema":"pathologize.ml.training/1","event":"step.end","body":{"step":%d,"measurements":{`
	for i := range 24 {
		row += fmt.Sprintf(`"%c":1,`, 'a'+i)
	}
	row += `"z":1}}}` + "\n"
	file, err := os.Create(path) //nolint:gosec // the test's own
	require.NoError(t, err)
	const rows = 5000
	for i := range rows {
		_, err := fmt.Fprintf(file, row, i)
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	agent.WaitMetric("otelcol_train_jsonl_records", nil, rows, within)
	assert.Zero(t, agent.Metrics().Sum("otelcol_train_jsonl_refused_records", nil))
	got := 0
	for _, m := range f.messages(rows) {
		got += m.rows.LogRecordCount()
	}
	assert.Equal(t, rows, got)
}

// TestAGatewayWithoutANameReadsNothing: it would share a group with every other one that has none. The receiver's shutdown hangs after the start
// that failed, so the process is killed here.
func TestAGatewayWithoutANameReadsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := collector.New(t, collector.Options{
		Configs: []string{collector.Shipped(t, "fleet-gateway-results.yaml")},
		Env:     map[string]string{"STATE_DIR": dir, "RESULTS_DIR": dir, "HEALTH_ENDPOINT": ports.Free(t), "KAFKA_BROKERS": ports.Free(t)},
	})
	require.NoError(t, c.Launch())
	require.Eventually(t, func() bool { return strings.Contains(c.Logs(), "a group was not specified") }, within, 50*time.Millisecond)
	assert.NotContains(t, c.Logs(), "Everything is ready")
	if c.Running() {
		c.Kill()
	}
}
