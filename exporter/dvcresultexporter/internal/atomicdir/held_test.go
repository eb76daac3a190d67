package atomicdir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A folder that is moved, replaced or removed while files are written in it has not got the set: the write says so, and the next one
// brings the set to where it belongs.
func TestAFolderThatIsNotWhereItWasIsWrittenAnew(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		folder string
		change func(t *testing.T, folder string)
	}{
		"run moved": {"run", func(t *testing.T, folder string) { require.NoError(t, os.Rename(folder, folder+"-moved")) }},
		"run replaced": {"run", func(t *testing.T, folder string) {
			require.NoError(t, os.Rename(folder, folder+"-moved"))
			require.NoError(t, os.MkdirAll(filepath.Join(folder, "plots", "metrics"), 0o750))
		}},
		"plots moved": {"run/plots", func(t *testing.T, folder string) { require.NoError(t, os.Rename(folder, folder+"-moved")) }},
		"run removed": {"run", func(t *testing.T, folder string) { require.NoError(t, os.RemoveAll(folder)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var f *faultFS
			d := openWith(t, dir, func(x *faultFS) { f = x })
			defer func() { require.NoError(t, d.Close()) }()
			done := false
			f.fault = func(op, name string) error {
				if op == "rename" && strings.HasSuffix(name, "b.tsv") && !done {
					done = true
					tc.change(t, filepath.Join(dir, filepath.FromSlash(tc.folder)))
				}
				return nil
			}
			_, err := d.Write(set("1", "a", "b"))
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = d.Write(set("1", "a", "b"))
			require.NoError(t, err)
			got := disk(t, dir+"/run")
			for file, content := range want(set("1", "a", "b")) {
				assert.Equal(t, content, got[file], file)
			}
		})
	}
}

func TestMoreFoldersThanAreHeldAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	var series []string
	for i := range 3 * maxHeld {
		series = append(series, fmt.Sprintf("group%d/loss", i))
	}
	_, err := d.Write(set("1", series...))
	require.NoError(t, err)
	assert.Equal(t, want(set("1", series...)), disk(t, dir+"/run"))
	assert.Len(t, d.fs.(*faultFS).FS.(*rootFS).held.byName, 1, "no more than the folder of temporary files stays open")
}

func TestADirectoryInPlaceOfAFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "run", "metrics.json"), 0o750))
	_, err := d.Write(set("1"))
	require.ErrorIs(t, err, ErrRefused)
	for name := range disk(t, filepath.Join(dir, ownTmp)) {
		assert.Equal(t, tmpLock, filepath.Base(name), "a temporary file stayed")
	}
}
