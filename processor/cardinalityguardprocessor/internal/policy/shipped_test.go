package policy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const shippedDir = "../../../../config/policy"

func shipped(t *testing.T, name string) *Policy {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shippedDir, name))
	require.NoError(t, err)
	p, err := Parse(name, text)
	require.NoError(t, err)
	return p
}

func TestShippedPoliciesAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shippedDir, "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		p := shipped(t, filepath.Base(file))
		assert.Equal(t, Enforce, p.Mode(), file)
		assert.False(t, p.Audits(), file)
		assert.Equal(t, "1", p.Version(), file)
	}
}

// TestEveryKnownGaugeHasARule reads the names from a list that says where they come from.
func TestEveryKnownGaugeHasARule(t *testing.T) {
	t.Parallel()
	p := shipped(t, "training.yaml")
	text, err := os.ReadFile("testdata/known_gauges.txt")
	require.NoError(t, err)
	known := 0
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		known++
		_, decided := p.GaugeRule(name)
		assert.True(t, decided, name)
		assert.Zero(t, p.Metric(name).Reject, name)
	}
	require.Greater(t, known, 100)
	_, decided := p.GaugeRule("somebodys.gauge")
	assert.False(t, decided)
	for name, want := range map[string]Gauge{
		"DCGM_FI_DEV_GPU_TEMP": Max, "DCGM_FI_DEV_GPU_UTIL": Mean, "DCGM_FI_DEV_FB_USED": Total, "DCGM_FI_PROF_PCIE_TX_BYTES": Total, "DCGM_FI_PROF_DRAM_ACTIVE": Mean,
		"foxhunt_training_epoch_loss": Drop, "tunix.training.loss": Last, "k8s.pod.memory.usage": Total, "k8s.pod.cpu_limit_utilization": Max,
		"k8s.pod.cpu.node.utilization": Max, "container.memory.major_page_faults": Total, "system.cpu.utilization": Mean, "k8s.node.memory.available": Total,
	} {
		got, _ := p.GaugeRule(name)
		assert.Equal(t, want, got, name)
	}
}

func TestShippedNamesAreOfTheNamespace(t *testing.T) {
	t.Parallel()
	p := shipped(t, "training.yaml")
	assert.Contains(t, p.training.prefixes, trainrecord.Namespace+".")
	for name := range p.names.allow.exact {
		if strings.HasPrefix(name, "pathologize") {
			assert.True(t, strings.HasPrefix(name, trainrecord.Namespace+"."), name)
		}
		assert.True(t, p.Metric(name).Class.training, name)
	}
	assert.Equal(t, []float64{10, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 259200}, p.Bounds(trainrecord.Namespace+".run.duration"))
}

const (
	ours = trainrecord.Namespace + ".run.outcomes"
	uuid = "8b2281de-6d3c-42ed-8ec8-d3b864870b8b"
)

// verdict is the reason that an attribute of a metric is changed for, or none.
type verdict struct{ want, metric, key, value string }

