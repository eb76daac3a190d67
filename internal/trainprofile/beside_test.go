package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestLinesAboutATrainingBesideItsRows are read whatever the framework of the rows: none is taken for a row.
func TestLinesAboutATrainingBesideItsRows(t *testing.T) {
	t.Parallel()
	rows := map[string]string{
		"keras":             `{"epoch": 0, "loss": 1.5, "accuracy": 0.5, "val_loss": 1.0, "val_accuracy": 0.5}`,
		"huggingface":       `{"loss": 1.5, "grad_norm": 1.0, "learning_rate": 5e-05, "epoch": 0.5, "step": 100}`,
		"lightning":         `{"train_loss_epoch": 1.5, "epoch": 0, "step": 99}`,
		"ultralytics":       `{"epoch": 1, "train/box_loss": 1.5, "metrics/mAP50(B)": 0.5, "val/box_loss": 1.0, "lr/pg0": 0.01}`,
		"fastai":            `{"epoch": 0, "train_loss": 0.5, "valid_loss": 0.5, "accuracy": 0.5, "time": "00:12"}`,
		"timm":              `{"epoch": 0, "train_loss": 6.5, "eval_loss": 5.0, "eval_top1": 10.5, "lr": 0.001}`,
		"composer":          `{"loss/train/total": 2.5, "step": 1, "time/batch": 1}`,
		"detectron2":        `{"data_time": 0.5, "iteration": 19, "lr": 0.0002, "time": 0.25, "total_loss": 2.0}`,
		"mmengine":          `{"lr": 0.01, "data_time": 0.5, "loss": 1.5, "time": 0.25, "epoch": 1, "iter": 50, "memory": 3000, "step": 50}`,
		"deit":              `{"train_lr": 0.001, "train_loss": 6.5, "test_loss": 5.0, "test_acc1": 10.5, "epoch": 0, "n_parameters": 5000000}`,
		"fairseq":           `{"epoch": 1, "update": 0.5, "loss": "3.890", "num_updates": "100", "lr": "6.06e-05"}`,
		"stable_baselines3": `{"time/iterations": 1, "time/fps": 1000, "time/total_timesteps": 2048, "rollout/ep_rew_mean": 20.0}`,
		"torchtune":         `{"step": 1, "loss": 1.5, "lr": 2e-05, "tokens_per_second_per_gpu": 500.0}`,
		"spacy":             `{"epoch":0,"step":200,"losses":{"tok2vec":31.5},"scores":{"ents_f":41.5},"score":0.5}`,
		"ray":               `{"trial_id": "t1", "training_iteration": 1, "loss": 0.5, "done": false, "timestamp": 1794042665, "time_this_iter_s": 5.0, "config": {}}`,
	}
	lines := map[string]string{
		`{"event": "train_begin", "epochs": 3}`:                                  trainrecord.EventRunStart,
		`{"event": "checkpoint", "path": "best.pt", "epoch": 1, "step": 100}`:    trainrecord.EventCheckpointSave,
		`{"event": "epoch_start", "epoch": 1}`:                                   trainrecord.EventPhaseStart,
		`{"event": "validation_start", "epoch": 1}`:                              trainrecord.EventPhaseStart,
		`{"event": "early_stopping", "epoch": 2, "patience": 3}`:                 trainrecord.EventLog,
		`{"event": "train_end", "epoch": 2, "step": 300}`:                        trainrecord.EventRunEnd,
		`{"type": "run_end", "status": "failed", "error": "oom", "epoch": 2}`:    trainrecord.EventRunEnd,
		`{"event": "training_failed", "error": "boom", "epoch": 2, "step": 300}`: trainrecord.EventRunFailure,
		`{"event": "training_interrupted", "epoch": 2}`:                          trainrecord.EventRunEnd,
		`{"event": "validation_end", "epoch": 1, "loss": 0.5, "step": 100}`:      trainrecord.EventPhaseEnd,
		`{"event": "test_end", "epoch": 1, "loss": 0.5}`:                         trainrecord.EventPhaseEnd,
		`{"event": "config", "lr": 0.5, "epochs": 3}`:                            trainrecord.EventLog,
	}
	for profile, row := range rows {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			m, stream := NewMapper(nil), &Stream{}
			out, _ := process(m, embeddedSet(t), stream, decode(t, row))
			require.Equal(t, profile, out.Profile.Name())
			for line, event := range lines {
				lr := decode(t, line)
				out, all := process(m, embeddedSet(t), stream, lr)
				require.Equal(t, Mapped, out.Kind, line)
				assert.Equal(t, profile, out.Profile.Name(), line)
				assert.Equal(t, trainrecord.EventName(event), all[0].EventName(), line)
				framework, _ := all[0].Attributes().Get(trainrecord.AttrFramework)
				assert.Equal(t, out.Profile.Framework(), framework.Str(), line)
				assert.Equal(t, profile, stream.Profile().Name())
			}
		})
	}
}

