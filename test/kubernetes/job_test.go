package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// TestTheRunIdOfAResultIsTheJobs runs the command of the Job's container with the environment that the kubelet
// would give it.
func TestTheRunIdOfAResultIsTheJobs(t *testing.T) {
	t.Parallel()
	job := only[*batchv1.Job](t, "job.yaml")
	trainer := job.Spec.Template.Spec.Containers[0]
	if _, err := exec.LookPath(trainer.Command[0]); err != nil {
		t.Skipf("NOT TESTED: the Job: %v", err)
	}
	dir := t.TempDir()
	env := downward(t, job.Spec.Template, trainer, map[string]string{
		"metadata.labels['batch.kubernetes.io/job-name']": job.Name, "metadata.name": job.Name + "-x2k4q",
		"metadata.uid": "0d7f1c2e-52f0-4e0c-9a52-6f3f2f8a8f11", "metadata.namespace": job.Namespace, "spec.nodeName": "gpu-node-1",
	})
	env["RUNS_DIR"] = filepath.Join(dir, "runs") // where the volume is mounted
	env["EPOCH_SECONDS"] = "2"
	results := filepath.Join(dir, "results")
	c := collector.Start(t, collector.Options{
		Configs: []string{filepath.Join(collector.Root(t), "config", "host-training.yaml")},
		Env: map[string]string{
			"RUNS_DIR": env["RUNS_DIR"], "RESULTS_DIR": results, "STATE_DIR": filepath.Join(dir, "state"),
			"HEALTH_ENDPOINT": ports.Free(t), "OTLP_ENDPOINT": ports.Free(t), "NETDATA_OTLP_ENDPOINT": ports.Free(t),
			"DCGM_EXPORTER_ENDPOINT": exporterOf(t, env["POD_NAMESPACE"], env["POD_NAME"]), "DCGM_SCRAPE_INTERVAL": "500ms", "LATE_GRACE": "1s",
		},
	})
	c.WaitMetric("otelcol_dvc_result_gpu_readings", nil, 2, time.Minute)
	cmd := exec.Command(trainer.Command[0], trainer.Command[1:]...) //nolint:gosec // the manifest's
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	var result struct {
		RunID   string `json:"run_id"`
		Outcome string
		Best    struct{ Value float64 }

		Resources struct {
			Attribution string
			GPUs        []struct{ UUID string }
		}
	}
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(results, job.Labels["pathologize.io/run-id"], "result.json")) //nolint:gosec // the test's own
		return err == nil && json.Unmarshal(text, &result) == nil && result.Outcome == "success"
	}, time.Minute, 50*time.Millisecond)
	assert.Equal(t, job.Labels["pathologize.io/run-id"], result.RunID)
	assert.InDelta(t, 1.0, result.Best.Value, 0)
	assert.Equal(t, "pod", result.Resources.Attribution)
	require.Len(t, result.Resources.GPUs, 1, "GPU 1 is nobody's")
	assert.Equal(t, "GPU-3b1d0c52-7f6e-4a1b-9c58-0d2a6b8e4f10", result.Resources.GPUs[0].UUID)
}

// exporterOf serves what the DCGM exporter says of a host on which the pod has GPU 0.
func exporterOf(t *testing.T, namespace, pod string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	require.NoError(t, err)
	mine := strings.NewReplacer(`namespace="training"`, fmt.Sprintf("namespace=%q", namespace), `pod="gpu-job-20261129-rd7k2-0"`, fmt.Sprintf("pod=%q", pod))
	path := filepath.Join(t.TempDir(), "metrics.prom")
	require.NoError(t, os.WriteFile(path, []byte(mine.Replace(string(text))), 0o600))
	return dcgm.Serve(t, path).Address()
}
