package trainjsonlreceiver

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
)

// inode is what a file system has of a file.
type inode struct {
	number uint64
	born   int64
}

// inodeFiles has the inodes that a test gives to paths.
type inodeFiles struct {
	osFiles
	of     map[string]inode
	denied string // may not be read
}

type inodeInfo struct {
	fs.FileInfo
	inode
}

func (i inodeInfo) Sys() any { return &syscall.Stat_t{Dev: 1, Ino: i.number} }

func (f *inodeFiles) Stat(name string) (fs.FileInfo, error) {
	fi, err := f.osFiles.Stat(name)
	if err != nil {
		return nil, err
	}
	return inodeInfo{fi, f.of[name]}, nil
}

func (f *inodeFiles) Born(name string) int64 { return f.of[name].born }

func (f *inodeFiles) Open(name string) (openFile, error) {
	if name == f.denied {
		return nil, syscall.EACCES
	}
	o, err := f.osFiles.Open(name)
	if err != nil {
		return nil, err
	}
	return inodeFile{o, f.of[name]}, nil
}

type inodeFile struct {
	openFile
	inode
}

func (f inodeFile) Born() int64 { return f.born }

func (f inodeFile) Stat() (fs.FileInfo, error) {
	fi, err := f.openFile.Stat()
	if err != nil {
		return nil, err
	}
	return inodeInfo{fi, f.inode}, nil
}

// looks polls without giving a file its turn.
func (t *tailer) looks(ctx context.Context) {
	t.nextSearch = time.Time{}
	for _, s := range t.list() {
		s.due.Store(0)
	}
	t.poll(ctx, time.Now())
}

// behind has the receiver read a part of a stream, and see the rest of it, for which there is no space.
func (r *rig) behind(files *inodeFiles, read, rest string) *tailer {
	ctx := context.Background()
	r.files = files
	files.of[r.path("a/train.jsonl")] = inode{1, 1}
	r.write("a/train.jsonl", read)
	tl := r.open()
	tl.step(ctx)
	r.append("a/train.jsonl", rest)
	tl.budget.used = tl.budget.max // no space
	tl.step(ctx)
	tl.budget.used = 0
	tl.handles.closeAll()
	tl.noTurns()
	return tl
}

// unopened has the receiver see a stream that had no turn.
func (r *rig) unopened(files *inodeFiles, read, rest string) *tailer {
	r.files = files
	files.of[r.path("a/train.jsonl")] = inode{1, 1}
	r.write("a/train.jsonl", read+rest)
	tl := r.open()
	tl.looks(context.Background())
	tl.noTurns()
	return tl
}

// noTurns takes the files their turns.
func (t *tailer) noTurns() {
	t.ready, t.waiting = nil, map[*stream]struct{}{}
	for _, s := range t.list() {
		s.queued = false
	}
}

// replaced has the receiver read a part of a stream, whose path and inode another one gets then.
func (r *rig) replaced(files *inodeFiles) *tailer {
	tl := r.behind(files, rows(0, 5), rows(5, 3))
	files.of[r.path("a/train.jsonl")] = inode{1, 2}
	r.write("a/train.jsonl", rows(100, 9))
	return tl
}

