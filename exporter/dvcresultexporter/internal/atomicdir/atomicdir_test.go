package atomicdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T, dir string) *Dir {
	t.Helper()
	d := openWith(t, dir, func(f *faultFS) {})
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

func openWith(t *testing.T, dir string, edit func(*faultFS)) *Dir {
	t.Helper()
	real, err := OpenFS(dir)
	require.NoError(t, err)
	f := &faultFS{FS: real}
	edit(f)
	d, err := Open(f, 0)
	require.NoError(t, err)
	return d
}

func set(version string, series ...string) Set {
	s := Set{Name: "run", Swept: []Swept{{Below: "plots/metrics", Suffix: ".tsv"}}}
	for _, name := range series {
		s.Files = append(s.Files, Content{"plots/metrics/" + name + ".tsv", []byte(name + version)})
	}
	s.Files = append(s.Files, Content{"metrics.json", []byte("metrics" + version)}, Content{"result.json", []byte("result" + version)})
	return s
}

// disk reads the files of a set, and fails on anything else but directories.
func disk(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return out
}

func want(s Set) map[string]string {
	out := map[string]string{}
	for _, f := range s.Files {
		out[f.Name] = string(f.Bytes)
	}
	return out
}

func TestWriteBringsTheSetToDiskAndRemovesDroppedSeries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	result, err := d.Write(set("1", "a", "b/c"))
	require.NoError(t, err)
	assert.Equal(t, Written, result)
	assert.Equal(t, want(set("1", "a", "b/c")), disk(t, dir+"/run"))

	own := filepath.Join(dir, "run", "plots", "metrics", "notes.md")
	require.NoError(t, os.WriteFile(own, []byte("mine"), 0o600))
	result, err = d.Write(set("2", "a"))
	require.NoError(t, err)
	assert.Equal(t, Written, result)
	left := want(set("2", "a"))
	left["plots/metrics/notes.md"] = "mine"
	assert.Equal(t, left, disk(t, dir+"/run"))
	assert.NoDirExists(t, dir+"/run/plots/metrics/b", "nothing is left in it")
}

// A folder without a file is none that a reader or Git would see; who looks at the disk does. Folders of others stay.
func TestFoldersGoWithTheirLastFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	sets := func(version string, series ...string) Set {
		s := set(version, series...)
		s.Swept = append(s.Swept, Swept{Below: "plots/full", Suffix: ".gz"}, Swept{Below: "report", Suffix: ".svg"})
		return s
	}
	for _, other := range []string{"run/plots/custom", "run/mine", "run/report/a/b"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, other), 0o700))
	}
	_, err := d.Write(sets("1", "a/b/c", "a/d", "e"))
	require.NoError(t, err)
	assert.NoDirExists(t, dir+"/run/report")
	_, err = d.Write(sets("2", "a/d"))
	require.NoError(t, err)
	assert.Equal(t, []string{"mine", "plots", "plots/custom", "plots/metrics", "plots/metrics/a"}, foldersIn(t, dir+"/run"))
	_, err = d.Write(sets("3"))
	require.NoError(t, err)
	assert.Equal(t, []string{"mine", "plots", "plots/custom"}, foldersIn(t, dir+"/run"))
	require.NoError(t, os.Remove(dir+"/run/plots/custom"))
	_, err = d.Write(sets("3"))
	require.NoError(t, err)
	assert.Equal(t, []string{"mine"}, foldersIn(t, dir+"/run"))
}

func foldersIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, p); err == nil && e.IsDir() && rel != "." {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	}))
	return out
}

func TestUnchangedFilesAreNotTouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	_, err := d.Write(set("1", "a"))
	require.NoError(t, err)
	before := inodes(t, dir+"/run")
	result, err := d.Write(set("1", "a"))
	require.NoError(t, err)
	assert.Equal(t, Unchanged, result)
	assert.Equal(t, before, inodes(t, dir+"/run"))

	next := set("1", "a")
	next.Files[2].Bytes = []byte("result2")
	_, err = d.Write(next)
	require.NoError(t, err)
	after := inodes(t, dir+"/run")
	assert.NotEqual(t, before["result.json"], after["result.json"])
	delete(before, "result.json")
	delete(after, "result.json")
	assert.Equal(t, before, after)
}

