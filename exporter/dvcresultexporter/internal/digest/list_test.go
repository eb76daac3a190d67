package digest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A folder of a data set may have millions of files: it is not read to its end to know that it has too many.
func TestAFolderOfManyFilesIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	const many = 5000
	root := tree(t, map[string]string{"m/0": ""})
	for i := 1; i < many; i++ {
		require.NoError(t, os.Link(filepath.Join(root, "m/0"), filepath.Join(root, "m", fmt.Sprint(i))))
	}
	r := newReader(t, Options{Roots: []string{root}})
	looks := 0
	r.progress = func() { looks++ }
	assert.Equal(t, Digest{Status: TooLarge}, r.digest("run", "m"))
	assert.Positive(t, looks, "a long list is told from a file system that hangs")
	assert.LessOrEqual(t, looks, maxFiles/batch+1)
}

func TestTheMostThatAFolderMayHold(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range maxFiles {
		files[fmt.Sprintf("m/%d/%d", i%7, i)] = ""
	}
	root := tree(t, files)
	r := newReader(t, Options{Roots: []string{root}})
	d := r.digest("run", "m")
	assert.Equal(t, OK, d.Status)
	assert.EqualValues(t, maxFiles, d.Files)
	require.NoError(t, os.WriteFile(filepath.Join(root, "m/0/more"), nil, 0o600))
	assert.Equal(t, TooLarge, r.digest("run", "m").Status)
}

func TestAFolderOfManyFoldersIsTooLarge(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Dir(t.TempDir()))
	require.NoError(t, err)
	l := lister{folders: make([]string, maxFolders)} // with the folder itself
	require.NoError(t, l.entry("a", entries[0]))
	assert.Equal(t, refusal(TooLarge), l.entry("b", entries[0]))
}