// TestUnreadBytesOfAFileWhoseInodeAnotherOneGetsAreLost, whatever that one's size and place, and whenever it is looked at.
func TestUnreadBytesOfAFileWhoseInodeAnotherOneGetsAreLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, place := range []string{"a/train.jsonl", "b/train.jsonl", "read nothing", "never opened", "never opened, the same place"} {
		read, setUp := 5, (*rig).behind
		switch place {
		case "read nothing":
			place, read = "b/train.jsonl", 0
		case "never opened":
			place, read, setUp = "b/train.jsonl", 0, (*rig).unopened
		case "never opened, the same place":
			place, read, setUp = "a/train.jsonl", 0, (*rig).unopened
		}
		for name, other := range map[string]string{
			"shorter": rows(100, 1), "as long": rows(100, 8), "longer": rows(100, 30), "longer, with the same head": rows(0, 5) + rows(100, 30),
		} {
			for _, looks := range []int{0, 1, 2} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					files := &inodeFiles{of: map[string]inode{}}
					tl := setUp(r, files, rows(0, read), rows(read, 3))
					r.remove("a/train.jsonl")
					files.of[r.path(place)] = inode{1, 2}
					r.write(place, other)
					for range looks {
						tl.looks(ctx)
						r.append(place, rows(200, 2))
					}
					tl.step(ctx)
					tl.step(ctx)
					require.NoError(t, tl.close(ctx))
					r.telemetry(lost(len(rows(read, 3))))
					assert.Contains(t, strings.Join(r.lines(), "\n"), "rewrites")
					assert.Len(t, r.sink.got(), read+strings.Count(other, "\n")+2*looks)
				})
			}
		}
	}
}

// TestWhatAPackedFileGivesIsNotLost, whoever has the inode of the plain one, and whether it was read in part or not.
func TestWhatAPackedFileGivesIsNotLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const gz = "a/train.jsonl.1.gz"
	long := rows(100, 400)
	for name, c := range map[string]struct {
		read   string
		packed string // what is in the packed file
		gz     inode
		next   string // what is at the plain file's place
		lost   int
	}{
		"the packed one":                 {rows(0, 5), rows(0, 8), inode{1, 2}, "", 0},
		"the packed one, and it is more": {rows(0, 5), rows(0, 8) + long, inode{1, 2}, "", 0},
		"the packed one, and it is less": {rows(0, 5), rows(0, 6), inode{1, 2}, "", len(rows(6, 2))},
		"the packed one, of another":     {rows(0, 5), rows(50, 9), inode{1, 2}, "", len(rows(5, 3))},
		"the next stream":                {rows(0, 5), rows(0, 8), inode{2, 2}, rows(100, 1), 0},
		"the next stream, longer":        {rows(0, 5), rows(0, 8), inode{2, 2}, long, 0},
		"the next, and it is less":       {rows(0, 5), rows(0, 7), inode{2, 2}, long, len(rows(7, 1))},
		"the next, of another":           {rows(0, 5), rows(50, 9), inode{2, 2}, long, len(rows(5, 3))},
		"the next, no packed file":       {rows(0, 5), "", inode{}, long, len(rows(5, 3))},
		"the packed one, all unread":     {"", rows(0, 8), inode{1, 2}, "", 0},
		"the next, all unread":           {"", rows(0, 8), inode{2, 2}, long, 0},
		"the next, all unread, less":     {"", rows(0, 2), inode{2, 2}, long, len(rows(2, 1))},
		"the next, all unread, no pack":  {"", "", inode{}, long, len(rows(0, 3))},
		"nobody, all unread":             {"", rows(0, 8), inode{2, 2}, "", 0},
		"nobody":                         {rows(0, 5), rows(0, 8), inode{2, 2}, "", 0},
		"nobody, and it is less":         {rows(0, 5), rows(0, 6), inode{2, 2}, "", len(rows(6, 2))},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newPackedRig(t)
				files := &inodeFiles{of: map[string]inode{}}
				tl := r.behind(files, c.read, rows(len(strings.Split(c.read, "\n"))-1, 3))
				if c.packed != "" {
					files.of[r.path(gz)] = c.gz
					r.pack(gz, packed(t, c.packed))
				}
				r.remove("a/train.jsonl")
				if c.next != "" {
					files.of[r.path("a/train.jsonl")] = inode{1, 3}
					r.write("a/train.jsonl", c.next)
				}
				if restart {
					tl.drain(ctx)
					tl = r.reopen(tl)
				}
				for i := range 5 {
					tl.later(ctx, time.Duration(i)*time.Minute)
				}
				tl = r.reopen(tl) // nor is it told twice
				for i := range 5 {
					tl.later(ctx, time.Duration(i)*time.Minute)
				}
				require.NoError(t, tl.close(ctx))
				if c.lost > 0 {
					r.telemetry(lost(c.lost))
				} else {
					assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes")
				}
				assert.Equal(t, strings.Count(c.read+c.next, "\n"), len(r.sink.of("a/train.jsonl")))
			})
		}
	}
}