var judgedResources = []verdict{
	{"training", ours, "k8s.pod.name", "job-17-abcde"},
	{"training", "tunix.training.loss", "k8s_job_name", "run-5"},
	{"training", "foxhunt_training_epoch_loss", "process.pid", "12"},
	{"training", "megatron.training.loss", "container.id", "abc"},
	{"workload_labels", ours, "k8s.pod.labels.job-name", "run-5"},
	{"workload_labels", "tunix.training.loss", "k8s.pod.label.batch.kubernetes.io/job-name", "run-5"},
	{"workload_labels", "foxhunt_training_epoch_loss", "k8s.job.annotations.note", "x"},
	{"", "k8s.pod.cpu.usage", "k8s.pod.labels.job-name", "run-5"},
	{"", "tunix.training.loss", "k8s.namespace.name", "ml"},
	{"pod_host", "tunix.training.loss", "host.name", "run-5-0-x7k2p"},
	{"pod_host", "foxhunt_training_epoch_loss", "host.name", "run-5-0-x7k2p"},
	{"pod_host", "megatron.training.loss", "host.name", "run-5-0-x7k2p"},
	{"", ours, "host.name", "gpu-01"},
	{"", "system.cpu.time", "host.name", "gpu-01"},
	{"", "http.server.request.duration", "k8s.pod.name", "web-1"},
	{"", "DCGM_FI_DEV_GPU_TEMP", "k8s.pod.name", "dcgm-1"},
	{"", "system.cpu.time", "host.id", uuid},
	{"", ours, "host.id", uuid},
	{"", ours, "container.image.id", "sha256:" + strings.Repeat("a", 64)},
	{"random_instance", ours, "service.instance.id", uuid},
	{"random_instance", "http.server.request.duration", "service.instance.id", uuid},
	{"random_instance", "up", "service.instance.id", strings.Repeat("ab", 16)},
	{"pod_instance", "tunix.training.loss", "service.instance.id", "ml.run-5-0-x7k2p.trainer"},
	{"pod_instance", "megatron.training.loss", "service.instance.id", "ml.run-5-0-x7k2p.trainer"},
	{"", "foxhunt_training_epoch_loss", "service.instance.id", "127.0.0.1:9000"},
	{"", ours, "service.instance.id", "collector-1"},
	{"", "up", "service.instance.id", "127.0.0.1:9400"},
	{"", "DCGM_FI_DEV_GPU_TEMP", "service.instance.id", "127.0.0.1:9400"},
	{"", "somebodys.metric", "app.version", strings.Repeat("ab", 20)},
	{"run", "somebodys.metric", "mlflow.run_id", "x"},
}

var judgedPoints = []verdict{
	{"", ours, trainrecord.AttrRunOutcome, "failed"},
	{"", ours, trainrecord.AttrFramework, "pytorch"},
	{"registry_values", ours, trainrecord.AttrFramework, "my-framework-7"},
	{"keep_only", ours, "optimizer", "adam"},
	{"keep_only", "foxhunt_training_epoch_loss", "fold", "3"},
	{"allow_values", "tunix.training.loss", "tunix.training.mode", "debug"},
	{"", "tunix.training.loss", "tunix.training.mode", "eval"},
	{"", "tunix.training.loss", "tunix.metrics.prefix", "sft"},
	{"allow_values", "tunix.training.loss", "phase", "val"},
	{"", "other.metric", "phase", "val"},
	{"", "other.metric", "http.route", "/users/{id}"},
	{"uuid", "other.metric", "session", uuid},
	{"", "DCGM_FI_DEV_GPU_TEMP", "UUID", uuid},
	{"uuid", "DCGM_FI_DEV_GPU_TEMP", "label_session", uuid},
	{"run", "DCGM_FI_DEV_GPU_TEMP", "run_id", "r-1"},
	{"", "DCGM_FI_DEV_GPU_TEMP", "pod", "job-1-abcde"},
	{"", "system.filesystem.usage", "mountpoint", "/var/lib"},
	{"", "kube_pod_container_info", "image_id", "sha256:" + strings.Repeat("a", 64)},
}

func TestTrainingMetricsLoseTheRunAndOthersKeepTheirWorkload(t *testing.T) {
	t.Parallel()
	p := shipped(t, "training.yaml")
	reason := func(metric string, at Level, key, value string) string {
		enforce, audit := p.Metric(metric).Class.Judge(at, false, key)
		assert.Nil(t, audit)
		if enforce == nil {
			return ""
		}
		_, rule, _ := enforce.Decide(text(value))
		return p.Rules()[rule].Reason
	}
	for _, c := range judgedResources {
		assert.Equal(t, c.want, reason(c.metric, Resource, c.key, c.value), "%s on the resource of %s", c.key, c.metric)
	}
	for _, c := range judgedPoints {
		assert.Equal(t, c.want, reason(c.metric, Datapoint, c.key, c.value), "%s on a point of %s", c.key, c.metric)
	}
}

// carriesTheRun is what detectors of resources say of a workload that is another one in each run, or after each restart.
var carriesTheRun = []string{
	"k8s.pod.name", "k8s.pod.uid", "k8s.pod.hostname", "k8s.pod.ip", "k8s.pod.start_time", "k8s.job.name", "k8s.job.uid", "k8s.container.restart_count", "container.id",
	"container.name", "process.pid", "process.vpid", "process.parent_pid", "process.group_leader.pid", "process.session_leader.pid", "process.creation.time",
	"process.title", "process.working_directory", "process.command", "process.command_line", "process.command_args",
	"container.command", "container.command_line", "container.command_args", "container.label.run", "process.linux.cgroup", "process.environment_variable.RUN", "k8s.jobset.name",
	"slurm.job.id", "aws.ecs.task.arn", "gcp.cloud_run.job.execution", "faas.instance",
}

