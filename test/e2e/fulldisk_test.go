package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// smallDisk mounts a disk of its own; without the right to mount the test cannot run.
func smallDisk(t *testing.T, megabytes int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("NOT TESTED WITH A FULL DISK: mounting one needs root")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fill takes all that is left of a disk and gives the file that holds it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for _, size := range []int{1 << 20, 1 << 12, 1} {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		err = nil
	}
	return path
}

// TestNothingIsLostWhileTheDiskIsFull fills the disk that holds results and state while a run is written, and makes room again.
func TestNothingIsLostWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 160) // above min_free_bytes when empty
	f := newFolders(t)
	f.Results, f.State = filepath.Join(disk, "results"), filepath.Join(disk, "state")
	c := quickstart(t, f)
	c.Start()
	filler := fill(t, disk)
	lines := sample(t, "native")
	tr := newTrainer(t, f, "native-7f3a9c")
	tr.lines(lines[0])
	const steps = 5000
	for i := range steps {
		tr.lines(fmt.Sprintf(`{"schema":"pathologize.ml.training/1","event":"step.end","run_id":"native-7f3a9c","part":"fold=%d","body":{"step":%d,"measurements":{"train/loss":%d.5}}}`, i%3, i, i))
	}
	tr.lines(lines[1:]...)
	require.Eventually(t, func() bool {
		m := c.Metrics()
		return m.Sum("otelcol_dvc_result_write_errors", nil)+m.Sum("otelcol_dvc_result_storage_errors", nil) > 0
	}, resultWithin, 50*time.Millisecond, "the full disk was not noticed")
	require.True(t, c.Running())
	require.NoError(t, os.Remove(filler))
	got := waitResult(t, f, "native-7f3a9c", "success")
	require.Equal(t, steps+len(lines), got.Records.Count)
	requireResult(t, f, liveRuns[0])
}
