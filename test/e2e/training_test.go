package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

// liveRun is a run of the sample streams and what its result must say.
type liveRun struct {
	id, sample, framework string
	append                []string // what a launcher adds at the end
	outcome, reason       string
	completed             int
	best                  bestOne
}

var liveRuns = []liveRun{
	{id: "native-7f3a9c", sample: "native", framework: "pytorch", outcome: "success", reason: "completed", completed: 4, best: bestOne{Metric: "val/loss", Mode: "min", Value: 0.9, Step: 3}},
	{id: "hf", sample: "hf-transformers", framework: "huggingface", outcome: "success", completed: 3, best: bestOne{Metric: "val/loss", Mode: "min", Value: 1.8466215133666992, Step: 2}},
	{id: "yolo", sample: "ultralytics", framework: "ultralytics", append: []string{launcherEnd}, outcome: "success", reason: "exit status 0", completed: 3},
	{id: "lit", sample: "lightning", framework: "lightning", outcome: "stalled", completed: 3, best: bestOne{Metric: "val/loss", Mode: "min", Value: 0.5127, Step: 1}},
}

// TestResultsSurviveTornLinesAndKills writes four streams live, every line in two pieces, kills the collector again and again, and then
// wants the very bytes that a collector writes which reads the finished streams undisturbed.
func TestResultsSurviveTornLinesAndKills(t *testing.T) {
	t.Parallel()
	live := newFolders(t)
	c := quickstart(t, live)
	c.Start()
	writeDisturbed(t, live, c)
	for _, r := range liveRuns {
		requireResult(t, live, r)
	}

	calm := newFolders(t)
	for _, r := range liveRuns {
		newTrainer(t, calm, r.id).lines(append(sample(t, r.sample), r.append...)...)
	}
	quickstart(t, calm).Start()
	for _, r := range liveRuns {
		requireResult(t, calm, r)
	}
	assert.Equal(t, tree(t, calm.Results), tree(t, live.Results), "kills changed a result")
}

// writeDisturbed writes the streams line by line, in two pieces each, and kills the collector in the middle of lines.
func writeDisturbed(t *testing.T, f folders, c *collector.Process) {
	t.Helper()
	for round := 0; ; round++ {
		wrote := false
		for _, r := range liveRuns {
			lines := append(sample(t, r.sample), r.append...)
			if round >= len(lines) {
				continue
			}
			wrote = true
			half := len(lines[round]) / 2
			tr := newTrainer(t, f, r.id)
			tr.write(lines[round][:half])
			if round%5 == 2 && r.sample == "native" {
				pause(t, 300*time.Millisecond) // a writer that holds the rest of a line
				c.Kill()
				c.Start()
			}
			tr.write(lines[round][half:] + "\n")
		}
		if !wrote {
			return
		}
		pause(t, 20*time.Millisecond)
	}
}

func requireResult(t *testing.T, f folders, want liveRun) {
	t.Helper()
	got := waitResult(t, f, want.id, want.outcome)
	assert.Equal(t, want.id, got.RunID)
	assert.Equal(t, want.reason, got.StopReason, want.id)
	assert.Equal(t, want.framework, got.Source.Framework.Name, want.id)
	assert.Equal(t, want.outcome == "stalled", got.Provisional, want.id)
	require.NotNil(t, got.Epochs.Completed, want.id)
	assert.Equal(t, want.completed, *got.Epochs.Completed, want.id)
	if want.best.Metric != "" {
		require.NotNil(t, got.Best, want.id)
		assert.Equal(t, want.best.Metric, got.Best.Metric, want.id)
		assert.InDelta(t, want.best.Value, got.Best.Value, 0, want.id)
		assert.Equal(t, want.best.Step, got.Best.Step, want.id)
	}
}

// TestResultsAreCompleteAndOnTimeWithoutABackend runs the host configuration while its backend refuses, refuses for good, hangs, or is slow.
func TestResultsAreCompleteAndOnTimeWithoutABackend(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]otlpsink.Mode{"unavailable": otlpsink.Unavailable, "invalid": otlpsink.Invalid, "hang": otlpsink.Hang, "slow": otlpsink.Slow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := otlpsink.Start(t, mode)
			f := newFolders(t)
			env := f.env(t)
			env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
			collector.Start(t, collector.Options{
				Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env,
				YAML: "processors: {batch: {timeout: 100ms}}\n",
			})
			tr := newTrainer(t, f, "native-7f3a9c")
			lines := sample(t, "native")
			tr.lines(lines[:len(lines)-1]...)
			require.Eventually(t, func() bool { return sink.Refused()+sink.Hung() > 0 }, resultWithin, 20*time.Millisecond, "the backend was never asked")
			ended := time.Now()
			tr.lines(lines[len(lines)-1])
			requireResult(t, f, liveRuns[0])
			assert.Less(t, time.Since(ended), 10*time.Second, "the result is late: late_grace is 300ms, and a slow backend answers after 12 s")
			if mode != otlpsink.Slow {
				assert.Empty(t, sink.Logs())
			}
		})
	}
}

