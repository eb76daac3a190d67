package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestATrainersFilesAreOnlyRead looks at the files that the binary has open while a run is written, and at the folder of the runs afterwards: no name,
// byte, mode or time of it is another than the trainer made it.
func TestATrainersFilesAreOnlyRead(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := quickstart(t, f)
	c.Start()
	lines := sample(t, "native")
	tr := newTrainer(t, f, "native-7f3a9c")
	tr.lines(lines[0])
	var open map[string]int
	require.Eventually(t, func() bool {
		open = openBelow(c.PID(), f.Runs)
		_, reads := open[tr.path]
		return reads
	}, resultWithin, time.Millisecond, "the stream was never open")
	for path, flags := range open {
		assert.Equal(t, syscall.O_RDONLY, flags&syscall.O_ACCMODE, path)
	}
	tr.lines(lines[1:]...)
	before := listed(t, f.Runs)
	requireResult(t, f, liveRuns[0])
	c.Stop()
	assert.Equal(t, before, listed(t, f.Runs))
}

// openBelow gives the flags with which a process has files below a folder open.
func openBelow(pid int, dir string) map[string]int {
	open := map[string]int{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		path, err := os.Readlink(link)
		info, infoErr := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, filepath.Base(link)))
		if err != nil || infoErr != nil || !strings.HasPrefix(path, dir) {
			continue // closed meanwhile, or another file
		}
		var flags int
		_, text, _ := strings.Cut(string(info), "flags:")
		if _, err := fmt.Sscanf(strings.TrimSpace(text), "%o", &flags); err != nil {
			flags = syscall.O_RDWR
		}
		open[path] |= flags
	}
	return open
}

// listed gives what is below a folder, with sizes, modes and times of change.
func listed(t *testing.T, dir string) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		out = append(out, fmt.Sprint(path, info.Size(), info.Mode(), info.ModTime()))
		return nil
	}))
	return out
}
