package atomicdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gone is a set of which nothing is to be left.
func gone(keep func([]byte) bool) Set {
	s := set("")
	s.Gone, s.Keep = true, keep
	return s
}

func TestASetThatIsGoneLeavesNothingOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	write := func() {
		_, err := d.Write(set("1", "a", "b/c"))
		require.NoError(t, err)
	}
	result, err := d.Write(gone(nil))
	require.NoError(t, err)
	assert.Equal(t, Unchanged, result, "there was none")

	write()
	result, err = d.Write(gone(func(marker []byte) bool { return string(marker) == "result1" }))
	require.NoError(t, err)
	assert.Equal(t, Kept, result)
	assert.Equal(t, want(set("1", "a", "b/c")), disk(t, dir+"/run"))

	result, err = d.Write(gone(nil))
	require.NoError(t, err)
	assert.Equal(t, Removed, result)
	assert.NoDirExists(t, dir+"/run")

	write()
	own := filepath.Join(dir, "run", "plots", "notes.md")
	require.NoError(t, os.WriteFile(own, []byte("mine"), 0o600))
	_, err = d.Write(gone(nil))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"plots/notes.md": "mine"}, disk(t, dir+"/run"))
	assert.NoDirExists(t, dir+"/run/plots/metrics")
}

func TestALinkInPlaceOfASetThatIsGoneStays(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	d := open(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(other, "result.json"), nil, 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(dir, "run")))
	result, err := d.Write(gone(nil))
	require.NoError(t, err)
	assert.Equal(t, Unchanged, result)
	assert.FileExists(t, filepath.Join(other, "result.json"))
}

// A process that dies anywhere in a removal leaves what the next one removes, and a marker that matches nothing else.
func TestARemovalThatWasInterruptedIsCompleted(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		dir := t.TempDir()
		f := &faultFS{}
		d := openWith(t, dir, func(o *faultFS) { f = o })
		_, err := d.Write(set("1", "a", "b/c"))
		require.NoError(t, err)
		before := f.steps
		f.crashAt = before + step
		_, err = d.Write(gone(nil))
		_ = d.Close()
		if err == nil {
			assert.Greater(t, step, 4, "no crash was tried")
			return
		}
		if _, err := os.Stat(dir + "/run"); err == nil {
			if left := disk(t, dir+"/run"); len(left) > 0 {
				assert.Contains(t, left, "result.json", "step %d", step)
			}
		}
		d = openWith(t, dir, func(*faultFS) {})
		_, err = d.Write(gone(nil))
		require.NoError(t, err)
		assert.NoDirExists(t, dir+"/run", "step %d", step)
		require.NoError(t, d.Close())
	}
}
