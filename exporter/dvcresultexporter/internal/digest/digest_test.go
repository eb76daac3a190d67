package digest

import (
	"context"
	"crypto/md5" //nolint:gosec // as DVC
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sumsOf(text string) (sha, md string) {
	a, b := sha256.Sum256([]byte(text)), md5.Sum([]byte(text)) //nolint:gosec // as DVC
	return hex.EncodeToString(a[:]), hex.EncodeToString(b[:])
}

// tree makes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
	}
	return dir
}

func newReader(t *testing.T, opts Options) *reader {
	t.Helper()
	if opts.MaxFileBytes == 0 {
		opts.MaxFileBytes = 1 << 20
	}
	opts.BytesPerSecond = 1 << 30
	return &reader{opts: &opts, ctx: t.Context(), progress: func() {}}
}

func TestDigestOfAFile(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"ckpt/best.pt": "weights", "run-7/last.pt": "other", "empty": ""})
	sha, md := sumsOf("weights")
	want := Digest{Status: OK, Kind: File, Size: 7, SHA256: sha, MD5: md}
	require.NoError(t, os.Symlink("ckpt/best.pt", filepath.Join(root, "link")))
	r := newReader(t, Options{Roots: []string{"/nowhere", root + "/"}, Map: []Mapping{{"/ckpt", root + "/ckpt"}, {"/", "/nowhere"}}})
	for _, path := range []string{"ckpt/best.pt", "./ckpt/x/../best.pt", "/ckpt/best.pt", "file:///ckpt/best.pt", "link"} {
		assert.Equal(t, want, r.digest("run-7", path), path)
	}
	r.opts.Map = nil
	assert.Equal(t, want, r.digest("run-7", root+"/ckpt/best.pt"))
	assert.EqualValues(t, 5, r.digest("run-7", "last.pt").Size, "below the run's folder")
	sha, md = sumsOf("")
	assert.Equal(t, Digest{Status: OK, Kind: File, SHA256: sha, MD5: md}, r.digest("run-7", "empty"))
}

func TestNothingElseIsRead(t *testing.T) {
	t.Parallel()
	secret := tree(t, map[string]string{"id_rsa": "secret"})
	root := tree(t, map[string]string{"big": strings.Repeat("x", 100), "dir/ok": "a", "none/ok": "a", "escape/ok": "a"})
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "dir/fifo"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(secret, "id_rsa"), filepath.Join(root, "absolute")))
	require.NoError(t, os.Symlink("../"+filepath.Base(secret)+"/id_rsa", filepath.Join(root, "relative")))
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "through")))
	require.NoError(t, os.Symlink("../big", filepath.Join(root, "escape/up")))
	require.NoError(t, os.Symlink("loop", filepath.Join(root, "loop")))
	r := newReader(t, Options{Roots: []string{root}, MaxFileBytes: 99})
	for path, want := range map[string]Status{
		"missing": Missing, "none/ok/below": Missing, "big": TooLarge, "fifo": RefusedNotRegular, "dir": RefusedNotRegular,
		"absolute": RefusedOutside, "relative": RefusedOutside, "through/id_rsa": RefusedOutside, "escape": RefusedOutside, "loop": RefusedOutside,
		"/etc/passwd": RefusedOutside, "../x": RefusedOutside, "a/../../x": RefusedOutside, "": RefusedOutside, "s3://bucket/best.pt": RefusedOutside,
		"a\x00b": RefusedOutside, root + "-other/x": RefusedOutside, secret + "/id_rsa": RefusedOutside, "***": Missing,
	} {
		assert.Equal(t, Digest{Status: want}, r.digest("run", path), path)
	}
	for _, run := range []string{"..", ".", "../../etc", "/etc"} {
		assert.Equal(t, Missing, r.digest(run, "passwd").Status, run)
	}
}

func TestDigestOfAFolder(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"m/b.bin": "bb", "m/a/z.json": "{}", "m/ä \"\\\n😀\x7f": "é"})
	r := newReader(t, Options{Roots: []string{root}})
	d := r.digest("run", "m")
	assert.Equal(t, []any{OK, Folder, int64(6), int64(3)}, []any{d.Status, d.Kind, d.Size, d.Files})
	one, oneMD := sumsOf("{}")
	two, twoMD := sumsOf("bb")
	three, threeMD := sumsOf("é")
	sha, _ := sumsOf(one + "  a/z.json\n" + two + "  b.bin\n" + three + "  ä \"\\\n😀\x7f\n")
	assert.Equal(t, sha, d.SHA256)
	_, listed := sumsOf(fmt.Sprintf(`[{"md5": %q, "relpath": "a/z.json"}, {"md5": %q, "relpath": "b.bin"}, {"md5": %q, "relpath": "\u00e4 \"\\\n\ud83d\ude00`+"\x7f"+`"}]`, oneMD, twoMD, threeMD))
	assert.Equal(t, listed+".dir", d.MD5)
	assert.Equal(t, `\udcff`, string(appendASCII(nil, "\xff")))

	r.opts.MaxFileBytes = 5
	assert.Equal(t, TooLarge, r.digest("run", "m").Status, "the files together")
	many := map[string]string{}
	for i := range maxFiles + 1 {
		many[fmt.Sprint(i)] = ""
	}
	r = newReader(t, Options{Roots: []string{tree(t, many)}})
	assert.Equal(t, TooLarge, r.digest("run", ".").Status)
}

