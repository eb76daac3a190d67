package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// gpuResult is what a result says of GPUs.
type gpuResult struct {
	Final     bool
	Outcome   string
	Resources *struct {
		Attribution string
		Interval    float64 `json:"interval_seconds"`
		GPUs        []struct {
			UUID    string
			Energy  float64 `json:"energy_joules"`
			Method  string  `json:"energy_method"`
			Peak    float64 `json:"fb_used_peak_mib"`
			Util    float64 `json:"gpu_util_mean_percent"`
			Heat    float64 `json:"temperature_max_celsius"`
			XID     *[]int
			Samples int
			Shared  bool
			Thr     map[string]float64 `json:"throttle"`
		}
	}
}

func readGPUs(t *testing.T, f folders, run string) gpuResult {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(f.Results, run, "result.json"))
	require.NoError(t, err)
	var r gpuResult
	require.NoError(t, json.Unmarshal(b, &r), string(b))
	return r
}

// now writes a record of the present.
func now(event, run, body, more string) string {
	return fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":%q,"event":%q,"run_id":%q%s,"body":%s}`,
		time.Now().UTC().Format(time.RFC3339Nano), event, run, more, body)
}

// TestResultsSayWhatTheGPUsDid scrapes a DCGM exporter while two runs work, one in the pod that has GPU 0, one on the host with GPU 1.
func TestResultsSayWhatTheGPUsDid(t *testing.T) {
	t.Parallel()
	const (
		inPod  = `,"host":"trainer-pod","resource":{"k8s.namespace.name":"training","k8s.pod.name":"gpu-job-20261129-rd7k2-0"}`
		onHost = `,"host":"vector-gpu-01"`
	)
	f := newFolders(t)
	dir := filepath.Join("..", "testdata", "dcgm")
	exporter := dcgm.Serve(t, filepath.Join(dir, "metrics.prom"))
	sink := otlpsink.Start(t, otlpsink.Accept)
	env := f.env(t)
	env["DCGM_EXPORTER_ENDPOINT"], env["DCGM_SCRAPE_INTERVAL"], env["NETDATA_OTLP_ENDPOINT"] = exporter.Address(), "1s", sink.Endpoint()
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env})
	readings := func(n float64) { c.WaitMetric("otelcol_dvc_result_gpu_readings", nil, n, 30*time.Second) }
	readings(2)
	pod, host := newTrainer(t, f, "in-pod"), newTrainer(t, f, "on-host")
	pod.lines(now("run.start", "in-pod", `{"planned_epochs":1}`, inPod))
	host.lines(now("run.start", "on-host", `{"planned_epochs":1}`, onHost))
	readings(8)
	later, err := os.ReadFile(filepath.Join(dir, "metrics-60s-later.prom"))
	require.NoError(t, err)
	exporter.Set(strings.ReplaceAll(string(later), `err_msg="No Error",namespace="training",pod="gpu-job-20261129-rd7k2-0"} 0`,
		`err_msg="fell off the bus",namespace="training",pod="gpu-job-20261129-rd7k2-0"} 79`))
	before := c.Metrics().Sum("otelcol_dvc_result_gpu_readings", nil)
	readings(before + 8)
	c.Kill() // what was read survives
	c.Start()
	readings(2)
	for _, tr := range []struct {
		trainer
		run, more string
	}{{pod, "in-pod", inPod}, {host, "on-host", onHost}} {
		tr.lines(now("epoch.end", tr.run, `{"epoch":0,"measurements":{"val/loss":0.5}}`, tr.more), now("run.end", tr.run, `{"outcome":"success"}`, ""))
	}
	waitResult(t, f, "in-pod", "success")
	waitResult(t, f, "on-host", "success")

	checkGPUs(t, f)
	c.Stop()
	for _, p := range ofExporter(exporter, series.Points(sink.Metrics()...)) {
		require.NotContains(t, p.Attributes, "run_id")
	}
}

