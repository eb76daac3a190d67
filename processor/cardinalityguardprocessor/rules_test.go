package cardinalityguardprocessor

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func registryRules() *rules { return newRules(trainrecord.Load()) }

func TestForbiddenKeysAreFoundHoweverTheyAreSpelled(t *testing.T) {
	t.Parallel()
	r := registryRules()
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
			assert.Equal(t, reason, r.reasons[r.key(key)], key)
		}
	}
}

func TestOtherKeysAreAllowed(t *testing.T) {
	t.Parallel()
	r := registryRules()
	for _, key := range []string{
		"prune_id", "truncated", "epochs_planned", "epochs", "run", "id", "running_id", "rerun", "traceparent", "steps", "stepper", "spanner_id",
		"checkpointing", "sample", "sampled", "image", "gpu", "UUID", "device", "modelName", "Hostname", "pci_bus_id", "DCGM_FI_DRIVER_VERSION",
		"GPU_I_ID", "err_code", "err_msg", "service.name", "service.instance.id", "host.name", "k8s.pod.name", "container.id", "phase", "framework",
		"rank", "attempt", "name", "metric", "key", "model", "fold", "tunix.metrics.prefix", "tunix.training.mode", "tunix.jax.process.index",
		trainrecord.AttrFramework, trainrecord.AttrPhase, trainrecord.AttrTaskFamily, trainrecord.AttrRunOutcome, "otel.metric.overflow", "", "___", "\xff",
	} {
		assert.Equal(t, allowed, r.key(key), key)
	}
}

func TestTheRegistryAloneDecides(t *testing.T) {
	t.Parallel()
	reg := &trainrecord.Registry{
		Namespace:          "example",
		Names:              []trainrecord.Name{{Name: "secret", Kind: "attribute", Signals: []string{"log"}}, {Name: "open", Kind: "attribute", Signals: []string{"metric"}}},
		ForbiddenOnMetrics: map[string][]string{"colour": {"colour_name"}},
	}
	r := newRules(reg)
	assert.Equal(t, []string{"", "log_only", "colour"}, r.reasons)
	assert.Equal(t, "log_only", r.reasons[r.key("example.secret")])
	assert.Equal(t, "colour", r.reasons[r.key("theColourName")])
	for _, key := range []string{"example.open", "run_id", "epoch", "secret"} {
		assert.Equal(t, allowed, r.key(key), key)
	}
}

func TestMetricNames(t *testing.T) {
	t.Parallel()
	r := registryRules()
	for _, name := range []string{
		"foxhunt_training_current_epoch", "foxhunt_training_epoch_loss", "tunix.training.step", "tunix.global_step", "megatron.training.checkpoint.duration",
		"otelcol_processor_tail_sampling_new_trace_id_received", "DCGM_FI_DEV_GPU_UTIL", "step_time_p95", "loss_123", "epoch", "run_id", "steps_12", "epoch1x",
		trainrecord.Namespace + ".run.duration", "checkpoint_bytes_total", "",
	} {
		assert.Equal(t, allowed, r.name(name), name)
	}
	for name, reason := range map[string]string{
		"loss_run_id_123": "run", "loss/run-id/8f3a21bc-1": "run", "loss.runId.8F3A21BC": "run", "runid123": "run", "val_loss_epoch_12": "epoch", "acc_epoch12": "epoch",
		"grad.step.1000": "step", "checkpoint_0001_size": "checkpoint", "global_step_5_loss": "step", "loss_sample_id_77": "sample",
	} {
		assert.Equal(t, reason, r.reasons[r.name(name)], name)
	}
}

func TestVerdictsAreRememberedWithinBounds(t *testing.T) {
	t.Parallel()
	judged := 0
	c := newCache(func(string) verdict { judged++; return verdict(judged % 2) })
	first, own := c.get("a")
	again, _ := c.get("a")
	require.Equal(t, first, again)
	require.Equal(t, "a", own)
	require.Equal(t, 1, judged)
	for i := range 3 * cacheEntries {
		c.get(strings.Repeat("k", 1+i%200) + string(rune('a'+i%26)) + strings.Repeat("x", i/5200))
		require.LessOrEqual(t, len(c.entries), cacheEntries)
	}
	long := strings.Repeat("l", cacheKeySize+1)
	_, own = c.get(long)
	require.Empty(t, own, "a long key is judged, not remembered")
	require.NotContains(t, c.entries, long)
}

// FuzzKey holds the matcher to a naive one, and to what spelling must not change.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{"run_id", "mlflow.runId", "prune_id", "ｒｕｎ＿ｉｄ", trainrecord.AttrRunID, "a.b.c", "İrunİd", "\xff\xfe", "step1", "RUN__ID", "ǅstep"} {
		f.Add(seed)
	}
	r := registryRules()
	f.Fuzz(func(t *testing.T, key string) {
		key = key[:min(len(key), 200)] // the naive matcher is slow
		got := r.key(key)
		if _, exact := r.exact[strings.Join(tokens(key), ".")]; exact {
			require.Equal(t, logOnly, got)
			return
		}
		require.Equal(t, naiveForbidden(r, key), got != allowed, "%q", key)
		if got != allowed && utf8.ValidString(key) {
			require.NotEqual(t, allowed, r.key("prefix."+key+".suffix"), "%q inside a longer key", key)
		}
		require.NotEqual(t, allowed, r.key(key+"_run_id"))
		require.NotEqual(t, allowed, r.key("runId."+key))
		_ = r.name(key)
	})
}

// naiveForbidden joins every run of tokens and compares.
func naiveForbidden(r *rules, key string) bool {
	toks := tokens(key)
	for i := range toks {
		for j := i + 1; j <= len(toks) && j-i <= 40; j++ {
			if _, forbidden := r.patterns[strings.Join(toks[i:j], "")]; forbidden {
				return true
			}
		}
	}
	return false
}