// TestBothPoliciesTakeOffWhatCarriesTheRun: a series of a training may not be another one in each run, whichever policy is used.
func TestBothPoliciesTakeOffWhatCarriesTheRun(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"training.yaml", "foxhunt.yaml"} {
		p := shipped(t, file)
		for _, key := range carriesTheRun {
			v, _ := p.Metric("foxhunt_training_epoch_loss").Class.Judge(Resource, false, key)
			if assert.NotNil(t, v, "%s in %s", key, file) {
				assert.NotZero(t, v.Key(), "%s in %s", key, file)
			}
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(shipped(t, "training.yaml").training.remove)), slices.Collect(func(yield func(string) bool) {
			for key := range p.training.remove {
				if !strings.HasPrefix(key, "host.") && !yield(key) {
					return
				}
			}
		}), "the lists of both files are one")
	}
}

// TestNoExemptionLetsAForbiddenNameThrough: labels of a pod come as k8s.pod.labels.<name>, those of a container as container.label.<name>. What
// kube-state-metrics calls image_id is that of a container.
func TestNoExemptionLetsAForbiddenNameThrough(t *testing.T) {
	t.Parallel()
	p := shipped(t, "training.yaml")
	for _, metric := range []string{"k8s.pod.cpu.usage", "container.cpu.usage", "kube_pod_labels", "system.cpu.time", "process.cpu.time", "DCGM_FI_DEV_GPU_TEMP", "DCGM_EXP_XID_ERRORS_COUNT", "up", trainrecord.Namespace + ".run.active"} {
		for _, before := range []string{"", "k8s.pod.labels.", "k8s.pod.annotations.", "container.label.", "label_", "dra_", "host.", "process.", "service."} {
			for _, pattern := range trainrecord.Load().ForbiddenPatterns() {
				key := before + pattern.Tokens
				if slices.Contains([]string{"container.image_id", "host.image_id"}, key) || (metric == "kube_pod_labels" && key == "image_id") {
					continue
				}
				for _, at := range []Level{Resource, Scope, Datapoint, Exemplar, Metadata} {
					v, _ := p.Metric(metric).Class.Judge(at, false, key)
					if assert.NotNil(t, v, "%s on %s of %s", key, LevelNames[at], metric) {
						assert.NotZero(t, v.Key(), "%s on %s of %s", key, LevelNames[at], metric)
					}
				}
			}
		}
	}
	for _, key := range []string{"k8s.pod.uid", "k8s.job.uid", "container.id", "container.image.id"} {
		v, _ := p.Metric("k8s.pod.cpu.usage").Class.Judge(Datapoint, false, key)
		assert.Nil(t, v, key)
	}
}

func TestOnlyListedNamesOfTrainingMetricsPass(t *testing.T) {
	t.Parallel()
	p := shipped(t, "training.yaml")
	for _, name := range []string{"tunix.my_reward", "foxhunt_training_sharpe", "megatron.training.custom", trainrecord.Namespace + ".val_accuracy"} {
		assert.Equal(t, "off_list", refused(p, name), name)
	}
	for _, name := range []string{"my.metric", "up", "DCGM_FI_DEV_NEW", "k8s.pod.cpu.time", "megatron.training.checkpoint.duration", trainrecord.Namespace + ".run.active"} {
		assert.Empty(t, refused(p, name), name)
	}
	f := shipped(t, "foxhunt.yaml")
	for _, key := range []string{"host.name", "k8s.pod.hostname", "k8s.pod.labels.job-name"} {
		v, _ := f.Metric("foxhunt_training_epoch_loss").Class.Judge(Resource, false, key)
		require.NotNil(t, v, key)
		assert.NotZero(t, v.Key(), key)
	}
	assert.Equal(t, "off_list", refused(f, "up"))
	assert.Empty(t, refused(f, "foxhunt_training_epoch_loss"))
	assert.True(t, f.DropsPoints())
}
