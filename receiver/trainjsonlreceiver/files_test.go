package trainjsonlreceiver

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seconds gives rows whose first bytes are all the same.
func sameHead(n, first int) string { return strings.Repeat(rows(0, 1), 20) + rows(first, n) }

func TestFilesWithEqualHeadsAreTwoFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	first, second := sameHead(6, 100), sameHead(8, 200)
	r.write("m/train.jsonl", first)
	tl := r.open()
	tl.step(ctx)
	r.write("a/train.jsonl", second) // sorts before the other
	tl.step(ctx)
	r.append("m/train.jsonl", rows(300, 2))
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.of("m/train.jsonl"), 20+6+2)
	assert.Len(t, r.sink.of("a/train.jsonl"), 20+8)
	assert.Equal(t, offsetsOf(second), offsetsOfGot(r.sink.of("a/train.jsonl")))
}

func TestEqualFirstMegabytesAreTwoFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	text := rows(0, 20_000)
	r.write("a/train.jsonl", text)
	r.write("b/train.jsonl", text+rows(1, 1))
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.of("a/train.jsonl"), 20_000)
	assert.Len(t, r.sink.of("b/train.jsonl"), 20_001)
}

func TestRewrittenFilesAreReadFromTheirStart(t *testing.T) {
	t.Parallel()
	old := sameHead(50, 100)
	for name, c := range map[string]struct{ text, reason string }{
		"shorter, same head":      {sameHead(11, 900), rewriteShorter},
		"longer, same head":       {sameHead(81, 900), rewriteChanged},
		"longer, other head":      {rows(500, 200), rewriteChanged},
		"same size, other values": {strings.ReplaceAll(old, `"step":1`, `"step":2`), rewriteChanged},
		"emptied and written":     {rows(0, 1), rewriteShorter},
		"same size, other head":   {strings.Replace(old, `"i":0,`, `"i":1,`, 1), rewriteChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRig(t)
			r.write("a/train.jsonl", old)
			tl := r.open()
			tl.step(ctx)
			before := len(r.sink.got())
			r.write("a/train.jsonl", c.text) // truncates in place
			tl.step(ctx)
			assert.Equal(t, offsetsOf(c.text), offsetsOfGot(r.sink.of("a/train.jsonl")[before:]))
			r.telemetry(`otelcol_train_jsonl_rewrites{reason="` + c.reason + `",receiver="train_jsonl"} 1`)
			require.NoError(t, tl.save(ctx))
			require.NoError(t, tl.close(ctx))
			tl = r.open()
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Len(t, r.sink.got(), before+strings.Count(c.text, "\n"), "a restart repeats nothing")
		})
	}
}

func TestRewriteWhileTheReceiverIsDownIsSeen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", sameHead(50, 100))
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.save(ctx))
	require.NoError(t, tl.close(ctx))
	text := sameHead(80, 500)
	r.write("a/train.jsonl", text)
	tl = r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, offsetsOf(text), offsetsOfGot(r.sink.of("a/train.jsonl")[70:]))
}

func TestRenameKeepsOffsetAndRun(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"running": false, "while down": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRig(t)
			r.write("a/train.jsonl", rows(0, 10))
			tl := r.open()
			tl.step(ctx)
			if down {
				require.NoError(t, tl.save(ctx))
				require.NoError(t, tl.close(ctx))
			}
			r.rename("a/train.jsonl", "b/done.jsonl")
			r.append("b/done.jsonl", rows(10, 2))
			if down {
				tl = r.open()
			}
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			all := r.sink.got()
			require.Len(t, all, 12)
			assert.Equal(t, "b/done.jsonl", all[11].path)
			assert.Equal(t, "a", all[11].run, "the run is that of the first path")
			r.telemetry(`otelcol_train_jsonl_records{kind="record",receiver="train_jsonl"} 12`)
		})
	}
}

func TestRotationReadsTheRestOfTheOldFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 4))
	tl := r.open()
	tl.step(ctx)
	r.append("a/train.jsonl", rows(4, 4))
	r.rename("a/train.jsonl", "a/train.jsonl.1") // out of the glob
	r.write("a/train.jsonl", rows(100, 3))
	tl.step(ctx)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.ElementsMatch(t, append(rowsAt(rows(0, 8), 0), rowsAt(rows(100, 3), 100)...), r.sink.of("a/train.jsonl"))
}

func TestWhatIsAppendedAroundADeletionIsRead(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 4))
	tl := r.open()
	tl.step(ctx)
	writer, err := os.OpenFile(r.path("a/train.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer writer.Close()
	r.append("a/train.jsonl", rows(4, 4))
	require.NoError(t, os.RemoveAll(r.path("a")))
	tl.step(ctx)
	_, err = writer.WriteString(rows(8, 2)) // the trainer has it open still
	require.NoError(t, err)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, rowsAt(rows(0, 10), 0), r.sink.of("a/train.jsonl"))
}

// bornFiles gives every file the same birth time and the same inode: kernels give that of a deleted file to the next, or not.
type bornFiles struct {
	osFiles
	born int64
}