// TestWhatIsLostIsToldOnceThoughATurnGoesOn: a turn's mark was taken before the bytes of the file before counted as lost.
func TestWhatIsLostIsToldOnceThoughATurnGoesOn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newPackedRig(t)
	files := &inodeFiles{of: map[string]inode{}}
	tl := r.replaced(files)
	tl.step(ctx)
	r.append("a/train.jsonl", rows(200, 2))
	r.sink.set(func(context.Context, int, plog.Logs) error {
		tl.nextSearch = time.Time{}
		for i := range 3 { // while the pipeline has the records
			tl.poll(ctx, time.Now().Add(time.Duration(i)*time.Minute))
		}
		return nil
	})
	tl.looks(ctx)
	tl.drain(ctx)
	r.telemetry(lost(len(rows(5, 3))))
	require.NoError(t, tl.saveLast(ctx))
	require.NoError(t, tl.close(ctx))
	r.sink.set(nil)
	tl = r.open()
	for i := range 4 {
		tl.later(ctx, time.Duration(i)*time.Minute)
	}
	require.NoError(t, tl.close(ctx))
	r.telemetry(lost(len(rows(5, 3))))
}

// TestBytesOfARewrittenFileAreLostWhenThePackedOneIsNoLongerAwaited, though the collector did not run meanwhile.
func TestBytesOfARewrittenFileAreLostWhenThePackedOneIsNoLongerAwaited(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newPackedRig(t)
	files := &inodeFiles{of: map[string]inode{}}
	tl := r.replaced(files)
	tl.drain(ctx)
	tl.step(ctx)
	require.NoError(t, tl.saveLast(ctx))
	require.NoError(t, tl.close(ctx))
	assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes", "it is too early to tell")
	tl = r.open()
	require.Len(t, tl.rewritten.all, 1)
	for i := range 4 {
		tl.later(ctx, goneFor+time.Duration(i)*time.Minute)
	}
	require.NoError(t, tl.close(ctx))
	r.telemetry(lost(len(rows(5, 3))))
}

// TestAPackedFileIsAwaitedForADayInWhichTheCollectorRuns: one that was there at a start gives its bytes, however long ago the stop was; one
// that may not be read keeps them from counting as lost no longer.
func TestAPackedFileIsAwaitedForADayInWhichTheCollectorRuns(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"", "a/train.jsonl.1.gz"} {
		ctx := context.Background()
		r := newPackedRig(t)
		files := &inodeFiles{of: map[string]inode{}, denied: r.path(denied)}
		tl := r.replaced(files)
		tl.drain(ctx)
		tl.step(ctx)
		require.NoError(t, tl.saveLast(ctx))
		require.NoError(t, tl.close(ctx))
		files.of[r.path("a/train.jsonl.1.gz")] = inode{7, 9}
		r.pack("a/train.jsonl.1.gz", packed(t, rows(0, 8)))
		tl = r.open()
		for i := range 4 {
			tl.later(ctx, goneFor+time.Duration(i)*time.Minute)
		}
		assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes", "it may give them")
		tl.later(ctx, 2*goneFor+time.Minute)
		require.NoError(t, tl.close(ctx))
		if denied != "" {
			r.telemetry(lost(len(rows(5, 3))))
			continue
		}
		assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes")
		assert.Len(t, r.sink.of("a/train.jsonl.1.gz"), 3)
	}
}

