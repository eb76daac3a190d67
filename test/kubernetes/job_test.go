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
)

// result is what is looked at of a result.json.
type result struct {
	RunID    string `json:"run_id"`
	Outcome  string
	Attempts []struct{ Attempt int }
	Epochs   struct{ Completed int }
	Best     struct{ Value float64 }

	Resources struct {
		Attribution string
		GPUs        []struct{ UUID string }
	}
}

// pod gives the environment that the kubelet would give the Job's container in one of its pods.
func pod(t *testing.T, job *batchv1.Job, suffix, runs string) map[string]string {
	t.Helper()
	env := downward(t, job.Spec.Template, job.Spec.Template.Spec.Containers[0], map[string]string{
		"metadata.labels['batch.kubernetes.io/job-name']": job.Name, "metadata.name": job.Name + "-" + suffix,
		"metadata.uid": "0d7f1c2e-52f0-4e0c-9a52-6f3f2f8a8f11", "metadata.namespace": job.Namespace, "spec.nodeName": "gpu-node-1",
	})
	env["RUNS_DIR"] = runs // where the volume is mounted
	return env
}

// trainer is the command of the Job's container.
func trainer(job *batchv1.Job, env map[string]string) *exec.Cmd {
	c := job.Spec.Template.Spec.Containers[0]
	cmd := exec.Command(c.Command[0], c.Command[1:]...) //nolint:gosec // the manifest's
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	return cmd
}

// theJob gives it where its command can be run.
func theJob(t *testing.T) *batchv1.Job {
	t.Helper()
	job := only[*batchv1.Job](t, "job.yaml")
	if _, err := exec.LookPath(job.Spec.Template.Spec.Containers[0].Command[0]); err != nil {
		t.Skipf("NOT TESTED: the Job: %v", err)
	}
	return job
}

// node runs the host's configuration on a folder.
func node(t *testing.T, dir string, exporter *dcgm.Server) *collector.Process {
	t.Helper()
	env := collector.FoldersIn(t, dir).Env(t)
	env["DCGM_EXPORTER_ENDPOINT"], env["DCGM_SCRAPE_INTERVAL"], env["LATE_GRACE"] = exporter.Address(), "500ms", "1s"
	return collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env})
}

// succeeded waits for the result of the Job.
func succeeded(t *testing.T, dir string, job *batchv1.Job) result {
	t.Helper()
	var r result
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "results", job.Labels["pathologize.io/run-id"], "result.json")) //nolint:gosec // the test's own
		return err == nil && json.Unmarshal(text, &r) == nil && r.Outcome == "success"
	}, time.Minute, 50*time.Millisecond)
	assert.Equal(t, job.Labels["pathologize.io/run-id"], r.RunID)
	return r
}

// TestTheRunIdOfAResultIsTheJobs runs the command of the Job's container with the environment that the kubelet
// would give it.
func TestTheRunIdOfAResultIsTheJobs(t *testing.T) {
	t.Parallel()
	job, dir := theJob(t), t.TempDir()
	env := pod(t, job, "x2k4q", filepath.Join(dir, "runs"))
	env["EPOCH_SECONDS"] = "2"
	c := node(t, dir, exporterOf(t, env["POD_NAMESPACE"], env["POD_NAME"]))
	c.WaitMetric("otelcol_dvc_result_gpu_readings", nil, 2, time.Minute)

	out, err := trainer(job, env).CombinedOutput()
	require.NoError(t, err, string(out))

	r := succeeded(t, dir, job)
	assert.InDelta(t, 1.0, r.Best.Value, 0)
	assert.Equal(t, "pod", r.Resources.Attribution)
	require.Len(t, r.Resources.GPUs, 1, "GPU 1 is nobody's")
	assert.Equal(t, "GPU-3b1d0c52-7f6e-4a1b-9c58-0d2a6b8e4f10", r.Resources.GPUs[0].UUID)
}

// TestAPodThatIsRetriedIsAFurtherAttempt of the same run: the first one is killed in the middle, the second has another name.
func TestAPodThatIsRetriedIsAFurtherAttempt(t *testing.T) {
	t.Parallel()
	job, dir := theJob(t), t.TempDir()
	runs := filepath.Join(dir, "runs")
	first, second := pod(t, job, "x2k4q", runs), pod(t, job, "h7w9z", runs)
	first["EPOCH_SECONDS"], second["EPOCH_SECONDS"] = "1", "1"
	exporter := exporterOf(t, first["POD_NAMESPACE"], first["POD_NAME"])
	c := node(t, dir, exporter)
	c.WaitMetric("otelcol_dvc_result_gpu_readings", nil, 2, time.Minute)

	killed := trainer(job, first)
	require.NoError(t, killed.Start())
	stream := filepath.Join(runs, job.Labels["pathologize.io/run-id"], "train.jsonl")
	assert.Eventually(t, func() bool {
		text, err := os.ReadFile(stream) //nolint:gosec // the test's own
		return err == nil && strings.Contains(string(text), `"epoch.end"`)
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	exporter.Set(expositionOf(t, second["POD_NAMESPACE"], second["POD_NAME"]))
	out, err := trainer(job, second).CombinedOutput()
	require.NoError(t, err, string(out))

	r := succeeded(t, dir, job)
	require.Len(t, r.Attempts, 2)
	assert.Equal(t, 2, r.Attempts[1].Attempt)
	assert.Equal(t, 3, r.Epochs.Completed)
	assert.Equal(t, "pod", r.Resources.Attribution)
	require.Len(t, r.Resources.GPUs, 1)
}

// exporterOf serves what the DCGM exporter says of a host on which the pod has GPU 0.
func exporterOf(t *testing.T, namespace, pod string) *dcgm.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "metrics.prom")
	require.NoError(t, os.WriteFile(path, []byte(expositionOf(t, namespace, pod)), 0o600))
	return dcgm.Serve(t, path)
}

func expositionOf(t *testing.T, namespace, pod string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	require.NoError(t, err)
	return strings.NewReplacer(`namespace="training"`, fmt.Sprintf("namespace=%q", namespace), `pod="gpu-job-20261129-rd7k2-0"`, fmt.Sprintf("pod=%q", pod)).Replace(string(text))
}