func (b *bornFiles) Stat(name string) (fs.FileInfo, error) {
	fi, err := b.osFiles.Stat(name)
	if err != nil {
		return nil, err
	}
	return oneInode{fi}, nil
}

// oneInode is the information of the only file there is.
type oneInode struct{ fs.FileInfo }

func (oneInode) Sys() any { return &syscall.Stat_t{Dev: 1, Ino: 1} }

func (b *bornFiles) Open(name string) (openFile, error) {
	f, err := b.osFiles.Open(name)
	if err != nil {
		return nil, err
	}
	return bornFile{f, b.born}, nil
}

func (b *bornFiles) Born(string) int64 { return b.born }

type bornFile struct {
	openFile
	born int64
}

func (f bornFile) Born() int64 { return f.born }

func (f bornFile) Stat() (fs.FileInfo, error) {
	fi, err := f.openFile.Stat()
	if err != nil {
		return nil, err
	}
	return oneInode{fi}, nil
}

func TestDeletedAndMadeAnewIsANewFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	text := rows(0, 10)
	files := &bornFiles{}
	r.files = files
	tl := r.open()
	for range 3 { // longer each time, the same first bytes
		files.born++
		r.write("a/train.jsonl", text)
		tl.step(ctx)
		tl.handles.closeAll()
		r.remove("a/train.jsonl")
		text += rows(50, 1)
	}
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 10+11+12)
	r.telemetry(`otelcol_train_jsonl_rewrites{reason="replaced",receiver="train_jsonl"} 2`)
}

func TestBirthTimeIsKnownOnLinux(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", "")
	f, err := osFiles{}.Open(r.path("a/train.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	if f.Born() == 0 {
		t.Skip("this file system keeps no birth times")
	}
	assert.WithinDuration(t, time.Now(), time.Unix(0, f.Born()), time.Minute)
}

func TestAFileAwayForAWhileGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 10))
	tl := r.open()
	tl.step(ctx)
	r.rename("a/train.jsonl", "a/away")
	for range 8 {
		tl.step(ctx)
	}
	r.append("a/away", rows(10, 1))
	r.rename("a/away", "a/train.jsonl")
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, rowsAt(rows(0, 11), 0), r.sink.of("a/train.jsonl"))
}

func TestSymbolicLinks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.cfg.Include = []string{r.path("links/*.jsonl")}
	r.write("a/one", rows(0, 5))
	r.write("a/two", rows(100, 5))
	require.NoError(t, os.Symlink(r.path("a/one"), r.path("links/x.jsonl")))
	require.NoError(t, os.Symlink(r.path("a/one"), r.path("links/y.jsonl")))
	tl := r.open()
	tl.step(ctx)
	assert.Len(t, r.sink.got(), 5, "two names of one file are one file")
	require.NoError(t, os.Remove(r.path("links/x.jsonl")))
	require.NoError(t, os.Symlink(r.path("a/two"), r.path("links/x.jsonl")))
	r.append("a/one", rows(5, 1))
	tl.step(ctx)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, append(rowsAt(rows(0, 5), 0), rowsAt(rows(100, 5), 100)...), r.sink.of("x.jsonl")[:10])
	assert.Len(t, r.sink.got(), 11, "the target goes on under its other name")
}

func TestEqualLinesKeepTheirIdentityOverAReread(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 20))
	for range 2 { // without checkpoint
		tl := r.open()
		tl.step(ctx)
		require.NoError(t, tl.close(ctx))
	}
	all := r.sink.got()
	require.Len(t, all, 40)
	for i := range 20 {
		assert.Equal(t, all[i].uid, all[i+20].uid)
		assert.NotEmpty(t, all[i].uid)
	}
}

// offsetsOf gives "@offset" of the lines of a text.
func offsetsOf(text string) []string { return offsetsOfGot(rowsAt(text, 0)) }

func offsetsOfGot(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i], _, _ = strings.Cut(l, " ")
	}
	return out
}

// renamedWhileLookedAt renames a file, and has another look find it, while a look at its old name is under way.
type renamedWhileLookedAt struct {
	osFiles
	path  string
	found func()
	done  atomic.Bool
}

func (f *renamedWhileLookedAt) Stat(name string) (fs.FileInfo, error) {
	if name == f.path && f.done.CompareAndSwap(false, true) {
		f.found()
	}
	return f.osFiles.Stat(name)
}

func TestALookAtAnOldNameDoesNotTakeAwayTheNewOne(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 3))
	tl := r.open()
	tl.step(ctx)
	var s *stream
	for _, known := range tl.streams {
		s = known
	}
	require.NotNil(t, s)
	now := time.Now()
	tl.fs = &renamedWhileLookedAt{path: r.path("a/train.jsonl"), found: func() {
		r.rename("a/train.jsonl", "a/moved.jsonl")
		tl.admit(ctx, tl.globs.namer(osFiles{}).name(r.path("a/moved.jsonl")), now)
	}}
	tl.look(ctx, s, now)
	m, _ := s.get()
	assert.Equal(t, r.path("a/moved.jsonl"), m.Path)
	assert.False(t, s.gone, "the file is there under its new name")
	require.NoError(t, tl.close(ctx))
}