// A file that changes while it is read is read once more, and given up when it changes again.
func TestAFileThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(path string, n int) error
		want   Status
	}{
		"once": {func(p string, n int) error {
			if n > 1 {
				return nil
			}
			return os.WriteFile(p, []byte("longer than before"), 0o600)
		}, OK},
		"replaced each time": {func(p string, _ int) error {
			if err := os.WriteFile(p+".new", []byte("same size!"), 0o600); err != nil {
				return err
			}
			return os.Rename(p+".new", p)
		}, ChangedDuringHash},
		"grows": {func(p string, n int) error { return os.WriteFile(p, []byte(strings.Repeat("x", 20+n)), 0o600) }, ChangedDuringHash},
		"same size": {func(p string, n int) error {
			return os.Chtimes(p, time.Time{}, time.Unix(int64(n), 0))
		}, ChangedDuringHash},
		"removed": {func(p string, _ int) error { return ignore(os.Remove(p)) }, Missing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"f": "ten bytes!"})
			r := newReader(t, Options{Roots: []string{root}})
			n := 0
			r.progress = func() {
				n++
				require.NoError(t, tc.change(filepath.Join(root, "f"), n))
			}
			assert.Equal(t, tc.want, r.digest("run", "f").Status)
		})
	}
	root := tree(t, map[string]string{"m/a": "1", "m/b": "2"})
	r := newReader(t, Options{Roots: []string{root}})
	r.progress = func() { _ = os.Remove(filepath.Join(root, "m/b")) }
	assert.Equal(t, OK, r.digest("run", "m").Status, "the second look is at a folder of one file")
	n := 0
	r.progress = func() { n++; _ = os.WriteFile(filepath.Join(root, "m", fmt.Sprint(n)), nil, 0o600) }
	assert.Equal(t, ChangedDuringHash, r.digest("run", "m").Status)
}

func ignore(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func TestWorkerReadsOneAfterTheOtherAndSlowly(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": strings.Repeat("x", 3000), "b": strings.Repeat("x", 2000)})
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 10)
		var busy atomic.Int32
		w := NewWorker(Options{Roots: []string{root}, MaxFileBytes: 1 << 20, BytesPerSecond: 1000}, func(task Task, d Digest) {
			got <- fmt.Sprint(task.Key, " ", d.Status)
		}, &busy)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.Run(ctx); close(ended) }()
		began := time.Now()
		w.Submit(Task{"r", "1", "a"})
		w.Submit(Task{"r", "1", "a"})
		w.Submit(Task{"r", "2", "b"})
		assert.Equal(t, "1 ok", <-got)
		assert.Equal(t, 3*time.Second, time.Since(began).Round(time.Millisecond))
		assert.Equal(t, "2 ok", <-got)
		assert.Equal(t, 5*time.Second, time.Since(began).Round(time.Millisecond))
		w.Submit(Task{"r", "3", "a"})
		synctest.Wait()
		assert.EqualValues(t, 1, busy.Load())
		cancel()
		<-ended
		assert.Empty(t, got, "no answer when it was stopped")
	})
}

// Who asks for a digest while its answer is being taken does not have it computed again.
func TestAnAnswerBeingTakenIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "x", "b": "x"})
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Int32
		got := make(chan string, 10)
		var w *Worker
		w = NewWorker(Options{Roots: []string{root}, MaxFileBytes: 1 << 20}, func(task Task, _ Digest) {
			w.Submit(task)
			got <- task.Key
		}, &busy)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.Run(ctx); close(ended) }()
		w.Submit(Task{"r", "1", "a"})
		assert.Equal(t, "1", <-got)
		w.Submit(Task{"r", "2", "b"})
		assert.Equal(t, "2", <-got)
		synctest.Wait()
		cancel()
		<-ended
		assert.Empty(t, got)
	})
}

func TestStatusOfAnUnreadableFile(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Error, statusOf(fs.ErrPermission))
	assert.Equal(t, Missing, statusOf(fmt.Errorf("x: %w", fs.ErrNotExist)))
}