// TestAFrameworkThatTellsEventsKeepsThem holds rules that read lines beside rows away from profiles that read events themselves.
func TestAFrameworkThatTellsEventsKeepsThem(t *testing.T) {
	t.Parallel()
	profiles, err := Embedded()
	require.NoError(t, err)
	reads := map[string]bool{}
	for _, p := range profiles {
		reads[p.Name()] = p.readsEvents
	}
	for _, name := range []string{"pytorch", "genolewm", "levanter", "dllogger"} {
		assert.True(t, reads[name], name)
	}
	for _, name := range []string{"keras", "huggingface", "mlperf", "tao", "ray"} {
		assert.False(t, reads[name], name)
	}
}

// TestWhatLinesBesideRowsSay holds their records to what was written by hand: epochs are counted as the rows count theirs.
func TestWhatLinesBesideRowsSay(t *testing.T) {
	t.Parallel()
	for profile, pairs := range map[string][]string{
		"keras": {
			`{"epoch": 1, "loss": 1.5, "accuracy": 0.5, "val_loss": 1.25, "val_accuracy": 0.25}`,
			`{"event": "epoch.end", "framework": "keras", "phase": "train", "body": {"epoch": 0, "measurements": {"train/loss": 1.5, "train/accuracy": 0.5, "val/loss": 1.25, "val/accuracy": 0.25}, "objective": {"metric": "val/loss", "mode": "min"}}}`,
			`{"event": "on_train_begin", "epochs": 5}`,
			`{"event": "run.start", "framework": "keras", "phase": "run", "body": {"planned_epochs": 5, "framework": {"event": "on_train_begin"}}}`,
			`{"event": "checkpoint", "path": "best.keras", "epoch": 1, "is_best": true}`,
			`{"event": "checkpoint.save", "framework": "keras", "phase": "checkpoint", "body": {"path": "best.keras", "kind": "best", "epoch": 0, "framework": {"event": "checkpoint"}}}`,
			`{"event": "epoch_begin", "epoch": 2}`,
			`{"event": "phase.start", "framework": "keras", "phase": "train", "body": {"epoch": 1, "framework": {"event": "epoch_begin"}}}`,
			`{"event": "epoch_end", "epoch": 2, "loss": 1.25, "accuracy": 0.5, "val_loss": 1.0, "val_accuracy": 0.5}`,
			`{"event": "epoch.end", "framework": "keras", "phase": "train", "body": {"epoch": 1, "measurements": {"train/loss": 1.25, "train/accuracy": 0.5, "val/loss": 1.0, "val/accuracy": 0.5}, "objective": {"metric": "val/loss", "mode": "min"}, "framework": {"event": "epoch_end"}}}`,
			`{"event": "validation_end", "epoch": 2, "val_loss": 1.0, "auc": 0.5, "duration_s": 2.5}`,
			`{"event": "phase.end", "framework": "keras", "phase": "validation", "body": {"epoch": 1, "durations": {"phase_s": 2.5}, "measurements": {"val/loss": 1.0, "val/auc": 0.5}, "framework": {"event": "validation_end"}}}`,
			`{"event": "on_test_end", "loss": 1.0, "accuracy": 0.5}`,
			`{"event": "phase.end", "framework": "keras", "phase": "test", "body": {"measurements": {"test/loss": 1.0, "test/accuracy": 0.5}, "framework": {"event": "on_test_end"}}}`,
			`{"event": "early_stopping", "epoch": 2}`,
			`{"event": "log", "framework": "keras", "body": {"message": "early_stopping", "epoch": 1}}`,
			`{"event": "train_end", "epoch": 2}`,
			`{"event": "run.end", "framework": "keras", "phase": "run", "body": {"outcome": "success", "epoch": 1, "framework": {"event": "train_end"}}}`,
		},
		"lightning": {
			`{"train_loss_step": 1.5, "epoch": 0, "step": 99}`,
			`{"event": "step.end", "framework": "lightning", "phase": "train", "body": {"epoch": 0, "step": 99, "measurements": {"train/loss": 1.5}}}`,
			`{"event": "validation_end", "val_loss": 1.0, "val_loss_epoch": 1.0, "epoch": 0, "step": 99}`,
			`{"event": "phase.end", "framework": "lightning", "phase": "validation", "body": {"epoch": 0, "step": 99, "measurements": {"val/loss": 1.0}, "framework": {"event": "validation_end", "val_loss": 1.0}}}`,
			`{"event": "test_end", "test_loss": 1.0, "epoch": 2, "step": 200}`,
			`{"event": "phase.end", "framework": "lightning", "phase": "test", "body": {"epoch": 1, "epoch_progress": 2, "step": 200, "measurements": {"test/loss": 1.0}, "framework": {"event": "test_end"}}}`,
		},
		"huggingface": {
			`{"loss": 1.5, "grad_norm": 0.5, "learning_rate": 0.00005, "epoch": 1.0, "step": 100}`,
			`{"event": "step.end", "framework": "huggingface", "phase": "train", "body": {"step": 100, "epoch_progress": 1.0, "learning_rate": {"0": 0.00005}, "measurements": {"train/loss": 1.5, "train/grad_norm": 0.5}}}`,
			`{"event": "on_train_begin", "max_steps": 300, "num_train_epochs": 3}`,
			`{"event": "run.start", "framework": "huggingface", "phase": "run", "body": {"planned_steps": 300, "planned_epochs": 3, "framework": {"event": "on_train_begin"}}}`,
			`{"event": "on_save", "checkpoint": "out/checkpoint-100", "epoch": 1.0, "step": 100}`,
			`{"event": "checkpoint.save", "framework": "huggingface", "phase": "checkpoint", "body": {"path": "out/checkpoint-100", "epoch": 0, "step": 100, "framework": {"event": "on_save"}}}`,
			`{"event": "error", "error_type": "RuntimeError", "message": "CUDA out of memory", "epoch": 1.5, "step": 150}`,
			`{"severity": "ERROR", "event": "run.failure", "framework": "huggingface", "body": {"error_type": "RuntimeError", "message": "CUDA out of memory", "epoch": 1, "step": 150, "framework": {"event": "error"}}}`,
			`{"type": "run_end", "status": "failed", "step": 150}`,
			`{"event": "run.end", "framework": "huggingface", "phase": "run", "body": {"outcome": "failed", "step": 150, "framework": {"type": "run_end"}}}`,
			`{"event": "on_train_end", "epoch": 3.0, "global_step": 300}`,
			`{"event": "run.end", "framework": "huggingface", "phase": "run", "body": {"outcome": "success", "epoch": 2, "epoch_progress": 3.0, "step": 300, "framework": {"event": "on_train_end"}}}`,
		},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			m, stream := NewMapper(nil), &Stream{}
			for i := 0; i < len(pairs); i += 2 {
				lr := decode(t, pairs[i])
				lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, int64(100*i))
				_, all := process(m, embeddedSet(t), stream, lr)
				require.Len(t, all, 1)
				all[0].Attributes().Remove(trainrecord.AttrLogFileRecordOffset)
				assert.Equal(t, show(record(t, pairs[i+1])), show(all[0]), pairs[i])
			}
		})
	}
}