// TestTheBackendGetsRecordsWithoutParametersCommandsAndStacks wants every record at the backend, without what a backend need not know,
// whichever way it came: in a record, beside its keys, in the row of a framework that no profile knows, in a line that is no record.
func TestTheBackendGetsRecordsWithoutParametersCommandsAndStacks(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n",
	})
	const head = `{"schema":"pathologize.ml.training/1","run_id":"native-7f3a9c",`
	native := sample(t, "native")
	newTrainer(t, f, "native-7f3a9c").lines(append(native,
		head+`"event":"run.failure","seq":99,"env":{"HF_TOKEN":"hidden"},"resource":{"process.command_line":"train --token hidden"},"body":{"error_type":"OSError","message":"gone: https://me:hidden@h/x","stack":"hidden"}}`,
		head+`"event":"run.start","attempt":"1","body":{"epoch":3,"params":{"hub":"hidden"},"command":"train --token hidden"}}`,
		`no JSON: train.py --api-key=hidden --password 'hidden' url=https://h/?token=hidden Bearer hidden end`,
		`{"custom":1,"config":{"key":"hidden"},"argv":["--token","hidden"]}`,
		`{"custom":2,"trainer":{"args":{"hub_token":"hidden"},"command":"train hidden","list":[{"env":{"A":"hidden"}}]}}`,
		head+`"event":"log","body":{"message":"nested","data":{"params":{"lr":"hidden"},"stack":"hidden","api-key":"hidden"}}}`,
		`{"custom":3,"hf_token":"hidden","loss_per_token":0.25,"num_tokens":512}`,
		head+`"event":"artifact","body":{"name":"w","path":"s3://me:hidden@h/weights.pt"}}`,
		head+`"event":"run.end","body":{"outcome":"success","stop_reason":"see https://me:p@hidden@h/x, Authorization: Bearer hidden, https://hooks.slack.com/services/hidden"}}`,
		`no JSON: "password": ["hidden"], password="a b hidden" Authorization: Basic hidden end`,
		head+`"event":"run.failure","body":{"message":{"cmdline":"train hidden","traceback":"hidden","api_key":"hidden"},"error_type":"token=hidden"}}`)...)
	want := len(native) + 11
	require.Eventually(t, func() bool { return len(sink.LogRecords()) >= want }, resultWithin, 20*time.Millisecond)
	records := sink.LogRecords()
	assert.Len(t, records, want)
	var text strings.Builder
	for _, ld := range sink.Logs() {
		b, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
		require.NoError(t, err)
		text.Write(b)
	}
	for _, secret := range []string{"hidden", "hf_secret", "adamw", "train.py --lr"} {
		assert.NotContains(t, text.String(), secret, "at the backend")
	}
	for _, kept := range []string{"no JSON: train.py --api-key=***", " end", "wrong_type", "OSError", "custom", "nested", "/weights.pt", "loss_per_token", "num_tokens", "0.25", "512"} {
		assert.Contains(t, text.String(), kept)
	}
	for _, lr := range records {
		id, _ := lr.Attributes().Get(runIDKey)
		assert.Equal(t, "native-7f3a9c", id.Str())
		_, onResource := lr.Resource.Attributes().Get(runIDKey)
		assert.False(t, onResource, "a run id is no resource attribute")
	}
	host, _ := records[0].Resource.Attributes().Get("host.name")
	assert.Equal(t, "vector-gpu-01", host.Str())
}

// TestTheBackendGetsTimeSeverityAndTraceOfARecord wants what a line says of them in the log record's own fields.
func TestTheBackendGetsTimeSeverityAndTraceOfARecord(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n",
	})
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	newTrainer(t, f, "r").lines(`{"schema":"pathologize.ml.training/1","ts":"2026-11-20T11:00:00.5+01:00","event":"log","run_id":"r","severity":"ERROR",` +
		`"trace_id":"` + trace + `","span_id":"` + span + `","body":{"message":"x"}}`)
	require.Eventually(t, func() bool { return len(sink.LogRecords()) > 0 }, resultWithin, 20*time.Millisecond)
	lr := sink.LogRecords()[0]
	assert.Equal(t, time.Date(2026, 11, 20, 10, 0, 0, 5e8, time.UTC), lr.Timestamp().AsTime())
	assert.Equal(t, plog.SeverityNumberError, lr.SeverityNumber())
	assert.Equal(t, "ERROR", lr.SeverityText())
	assert.Equal(t, trace, lr.TraceID().String())
	assert.Equal(t, span, lr.SpanID().String())
}

// TestALargeBacklogReachesABackendThatTakesFourMebibytes sends more than one message of Netdata may hold.
func TestALargeBacklogReachesABackendThatTakesFourMebibytes(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	const lines = 3000
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("no JSON, ", 500))
	}
	newTrainer(t, f, "talkative").write(b.String())
	collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env})
	require.Eventually(t, func() bool { return len(sink.LogRecords()) == lines }, resultWithin, 50*time.Millisecond, "not all of %d records", lines)
	assert.Zero(t, sink.Refused())
}

// TestAHangingBackendCostsBoundedMemoryAndTime sends far more than may be kept for a backend that never answers.
func TestAHangingBackendCostsBoundedMemoryAndTime(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Hang)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	const lines = 30_000
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, `{"schema":"pathologize.ml.training/1","event":"log","run_id":"talkative","body":{"message":"%d %s"}}`+"\n", i, strings.Repeat("text ", 500))
	}
	newTrainer(t, f, "talkative").write(b.String()) // 77 MB, as logs several times that
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n"})
	c.WaitMetric("otelcol_dvc_result_records", nil, lines, resultWithin)
	require.Positive(t, c.Metrics().Sum("otelcol_isolate_dropped_items", nil)+c.Metrics().Sum("otelcol_exporter_enqueue_failed_log_records", nil), "what is dropped is counted")
	peak := peakMemory(t, c.PID())
	assert.Less(t, peak, 600_000, "kB at the peak")
	stopping := time.Now()
	c.Stop()
	took := time.Since(stopping)
	t.Logf("peak %d kB, stopped in %s", peak, took)
	assert.Less(t, took, 40*time.Second, "TimeoutStopSec of the packaged unit")
}

// peakMemory is the most memory that a process has had, in kB.
func peakMemory(t *testing.T, pid int) (peak int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &peak)
	require.NoError(t, err)
	return peak
}
