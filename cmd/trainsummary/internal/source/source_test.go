package source

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func names(f Found) (out []string) {
	for _, r := range f.Refs {
		out = append(out, r.Name)
	}
	return out
}

func TestWhatArgumentsGive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/t.jsonl", "a/t.jsonl.gz", "b/c/u.ndjson", "b/other.txt", "top.jsonl"} {
		write(t, filepath.Join(dir, name), "x")
	}
	outside := write(t, filepath.Join(t.TempDir(), "secret.jsonl"), "x")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "a", "link.jsonl")))
	require.NoError(t, os.Symlink("t.jsonl", filepath.Join(dir, "a", "inside.jsonl")))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "b", "up")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a", "p.jsonl"), 0o600))
	assert.Equal(t, []string{"a/inside.jsonl", "a/t.jsonl", "a/t.jsonl.gz", "b/c/u.ndjson", "top.jsonl"}, names(Find(dir)))
	assert.Equal(t, []string{"a/inside.jsonl", "a/t.jsonl"}, names(Find(filepath.Join(dir, "a*", "*.jsonl"))), "the base of a glob is a root")
	assert.Equal(t, []string{"other.txt"}, names(Find(filepath.Join(dir, "b", "other.txt"))))
	assert.Equal(t, []string{"top.jsonl"}, names(Find(filepath.Join(dir, "t*.jsonl"))))
	assert.Equal(t, []string{"a/inside.jsonl", "a/t.jsonl", "a/t.jsonl.gz"}, names(Find(filepath.Join(dir, "a*"))), "folders that a glob matches")
	assert.Equal(t, names(Find(filepath.Join(dir, "a*"))), names(Find(filepath.Join(dir, "a*")+"/")))
	assert.True(t, Find(filepath.Join(dir, "no.jsonl")).Missing)
	assert.True(t, Find(filepath.Join(dir, "no*.jsonl")).Missing)
	assert.Error(t, Find(filepath.Join(dir, "{a")).Err)
}

// TestAGlobFollowsTheLinksToFoldersThatItNames, within its root, and reads no file twice for it.
func TestAGlobFollowsTheLinksToFoldersThatItNames(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "runs", "run-1", "t.jsonl"), "x")
	write(t, filepath.Join(dir, "store", "deep", "u.jsonl"), "x")
	write(t, filepath.Join(outside, "secret.jsonl"), "x")
	for link, to := range map[string]string{
		"runs/latest": "run-1", "runs/away": outside, "linked": "store", "store/up": "..", "runs/stored": "../store", "gone": "no",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))))
	}
	for glob, want := range map[string][]string{
		"lin*": {"linked/deep/u.jsonl"}, "lin*/deep/*.jsonl": {"linked/deep/u.jsonl"}, "lin*/*/*.jsonl": {"linked/deep/u.jsonl"},
		"*":    {"runs/run-1/t.jsonl", "store/deep/u.jsonl"}, // linked leads to store
		"**/*": {"runs/run-1/t.jsonl", "store/deep/u.jsonl"}, "gon*": nil,
	} {
		assert.Equal(t, want, names(Find(filepath.Join(dir, filepath.FromSlash(glob)))), glob)
	}
	assert.Equal(t, []string{"latest/t.jsonl"}, names(Find(filepath.Join(dir, "runs", "lat*"))))
	assert.Equal(t, []string{"latest/t.jsonl"}, names(Find(filepath.Join(dir, "runs", "lat*", "t.jsonl"))))
	assert.Equal(t, []string{"run-1/t.jsonl"}, names(Find(filepath.Join(dir, "runs", "*"))), "what leads out of the glob's folder is not read")
	assert.Empty(t, names(Find(filepath.Join(dir, "runs", "aw*"))))
}

func TestOnlyRegularFilesBelowTheRootAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.jsonl"), "x")
	outside := write(t, filepath.Join(t.TempDir(), "secret"), "x")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "out")))
	require.NoError(t, os.Symlink("a.jsonl", filepath.Join(dir, "in")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer func() { assert.NoError(t, syscall.Close(fd)) }()
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(dir, "sock")}))
	for name, want := range map[string]error{
		"a.jsonl": nil, "in": nil, "out": ErrOutside, "fifo": ErrNotRegular, "sock": ErrNotRegular, ".": ErrNotRegular, "../x": ErrOutside, "no": os.ErrNotExist,
	} {
		began := time.Now()
		f, err := Ref{Root: dir, Name: name}.Open()
		assert.ErrorIs(t, err, want, name)
		assert.Less(t, time.Since(began), time.Minute, "it waits for a writer")
		if err == nil {
			assert.NoError(t, f.Close())
		}
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "run", "ckpt", "best.pt"), "x")
	write(t, filepath.Join(dir, "run", "empty.pt"), "")
	write(t, filepath.Join(dir, "beside.pt"), "x") // not the run's
	write(t, filepath.Join(other, "w.pt"), "x")
	require.NoError(t, os.Symlink(filepath.Join(other, "w.pt"), filepath.Join(dir, "run", "leads")))
	folder := filepath.Join(dir, "run")
	for path, want := range map[string]trainview.Found{
		"ckpt/best.pt": trainview.FoundThere, "./ckpt/../ckpt/best.pt": trainview.FoundThere, "ckpt": trainview.FoundThere, "empty.pt": trainview.FoundEmpty,
		"no.pt": trainview.FoundMissing, "ckpt/best.pt/x": trainview.FoundMissing, "../secret": trainview.FoundOutside, "/etc/passwd": trainview.FoundOutside,
		"run/ckpt/best.pt": trainview.FoundThere, filepath.Base(dir) + "/run/ckpt/best.pt": trainview.FoundThere, "run/empty.pt": trainview.FoundEmpty,
		"run/no.pt": trainview.FoundMissing, "run/leads": trainview.FoundHidden, "beside.pt": trainview.FoundMissing, "run": trainview.FoundMissing,
		filepath.Join(folder, "ckpt/best.pt"): trainview.FoundThere, "leads": trainview.FoundHidden, "": trainview.FoundOutside, "a\x00b": trainview.FoundOutside,
		filepath.Join(other, "w.pt"): trainview.FoundOutside,
	} {
		assert.Equal(t, want, Looker{}.Look(folder, path), path)
	}
	assert.Equal(t, trainview.FoundThere, Looker{Roots: []string{other}}.Look(folder, filepath.Join(other, "w.pt")))
	assert.Equal(t, trainview.FoundMissing, Looker{Roots: []string{other}}.Look(folder, filepath.Join(other, "v.pt")))
	gone := filepath.Join(other, "gone")
	assert.Equal(t, trainview.FoundHidden, Looker{Roots: []string{gone}}.Look(folder, filepath.Join(gone, "w.pt")))
}

// TestTheNewestFilesAreKept of more than are read, and the rest is counted.
func TestTheNewestFilesAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for i := range MaxFiles + 2 {
		path := filepath.Join(dir, fmt.Sprintf("t%05d.jsonl", i))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		if i == 7 || i == 8 {
			require.NoError(t, os.Chtimes(path, old, old))
		}
	}
	f := Find(dir)
	assert.Equal(t, 2, f.Omitted)
	assert.Len(t, f.Refs, MaxFiles)
	assert.NotContains(t, names(f), "t00007.jsonl")
	assert.Contains(t, names(f), "t00000.jsonl")
}