// checkGPUs holds the results of both runs to the readings.
func checkGPUs(t *testing.T, f folders) {
	t.Helper()
	r := readGPUs(t, f, "in-pod").Resources
	require.NotNil(t, r)
	assert.Equal(t, "pod", r.Attribution)
	assert.InDelta(t, 1, r.Interval, 0.2)
	require.Len(t, r.GPUs, 1)
	g := r.GPUs[0]
	assert.Equal(t, "GPU-3b1d0c52-7f6e-4a1b-9c58-0d2a6b8e4f10", g.UUID)
	assert.InDelta(t, 38520, g.Energy, 0)
	assert.Equal(t, "counter_delta", g.Method)
	assert.InDelta(t, 63841, g.Peak, 0)
	assert.InDelta(t, 64, g.Heat, 0)
	assert.InDelta(t, 9.1, g.Thr["power_seconds"], 0)
	assert.Greater(t, g.Util, 96.0)
	assert.Less(t, g.Util, 97.0)
	assert.Equal(t, &[]int{79}, g.XID)
	assert.GreaterOrEqual(t, g.Samples, 6)

	r = readGPUs(t, f, "on-host").Resources
	require.NotNil(t, r)
	assert.Equal(t, "host", r.Attribution)
	require.Len(t, r.GPUs, 1, "the pod's GPU is not the host's")
	assert.Equal(t, "GPU-9e47aa31-25c4-4d83-8b0f-6f1c2d7e5a29", r.GPUs[0].UUID)
	assert.InDelta(t, 4314, r.GPUs[0].Energy, 0.001)
}

// TestRecordsWithoutAHostAreOfTheCollectors with the overlay for hosts whose streams are their own. A host that records name stays.
func TestRecordsWithoutAHostAreOfTheCollectors(t *testing.T) {
	t.Parallel()
	own, err := os.Hostname()
	require.NoError(t, err)
	f := newFolders(t)
	text, err := os.ReadFile(filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	require.NoError(t, err)
	exporter := dcgm.Serve(t, filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	exporter.Set(strings.ReplaceAll(string(text), "vector-gpu-01", own))
	env := f.env(t)
	env["DCGM_EXPORTER_ENDPOINT"], env["DCGM_SCRAPE_INTERVAL"], env["NETDATA_OTLP_ENDPOINT"] = exporter.Address(), "1s", otlpsink.Start(t, otlpsink.Accept).Endpoint()
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml"), collector.Shipped(t, "overlays/own-host.yaml")}, Env: env,
	})
	readings := func(n float64) { c.WaitMetric("otelcol_dvc_result_gpu_readings", nil, n, 30*time.Second) }
	readings(2)
	const elsewhere = `,"host":"elsewhere"`
	here, there := newTrainer(t, f, "here"), newTrainer(t, f, "there")
	here.lines(now("run.start", "here", `{"planned_epochs":1}`, ""))
	there.lines(now("run.start", "there", `{"planned_epochs":1}`, elsewhere))
	readings(c.Metrics().Sum("otelcol_dvc_result_gpu_readings", nil) + 6)
	here.lines(now("epoch.end", "here", `{"epoch":0,"measurements":{"val/loss":0.5}}`, ""), now("run.end", "here", `{"outcome":"success"}`, ""))
	there.lines(now("epoch.end", "there", `{"epoch":0,"measurements":{"val/loss":0.5}}`, elsewhere), now("run.end", "there", `{"outcome":"success"}`, elsewhere))
	waitResult(t, f, "here", "success")
	waitResult(t, f, "there", "success")
	r := readGPUs(t, f, "here").Resources
	require.NotNil(t, r)
	assert.Equal(t, "host", r.Attribution)
	require.Len(t, r.GPUs, 1, "the pod's GPU is not the host's")
	assert.Equal(t, "GPU-9e47aa31-25c4-4d83-8b0f-6f1c2d7e5a29", r.GPUs[0].UUID)
	assert.Nil(t, readGPUs(t, f, "there").Resources)
	c.Stop()
}

// TestADeadResultsFolderDelaysNoMetric shows that the branch to the results takes nothing from the one to the backend.
func TestADeadResultsFolderDelaysNoMetric(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	exposition := filepath.Join("..", "testdata", "dcgm", "metrics.prom")
	exporter := dcgm.Serve(t, exposition)
	sink := otlpsink.Start(t, otlpsink.Accept)
	env := f.env(t)
	env["DCGM_EXPORTER_ENDPOINT"], env["DCGM_SCRAPE_INTERVAL"], env["NETDATA_OTLP_ENDPOINT"] = exporter.Address(), "1s", sink.Endpoint()
	env["RESULTS_DIR"] = "/proc/no-such-folder"
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env,
		YAML: rootOnly + "processors: {batch: {timeout: 200ms}}",
	})
	require.Eventually(t, func() bool {
		ups := 0
		for _, p := range series.Points(sink.Metrics()...) {
			if p.Name == "up" {
				ups++
			}
		}
		return ups >= 3
	}, 60*time.Second, 50*time.Millisecond, "no scrapes arrived")
	c.Stop()
	requireSameSamples(t, dcgm.Samples(t, exposition), ofExporter(exporter, series.Points(sink.Metrics()...)))
}
