package atomicdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatOthersPutIntoTheOwnFolder is in nobody's way: folders in folders, a folder in place of a lock, links.
func TestWhatOthersPutIntoTheOwnFolder(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	precious := filepath.Join(elsewhere, "precious")
	require.NoError(t, os.WriteFile(precious, nil, 0o600))
	tmp := filepath.Join(dir, ownTmp)
	require.NoError(t, os.MkdirAll(filepath.Join(tmp, "dead", "sub", "sub2"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(tmp, "odd", tmpLock, "sub"), 0o755))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(tmp, "dead", "link")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(tmp, "link")))
	d := open(t, dir)
	result, err := d.Write(set("1"))
	require.NoError(t, err)
	assert.Equal(t, Written, result)
	assert.FileExists(t, precious)
	entries, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "this instance's own")
}

// TestAnOptionalFileThatIsNotListedGoes with the same write, after the marker.
func TestAnOptionalFileThatIsNotListedGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	with := set("1")
	with.Optional, with.Files = []string{"params.yaml"}, append([]Content{{"params.yaml", []byte("lr: 1")}}, with.Files...)
	_, err := d.Write(with)
	require.NoError(t, err)
	require.Contains(t, disk(t, filepath.Join(dir, "run")), "params.yaml")
	without := set("1")
	without.Optional = with.Optional
	result, err := d.Write(without)
	require.NoError(t, err)
	assert.Equal(t, Written, result)
	assert.NotContains(t, disk(t, filepath.Join(dir, "run")), "params.yaml")
}

// TestAMarkerBeyondAnySizeIsNoneOfOurs and is not read into memory.
func TestAMarkerBeyondAnySizeIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "run"), 0o755))
	marker := filepath.Join(dir, "run", "result.json")
	require.NoError(t, os.WriteFile(marker, nil, 0o600))
	require.NoError(t, os.Truncate(marker, 1<<40)) // sparse
	s := set("1")
	s.Keep = func(marker []byte) bool { return marker != nil }
	result, err := d.Write(s)
	require.NoError(t, err)
	assert.Equal(t, Written, result)
	assert.Equal(t, "result1", disk(t, filepath.Join(dir, "run"))["result.json"])
}
