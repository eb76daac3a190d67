package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// ownLoop is what the block for a loop takes as given: the second epoch is the best, and in the third stop is called.
const ownLoop = `
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the test may ignore it
class OutOfMemoryError(RuntimeError): pass
class Tensor:
    def __init__(self, v): self.v = v
    def __float__(self): return self.v
    def __lt__(self, other): return self.v < float(other)
epochs, params = 5, {"lr": 0.1}
def save(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").close()
def train(epoch):
    if epoch == 2: stop()
    return Tensor(2.0 - epoch), Tensor(1.5 - epoch)
`

// launch runs a program as train.py with the launcher of docs/trainers.md, in a group of processes of their own.
func launch(t *testing.T, home, train string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("THE LAUNCHER OF docs/trainers.md WAS NOT RUN: %v", err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "train.py"), []byte(train), 0o600))
	launcher := exec.Command("sh", "-ec", block(t, "docs/trainers.md", "sh", 0)) //nolint:gosec // the page's
	launcher.Dir, launcher.Env = home, append(os.Environ(), "HOME="+home, "RUN_ID=my-run")
	launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := launcher.CombinedOutput()
	require.NoError(t, err, string(out))
}

type failure = struct{ Type, Message string }

// TestALoopOfYourOwnTellsItsCheckpointAndWhyItStopped: the launcher knows an exit status only. Ctrl-C reaches it, too.
func TestALoopOfYourOwnTellsItsCheckpointAndWhyItStopped(t *testing.T) {
	t.Parallel()
	const page = "docs/trainers.md"
	for name, c := range map[string]struct {
		stop, outcome, said, reason string
		failures                    []failure
	}{
		"failed": {
			`raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")`, "failed", "exit status 1", "oom",
			[]failure{{"OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB"}},
		},
		"Ctrl-C":  {`os.killpg(0, signal.SIGINT)`, "aborted", "exit status 130", "user", []failure{{"KeyboardInterrupt", ""}}},
		"stopped": {`os.killpg(0, signal.SIGTERM)`, "aborted", "exit status 143", "signal", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolders(t)
			home := filepath.Dir(f.Runs)
			launch(t, home, block(t, page, "python", 0)+ownLoop+"def stop(): "+c.stop+"\n"+block(t, page, "python", 6))

			quickstart(t, f).Start()
			got := waitResult(t, f, "my-run", c.outcome)
			assert.Equal(t, c.said, got.StopReason)
			assert.Equal(t, "pytorch", got.Source.Framework.Name)
			assert.Equal(t, c.failures, got.Failures)
			best := filepath.Join(home, "ckpt", "best.pt")
			assert.Equal(t, &bestOne{Metric: "val/loss", Mode: "min", Value: 0.5, Step: 1, Checkpoint: "best", Path: best}, got.Best)

			answer, err := exec.Command(collector.Summary(t), "--artifact-root", home, filepath.Join(f.Runs, "my-run")).Output() //nolint:gosec // what make commands built
			require.NoError(t, err)
			var document struct {
				Stop struct{ Reason string }
				Best struct{ Checkpoint struct{ Exists *bool } }
			}
			require.NoError(t, json.Unmarshal(answer, &document))
			assert.Equal(t, c.reason, document.Stop.Reason, string(answer))
			assert.Equal(t, new(true), document.Best.Checkpoint.Exists, string(answer))
		})
	}
}

// TestALauncherTellsOfATrainingThatWroteNothing: one that fails before its first row, in an import, has made no folder of its run.
func TestALauncherTellsOfATrainingThatWroteNothing(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	launch(t, filepath.Dir(f.Runs), "import no_such_module\n")
	quickstart(t, f).Start()
	assert.Equal(t, "exit status 1", waitResult(t, f, "my-run", "failed").StopReason)
}