// Whoever shares the folder reads results: a file is 0644, as far as the process may give it.
func TestResultsAreReadableByOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	require.NoError(t, plain.Close())
	want, err := os.Stat(plain.Name())
	require.NoError(t, err)
	_, err = open(t, dir).Write(set("1", "a"))
	require.NoError(t, err)
	for name := range disk(t, dir+"/run") {
		info, err := os.Lstat(filepath.Join(dir, "run", name))
		require.NoError(t, err)
		assert.Equal(t, want.Mode(), info.Mode(), name)
	}
}

func inodes(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name := range disk(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		out[name] = fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino, info.ModTime())
	}
	return out
}

func TestMarkerIsRenamedLast(t *testing.T) {
	t.Parallel()
	var f *faultFS
	d := openWith(t, t.TempDir(), func(x *faultFS) { f = x })
	defer func() { require.NoError(t, d.Close()) }()
	f.ops = nil
	_, err := d.Write(set("1", "a", "b"))
	require.NoError(t, err)
	var renames []string
	for _, op := range f.ops {
		if name, ok := strings.CutPrefix(op, "rename "); ok {
			renames = append(renames, name)
		}
	}
	assert.Equal(t, []string{"run/plots/metrics/a.tsv", "run/plots/metrics/b.tsv", "run/metrics.json", "run/result.json"}, renames)
}

// Each file is old or new at every instant at which the process can die, and the next start completes the set.
func TestCrashAtEveryStepLeavesWholeFilesAndRepairCompletes(t *testing.T) {
	t.Parallel()
	before, after := set("1", "a", "b", "old/gone"), set("22", "a", "b", "new/c")
	for step := 1; ; step++ {
		dir := t.TempDir()
		d := openWith(t, dir, func(*faultFS) {})
		_, err := d.Write(before)
		require.NoError(t, err)
		require.NoError(t, d.Close())

		real, err := OpenFS(dir)
		require.NoError(t, err)
		f := &faultFS{FS: real, crashAt: step}
		if d, err = Open(f, 0); err == nil {
			_, err = d.Write(after)
			err = errors.Join(err, d.end())
		}
		crashed := f.dead
		require.NoError(t, real.Close())
		if crashed {
			require.ErrorIs(t, err, errCrash, "step %d", step)
		} else {
			require.NoError(t, err)
		}
		assertOldOrNew(t, step, disk(t, dir+"/run"), want(before), want(after))

		d = open(t, dir)
		_, err = d.Write(after)
		require.NoError(t, err, "step %d", step)
		assert.Equal(t, want(after), disk(t, dir+"/run"), "step %d", step)
		assert.Equal(t, []string{"plots", "plots/metrics", "plots/metrics/new"}, foldersIn(t, dir+"/run"), "step %d", step)
		tmp, err := os.ReadDir(filepath.Join(dir, ownTmp))
		require.NoError(t, err)
		assert.Len(t, tmp, 1, "step %d: left-overs of the dead instance", step)
		if !crashed {
			assert.Greater(t, step, 30, "the protocol has fewer steps than it must have")
			return
		}
	}
}

// assertOldOrNew also checks the reader's contract: with the new marker in place, every file it lists is new.
func assertOldOrNew(t *testing.T, step int, got, before, after map[string]string) {
	t.Helper()
	for name, content := range got {
		if content != before[name] && content != after[name] {
			t.Errorf("step %d: %s is torn: %q", step, name, content)
		}
	}
	if got["result.json"] == after["result.json"] {
		for name, content := range after {
			assert.Equal(t, content, got[name], "step %d: the marker came before %s", step, name)
		}
		return
	}
	assert.Equal(t, before["result.json"], got["result.json"], "step %d", step)
	assert.Contains(t, got, "plots/metrics/old/gone.tsv", "step %d: removed before the marker", step)
}

func TestFaultsAreSortedByReasonAndLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		op     string
		err    error
		reason Reason
	}{
		{"write", syscall.ENOSPC, ReasonNoSpace},
		{"create", syscall.EDQUOT, ReasonNoSpace},
		{"create", syscall.EROFS, ReasonPermission},
		{"mkdir", syscall.EACCES, ReasonPermission},
		{"rename", syscall.EIO, ReasonIO},
		{"sync", syscall.EIO, ReasonIO},
		{"syncdir", syscall.EIO, ReasonIO},
		{"lock", ErrLocked, ReasonLocked},
	} {
		t.Run(tc.op+"_"+string(tc.reason), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var f *faultFS
			d := openWith(t, dir, func(x *faultFS) { f = x })
			f.fault = func(op, _ string) error {
				if op == tc.op {
					return tc.err
				}
				return nil
			}
			_, err := d.Write(set("1", "a"))
			require.ErrorIs(t, err, tc.err)
			assert.Equal(t, tc.reason, ReasonOf(err))
			for name := range disk(t, filepath.Join(dir, ownTmp)) {
				assert.Equal(t, tmpLock, filepath.Base(name), "a temporary file stayed")
			}
			f.fault = nil
			_, err = d.Write(set("1", "a"))
			require.NoError(t, err)
			assert.Equal(t, want(set("1", "a")), disk(t, dir+"/run"))
			require.NoError(t, d.Close())
		})
	}
}

func TestFailedSyncStartsTheFileAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var f *faultFS
	d := openWith(t, dir, func(x *faultFS) { f = x })
	defer func() { require.NoError(t, d.Close()) }()
	var syncs []string
	f.fault = func(op, name string) error {
		if op != "sync" {
			return nil
		}
		syncs = append(syncs, name)
		if len(syncs) == 1 {
			return syscall.EIO
		}
		return nil
	}
	_, err := d.Write(set("1"))
	require.NoError(t, err)
	require.Len(t, syncs, 3)
	assert.NotEqual(t, syncs[0], syncs[1], "the sync was tried again on the same file")
}

func TestLowSpaceIsSeenBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, err := OpenFS(dir)
	require.NoError(t, err)
	d, err := Open(real, 1<<62)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	_, err = d.Write(set("1"))
	require.ErrorIs(t, err, ErrLowSpace)
	assert.Equal(t, ReasonNoSpace, ReasonOf(err))
	assert.Empty(t, disk(t, dir+"/run"))
}

func TestKeepLeavesTheSetAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	_, err := d.Write(set("1", "a"))
	require.NoError(t, err)
	next := set("2")
	next.Keep = func(marker []byte) bool { return string(marker) == "result1" }
	result, err := d.Write(next)
	require.NoError(t, err)
	assert.Equal(t, Kept, result)
	assert.Equal(t, want(set("1", "a")), disk(t, dir+"/run"))
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]string{"run": "elsewhere", "run/plots": "../elsewhere", "run/plots/metrics": "/"} {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "elsewhere"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			require.NoError(t, os.Symlink(link, filepath.Join(dir, name)))
			_, err := open(t, dir).Write(set("1", "a"))
			require.ErrorIs(t, err, ErrRefused)
			assert.Equal(t, ReasonRefused, ReasonOf(err))
			assert.Empty(t, disk(t, filepath.Join(dir, "elsewhere")))
		})
	}
}

func TestLinkedFileIsReplacedNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "run"), 0o700))
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("result1"), 0o600))
	require.NoError(t, os.Symlink("../victim", filepath.Join(dir, "run", "result.json")))
	_, err := d.Write(set("1"))
	require.NoError(t, err)
	info, err := os.Lstat(filepath.Join(dir, "run", "result.json"))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
	assert.Equal(t, "result1", disk(t, dir)["victim"])
}

func TestTwoInstancesExcludeEachOtherAndKeepEachOthersFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir)
	held, err := a.fs.Lock(ownLocks + "/run")
	require.NoError(t, err)
	b := open(t, dir)
	_, err = b.Write(set("1"))
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, held.Close())
	_, err = b.Write(set("1"))
	require.NoError(t, err)
	_, err = a.Write(set("2"))
	require.NoError(t, err, "the start of the second instance took the first one's folder away")
	assert.Equal(t, want(set("2")), disk(t, dir+"/run"))
}

func TestLostInstanceFolderIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ownTmp)))
	_, err := d.Write(set("1"))
	require.NoError(t, err)
	assert.Equal(t, want(set("1")), disk(t, dir+"/run"))
}

func TestOwnFolderIsHiddenFromGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	assert.Equal(t, "*\n", disk(t, dir)[".dvc_result/.gitignore"])
}