// TestAPackedFileThatCannotBeReadIsNotAwaitedOverEachRestart: the collector never runs for a day.
func TestAPackedFileThatCannotBeReadIsNotAwaitedOverEachRestart(t *testing.T) {
	t.Parallel()
	for _, denied := range []bool{false, true} {
		ctx := context.Background()
		r := newPackedRig(t)
		files := &inodeFiles{of: map[string]inode{}}
		tl := r.replaced(files)
		tl.drain(ctx)
		tl.step(ctx)
		const gz = "a/train.jsonl.1.gz"
		if files.of[r.path(gz)] = (inode{7, 9}); denied {
			files.denied = r.path(gz)
		} else {
			r.sink.set(refuseAll) // nobody knows yet what is in it
		}
		r.pack(gz, packed(t, rows(0, 8)))
		for life := range 5 {
			if tl = r.reopen(tl); !denied {
				tl.stalled.Store(maxStalled)
			}
			for i := range 2 + packedTries {
				tl.later(ctx, time.Duration(life)*goneFor/3+time.Duration(i)*time.Minute)
			}
			if life < 3 {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes", "it may give them")
			}
		}
		require.NoError(t, tl.close(ctx))
		if denied {
			r.telemetry(lost(len(rows(5, 3))))
		} else {
			assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes")
		}
	}
}

// TestMoreRewrittenFilesThanAreKept: what is unread of the oldest is lost, and told once, also when they come from the storage.
func TestMoreRewrittenFilesThanAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newPackedRig(t)
	tl := r.open()
	var ops []*storage.Operation
	for i := range maxRewritten + 2 {
		path := r.path(fmt.Sprintf("r%d/train.jsonl", i))
		was := mark{Path: path, Origin: path, Torn: noTorn, Unread: 10, GoneTime: time.Now().Add(-time.Duration(i) * time.Second).Unix()}
		ops = append(ops, storage.SetOperation(fileKey{dev: 1, ino: uint64(i + 1)}.storageKey(),
			encodeMark(mark{Path: path, Origin: path, Torn: noTorn, Offset: 1, Was: &was}, 0)))
	}
	require.NoError(t, tl.client.Batch(ctx, ops...))
	require.NoError(t, tl.close(ctx))
	for range 2 {
		tl = r.open()
		require.Len(t, tl.rewritten.all, maxRewritten)
		r.telemetry(lost(20))
		require.NoError(t, tl.saveLast(ctx))
		require.NoError(t, tl.close(ctx))
	}
}

// TestAFileWhoseInodeOrPathIsNoRegularFileNow: the receiver does not wait for who writes to a pipe, nor tries to read what is no file.
func TestAFileWhoseInodeOrPathIsNoRegularFileNow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, make := range map[string]func(path string) error{
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a socket": func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
	} {
		for _, identity := range []string{identityInode, identityPath} {
			for _, looks := range []bool{false, true} {
				t.Run(name+" "+identity, func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					r.cfg.Identity = identity
					files := &inodeFiles{of: map[string]inode{}}
					tl := r.behind(files, rows(0, 5), rows(5, 3))
					r.remove("a/train.jsonl")
					require.NoError(t, make(r.path("a/train.jsonl")))
					if !looks { // it comes between a look and the turn
						tl.enqueue(tl.list()[0])
						tl.drain(ctx)
					}
					for i := range 3 {
						tl.later(ctx, time.Duration(i)*time.Minute)
					}
					r.telemetry(lost(len(rows(5, 3))), `otelcol_train_jsonl_skipped_files{reason="not_regular",receiver="train_jsonl"} 1`)
					assert.NotContains(t, strings.Join(r.lines(), "\n"), "read_errors")
					r.remove("a/train.jsonl")
					files.of[r.path("a/train.jsonl")] = inode{2, 2}
					r.write("a/train.jsonl", rows(10, 2))
					for i := range 3 {
						tl.later(ctx, time.Duration(3+i)*time.Minute)
					}
					require.NoError(t, tl.close(ctx))
					assert.Len(t, r.sink.got(), 7)
				})
			}
		}
	}
}
