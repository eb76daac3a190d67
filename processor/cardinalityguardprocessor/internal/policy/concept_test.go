package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// judged is the reason that removes a key from a point of a metric that no rule names, or nothing.
func judged(p *Policy, key string) string {
	v, _ := p.Metric("m").Class.Judge(Datapoint, false, key)
	if v == nil {
		return ""
	}
	return p.Rules()[v.Key()].Reason
}

// refused is the reason that refuses a metric's name, or nothing.
func refused(p *Policy, name string) string {
	return p.Rules()[p.Metric(name).Reject].Reason
}

func TestForbiddenKeysAreFoundHoweverTheyAreSpelled(t *testing.T) {
	t.Parallel()
	p := Default()
	for reason, keys := range map[string][]string{
		"log_only": {trainrecord.AttrRunID, trainrecord.AttrRunAttempt, trainrecord.AttrRunRank, trainrecord.AttrEpochPlanned, trainrecord.AttrRecordSeq, strings.ReplaceAll(trainrecord.AttrRunRank, ".", "_")},
		"run": {
			"run_id", "runId", "RUN_ID", "runid", "RUNID", "run.id", "run-id", "run id", "mlflow.run_id", "MLFLOW_RUN_ID", "wandb.run.id",
			"parent_run_id", "x.y.runId.z", "ｒｕｎ＿ｉｄ", "run\u200bid", "run_uuid", "mlflow.runName", "/run/id/",
		},
		"trace":          {"trace_id", "traceId", "otel.trace_id", "TraceID"},
		"span":           {"span_id", "spanID"},
		"epoch":          {"epoch", "Epoch", "current_epoch", "trainer/epoch", "epoch.number"},
		"step":           {"step", "global_step", "globalStep", "trainer/global_step"},
		"checkpoint":     {"checkpoint", "checkpoint_path", "ckpt_path", "best.ckptPath", "CHECKPOINT"},
		"model_revision": {"model_revision", "modelRevision", "revision"},
		"commit":         {"git_sha", "commit_sha", "git.commit"},
		"sample":         {"sample_id"},
		"example":        {"example_id"},
		"image":          {"image_id"},
		"slide":          {"slide_id", "slideId"},
		"patient":        {"patient_id", "dicom.PatientID"},
		"metric_name":    {"metric_name", "metric.key", "metricName"},
	} {
		for _, key := range keys {
			assert.Equal(t, reason, judged(p, key), key)
		}
	}
}

func TestOtherKeysAreAllowed(t *testing.T) {
	t.Parallel()
	p := Default()
	for _, key := range []string{
		"prune_id", "truncated", "epochs_planned", "epochs", "run", "id", "running_id", "rerun", "traceparent", "steps", "stepper", "spanner_id",
		"checkpointing", "sample", "sampled", "image", "gpu", "UUID", "device", "modelName", "Hostname", "pci_bus_id", "DCGM_FI_DRIVER_VERSION",
		"GPU_I_ID", "err_code", "err_msg", "service.name", "service.instance.id", "host.name", "k8s.pod.name", "container.id", "phase", "framework",
		"rank", "attempt", "name", "metric", "key", "model", "fold", "tunix.metrics.prefix", "tunix.training.mode", "tunix.jax.process.index",
		trainrecord.AttrFramework, trainrecord.AttrPhase, trainrecord.AttrTaskFamily, trainrecord.AttrRunOutcome, "otel.metric.overflow", "", "___", "\xff",
	} {
		assert.Empty(t, judged(p, key), key)
	}
}

func TestTheRegistryAloneDecides(t *testing.T) {
	t.Parallel()
	reg := &trainrecord.Registry{
		Namespace:          "example",
		Names:              []trainrecord.Name{{Name: "secret", Kind: "attribute", Signals: []string{"log"}}, {Name: "open", Kind: "attribute", Signals: []string{"metric"}}},
		ForbiddenOnMetrics: map[string][]string{"colour": {"colour_name"}},
	}
	p, err := compile(&Document{}, &problems{}, reg)
	require.NoError(t, err)
	assert.Equal(t, "log_only", judged(p, "example.secret"))
	assert.Equal(t, "colour", judged(p, "theColourName"))
	for _, key := range []string{"example.open", "run_id", "epoch", "secret"} {
		assert.Empty(t, judged(p, key), key)
	}
}

