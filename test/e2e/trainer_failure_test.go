package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// ownLoop is what the block for a loop takes as given: the second epoch is the best, the third does not fit into memory.
const ownLoop = `
class OutOfMemoryError(RuntimeError): pass
class Tensor:
    def __init__(self, v): self.v = v
    def __float__(self): return self.v
    def __lt__(self, other): return self.v < float(other)
epochs, params = 5, {"lr": 0.1}
def save(path): pass
def train(epoch):
    if epoch == 2: raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
    return Tensor(2.0 - epoch), Tensor(1.5 - epoch)
`

// TestALoopOfYourOwnTellsItsCheckpointAndWhyItStopped: the launcher knows an exit status only.
func TestALoopOfYourOwnTellsItsCheckpointAndWhyItStopped(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("THE LOOP OF docs/trainers.md WAS NOT RUN: %v", err)
	}
	const page = "docs/trainers.md"
	f := newFolders(t)
	home := filepath.Dir(f.Runs)
	train := block(t, page, "python", 0) + ownLoop + block(t, page, "python", 6)
	require.NoError(t, os.WriteFile(filepath.Join(home, "train.py"), []byte(train), 0o600))
	launcher := exec.Command("sh", "-ec", block(t, page, "sh", 0))
	launcher.Dir, launcher.Env = home, append(os.Environ(), "HOME="+home, "RUN_ID=my-run")
	out, err := launcher.CombinedOutput()
	require.NoError(t, err, string(out))

	quickstart(t, f).Start()
	got := waitResult(t, f, "my-run", "failed")
	assert.Equal(t, "exit status 1", got.StopReason)
	assert.Equal(t, []struct{ Type, Message string }{{"OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB"}}, got.Failures)
	assert.Equal(t, &bestOne{Metric: "val/loss", Mode: "min", Value: 0.5, Step: 1, Checkpoint: "best", Path: "ckpt/best.pt"}, got.Best)

	answer, err := exec.Command(collector.Summary(t), filepath.Join(f.Runs, "my-run")).Output() //nolint:gosec // what make commands built
	require.NoError(t, err)
	var document struct{ Stop struct{ Reason string } }
	require.NoError(t, json.Unmarshal(answer, &document))
	assert.Equal(t, "oom", document.Stop.Reason, string(answer))
}

// TestALauncherTellsOfATrainingThatWroteNothing: one that fails before its first row, in an import, has made no folder of its run.
func TestALauncherTellsOfATrainingThatWroteNothing(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("THE LAUNCHER OF docs/trainers.md WAS NOT RUN: %v", err)
	}
	f := newFolders(t)
	home := filepath.Dir(f.Runs)
	require.NoError(t, os.WriteFile(filepath.Join(home, "train.py"), []byte("import no_such_module\n"), 0o600))
	launcher := exec.Command("sh", "-ec", block(t, "docs/trainers.md", "sh", 0))
	launcher.Dir, launcher.Env = home, append(os.Environ(), "HOME="+home, "RUN_ID=my-run")
	out, err := launcher.CombinedOutput()
	require.NoError(t, err, string(out))

	quickstart(t, f).Start()
	assert.Equal(t, "exit status 1", waitResult(t, f, "my-run", "failed").StopReason)
}
