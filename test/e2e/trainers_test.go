package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stubs stand for the frameworks: only what the blocks of docs/trainers.md touch, called as the frameworks call it.
const stubs = `
import sys, types
def module(name, **names):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(names)
for parent in ("lightning", "lightning.pytorch.loggers", "keras", "fastai", "fastai.callback"):
    module(parent)
for callbacks in ("lightning.pytorch", "keras.callbacks", "fastai.callback.core"):
    module(callbacks, Callback=object)
module("transformers", TrainerCallback=object)
module("lightning.pytorch.loggers.logger", Logger=object)
module("lightning.pytorch.utilities", rank_zero_only=lambda f: f)
class Float:  # a number that json does not know, such as a tensor or a NumPy scalar
    def __init__(self, v): self.v = v
    def __float__(self): return self.v
`

const huggingFaceRun = `
state = types.SimpleNamespace(is_world_process_zero=True, global_step=5, max_steps=5, num_train_epochs=1)
args = types.SimpleNamespace(output_dir="out", metric_for_best_model="eval_f1", greater_is_better=True, to_sanitized_dict=lambda: {"learning_rate": 1e-3})
callback = Rows()
callback.on_train_begin(args, state, None)
callback.on_log(None, state, None, logs={"loss": 2.5, "grad_norm": Float(1.5), "learning_rate": 1e-3, "epoch": 1.0})
callback.on_log(None, state, None, logs={"eval_loss": 2.0, "eval_f1": 0.5, "eval_runtime": 1.0, "epoch": 1.0})
callback.on_save(args, state, None)
callback.on_log(None, state, None, logs={"train_runtime": 9.0, "train_samples_per_second": 7.8, "train_loss": 2.25, "epoch": 1.0})
`

const ultralyticsRun = `
for epoch in range(2):
    trainer = types.SimpleNamespace(epoch=epoch, epochs=2, tloss=None, lr={"lr/pg0": Float(0.01)}, args=types.SimpleNamespace(imgsz=640),
        last="w/last.pt", best="w/best.pt", fitness=epoch, best_fitness=epoch,
        label_loss_items=lambda loss, prefix: {prefix + "/box_loss": 1.5 - epoch},
        metrics={"metrics/mAP50(B)": Float(0.25 + epoch / 4), "metrics/mAP50-95(B)": 0.25 + epoch / 8, "val/box_loss": 2.0 - epoch})
    if epoch == 0: on_train_start(trainer)
    on_model_save(trainer)
    on_fit_epoch_end(trainer)
`

// Names without _step and _epoch, as self.log gives them: the epoch's end is told by the callback alone.
const lightningRun = `
logger, epochs = Rows(), Epochs()
logger.log_hyperparams({"lr": 1e-3})
for epoch in range(3):
    step = 50 * epoch + 49
    logger.log_metrics({"train_loss": Float(0.5), "epoch": epoch}, step=step)
    logger.log_metrics({"val_loss": Float(0.75 - epoch / 4), "epoch": epoch}, step=step)
    epochs.on_train_epoch_end(types.SimpleNamespace(is_global_zero=True, current_epoch=epoch, max_epochs=3), None)
    logger.after_save_checkpoint(types.SimpleNamespace(monitor="val_loss", best_model_path=os.path.abspath(f"ckpt/epoch={epoch}-step={step + 1}.ckpt")))
`

const kerasRun = `
callback = Rows()
callback.params, callback.model = {"epochs": 2, "steps": 10}, types.SimpleNamespace(optimizer=types.SimpleNamespace(get_config=lambda: {"learning_rate": Float(0.5)}))
callback.on_train_begin()
for epoch in range(2):
    callback.on_epoch_end(epoch, {"loss": Float(0.5), "accuracy": 0.5, "val_loss": 0.5 - epoch / 4, "val_accuracy": 0.5})
`

const fastaiRun = `
record("run.start", planned_epochs=2, params={"lr": 1e-3})
callback = Rows()
saver = types.SimpleNamespace(new_best=True, last_saved_path="models/model.pth")
callback.learn = types.SimpleNamespace(save_model=saver)
for callback.epoch in range(2):
    callback.recorder = types.SimpleNamespace(metric_names=["epoch", "train_loss", "valid_loss", "accuracy", "time"], log=[callback.epoch, 0.5, Float(0.25 + callback.epoch), 0.5, "00:02"])
    callback.after_epoch()
    saver.new_best = False
`

// TestTheBlocksForTrainersWriteStreamsThatAreUnderstood runs each block of docs/trainers.md as its framework would, and the launcher.
func TestTheBlocksForTrainersWriteStreamsThatAreUnderstood(t *testing.T) {
	t.Parallel()
	const page = "docs/trainers.md"
	for name, c := range map[string]struct {
		n                  int
		run                string
		want               liveRun
		params, checkpoint string
		planned            *int
	}{
		"huggingface": {1, huggingFaceRun, liveRun{completed: 1, best: bestOne{Metric: "val/f1", Mode: "max", Value: 0.5}}, "learning_rate: 0.001\n", "out/checkpoint-5", new(1)},
		"ultralytics": {2, ultralyticsRun, liveRun{completed: 2, best: bestOne{Metric: "val/mAP50-95(B)", Mode: "max", Value: 0.375, Step: 1}}, "imgsz: 640\n", "w/best.pt", new(2)},
		"lightning": {3, lightningRun, liveRun{completed: 3, best: bestOne{Metric: "val/loss", Mode: "min", Value: 0.25, Step: 2}},
			"lr: 0.001\n", "ckpt/epoch=2-step=150.ckpt", new(3)},
		"keras":  {4, kerasRun, liveRun{completed: 2, best: bestOne{Metric: "val/loss", Mode: "min", Value: 0.25, Step: 1}}, "learning_rate: 0.5\n", "", new(2)},
		"fastai": {5, fastaiRun, liveRun{completed: 2, best: bestOne{Metric: "val/loss", Mode: "min", Value: 0.25}}, "lr: 0.001\n", "models/model.pth", new(2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolders(t)
			home := filepath.Dir(f.Runs)
			train := stubs + block(t, page, "python", 0) + block(t, page, "python", c.n) + c.run
			launch(t, home, train)
			requireForward(t, filepath.Join(f.Runs, "my-run", "train.jsonl"))
			quickstart(t, f).Start()
			c.want.id, c.want.outcome, c.want.reason = "my-run", "success", "exit status 0"
			c.want.framework = name
			requireResult(t, f, c.want)
			params, err := os.ReadFile(filepath.Join(f.Results, "my-run", "params.yaml"))
			require.NoError(t, err)
			require.Equal(t, c.params, string(params))
			got := waitResult(t, f, "my-run", "success")
			if c.checkpoint != "" {
				c.checkpoint = filepath.Join(home, c.checkpoint)
			}
			require.Equal(t, c.checkpoint, got.Best.Path)
			require.Equal(t, c.planned, got.Epochs.Planned)
			if name == "ultralytics" { // its last epoch is the best one
				require.Equal(t, []struct{ Role, Path string }{{"best", c.checkpoint}, {"last", filepath.Join(home, "w", "last.pt")}}, got.Artifacts)
			}
		})
	}
}

// requireForward sees that no line of a stream is older than the one before it, the launcher's end neither.
func requireForward(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	last := 0.0
	for line := range strings.Lines(string(text)) {
		var row struct{ Ts, Timestamp float64 }
		require.NoError(t, json.Unmarshal([]byte(line), &row), line)
		at := max(row.Ts, row.Timestamp)
		require.GreaterOrEqual(t, at, last, line)
		last = at
	}
}