// TestOtherThingsWithAConceptsWords holds the exceptions: what is inside them is no concept, what stands beside them is.
func TestOtherThingsWithAConceptsWords(t *testing.T) {
	t.Parallel()
	p := Default()
	for _, key := range []string{
		"container.image.id", "container_image_id", "containerImageId", "k8s.container.image.id", "host.image.id", "oci.container.image.id",
		"controller-revision-hash", "controller_revision_hash", "k8s.pod.label.controller-revision-hash", "label_controller_revision_hash",
		"destination_canonical_revision", "service.istio.io/canonical-revision", "aws.step_functions.state_machine.arn",
	} {
		assert.Empty(t, judged(p, key), key)
	}
	for key, reason := range map[string]string{
		"image_id": "image", "train.image.id": "image", "container.image_id.run_id": "run", "image.id.container": "image",
		"revision": "model_revision", "model.revision": "model_revision", "vcs.ref.head.revision": "model_revision", "hub_revision": "model_revision",
		"controller_revision_step": "step", "step": "step", "functions_step": "step", "epoch_container_image_id": "epoch",
	} {
		assert.Equal(t, reason, judged(p, key), key)
	}
	own, err := Parse("", []byte("registry: {except: [leader_epoch]}\n"))
	require.NoError(t, err)
	assert.Empty(t, judged(own, "kafka.leader.epoch"))
	assert.Equal(t, "epoch", judged(own, "kafka.epoch"))
	listed, err := Parse("", []byte("attributes: {deny: {normalized: [image_id]}}\n"))
	require.NoError(t, err)
	assert.Equal(t, "deny", judged(listed, "container.image.id"), "what an operator lists is meant as it is listed")
}

func TestMetricNames(t *testing.T) {
	t.Parallel()
	p := Default()
	for _, name := range []string{
		"foxhunt_training_current_epoch", "foxhunt_training_epoch_loss", "tunix.training.step", "tunix.global_step", "megatron.training.checkpoint.duration",
		"otelcol_processor_tail_sampling_new_trace_id_received", "DCGM_FI_DEV_GPU_UTIL", "step_time_p95", "loss_123", "epoch", "run_id", "steps_12", "epoch1x",
		"step_p50", "step_bf16_time", "epoch_int8_loss", "checkpoint_path_s3_total", "span_id_p95", "sampled_trace_id_rate", "loss_step_a9f3", "loss_run_id_abcdefgh",
		trainrecord.Namespace + ".run.duration", "checkpoint_bytes_total", "",
	} {
		assert.Empty(t, refused(p, name), name)
	}
	for _, name := range []string{
		"loss_run_id_123", "loss/run-id/8f3a21bc-1", "loss.runId.8F3A21BC", "runid123", "val_loss_epoch_12", "acc_epoch12",
		"grad.step.1000", "checkpoint_0001_size", "global_step_5_loss", "loss_sample_id_77",
		"loss_run_id_RUNxa9f3", "loss_run_id_wx3k", "loss_run_id_mnist7", "dice_patientId_TCGA02", "acc_git_sha_3f2a", "loss_step_8f3a21bc",
	} {
		assert.Equal(t, "metric_name", refused(p, name), name)
	}
}

// FuzzKey holds the matcher to a naive one, and to what spelling must not change.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{"run_id", "mlflow.runId", "prune_id", "ｒｕｎ＿ｉｄ", trainrecord.AttrRunID, "a.b.c", "İrunİd", "\xff\xfe", "step1", "RUN__ID", "ǅstep"} {
		f.Add(seed)
	}
	p := Default()
	words := p.core.words
	f.Fuzz(func(t *testing.T, key string) {
		key = key[:min(len(key), 200)] // the naive matcher is slow
		toks := tokens(key)
		require.Equal(t, naiveForbidden(words, toks), words.key(toks, 0) != 0, "%q", key)
		got := judged(p, key)
		if got != "" && got != "log_only" && utf8.ValidString(key) {
			require.NotEmpty(t, judged(p, "prefix."+key+".suffix"), "%q inside a longer key", key)
		}
		require.NotEmpty(t, judged(p, key+"_run_id"))
		require.NotEmpty(t, judged(p, "runId."+key))
		_ = p.Metric(key)
	})
}

// naiveForbidden joins every run of tokens and compares.
func naiveForbidden(c *concepts, toks []string) bool {
	run := func(set func(string) bool, each func(i, j int)) {
		for i := range toks {
			for j := i + 1; j <= len(toks) && j-i <= 40; j++ {
				if set(strings.Join(toks[i:j], "")) {
					each(i, j)
				}
			}
		}
	}
	excepted := map[int]bool{}
	run(func(s string) bool { return has(c.except, s) }, func(i, j int) {
		for k := i; k < j; k++ {
			excepted[k] = true
		}
	})
	forbidden := false
	run(func(s string) bool { return c.patterns[s] != 0 }, func(i, j int) {
		for k := i; k < j; k++ {
			forbidden = forbidden || !excepted[k]
		}
	})
	return forbidden
}
