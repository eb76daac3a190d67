package atomicdir

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A journal of a file system commits at each sync that has something new. So all files are on their way before the first is waited for, and
// none has its name before it is on the disk.
func TestFilesAreWrittenThenSyncedThenNamed(t *testing.T) {
	t.Parallel()
	var f *faultFS
	d := openWith(t, t.TempDir(), func(x *faultFS) { f = x })
	defer func() { require.NoError(t, d.Close()) }()
	var series []string
	for i := range 2 * maxOpen {
		series = append(series, fmt.Sprintf("s%03d", i))
	}
	f.ops = nil
	_, err := d.Write(set("1", series...))
	require.NoError(t, err)
	open, most, named := map[string]bool{}, 0, 0
	var last string
	var turns []string
	for _, step := range f.ops {
		op, name, _ := strings.Cut(step, " ")
		switch op {
		case "create":
			open[name] = true
		case "sync":
			assert.True(t, open[name], "synced twice")
			delete(open, name)
		case "rename":
			named++
			assert.Empty(t, open, "%s has its name while another file is open", name)
		case "syncdir":
		default:
			continue
		}
		if most = max(most, len(open)); op != last {
			turns = append(turns, op)
		}
		last = op
	}
	assert.Equal(t, maxOpen, most)
	assert.Equal(t, 2*maxOpen+2, named)
	assert.Equal(t, []string{"create", "sync", "create", "sync", "create", "sync", "rename", "syncdir", "rename", "syncdir"}, turns)
}

func TestAFileThatCannotBeSyncedTwiceIsGivenUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var f *faultFS
	d := openWith(t, dir, func(x *faultFS) { f = x })
	defer func() { require.NoError(t, d.Close()) }()
	f.fault = func(op, _ string) error {
		if op == "sync" {
			return syscall.EIO
		}
		return nil
	}
	_, err := d.Write(set("1", "a", "b"))
	require.ErrorIs(t, err, syscall.EIO)
	assert.ErrorContains(t, err, "run/plots/metrics/a.tsv: ")
	for name := range disk(t, filepath.Join(dir, ownTmp)) {
		assert.Equal(t, tmpLock, filepath.Base(name), "a temporary file stayed")
	}
	assert.Empty(t, disk(t, filepath.Join(dir, "run")))
}
