package kubernetes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/pathologize/otelcol-train/test/internal/collector"
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
	env["EPOCH_SECONDS"] = "0.1"
	results := filepath.Join(dir, "results")
	collector.Start(t, collector.Options{
		Configs: []string{filepath.Join(collector.Root(t), "config", "quickstart.yaml")},
		Env: map[string]string{
			"RUNS_DIR": env["RUNS_DIR"], "RESULTS_DIR": results, "STATE_DIR": filepath.Join(dir, "state"),
			"HEALTH_ENDPOINT": ports.Free(t), "LATE_GRACE": "300ms",
		},
	})
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
	}
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(results, job.Labels["pathologize.io/run-id"], "result.json")) //nolint:gosec // the test's own
		return err == nil && json.Unmarshal(text, &result) == nil && result.Outcome == "success"
	}, time.Minute, 50*time.Millisecond)
	assert.Equal(t, job.Labels["pathologize.io/run-id"], result.RunID)
	assert.InDelta(t, 1.0, result.Best.Value, 0)
}
