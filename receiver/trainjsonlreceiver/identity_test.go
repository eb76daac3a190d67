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
)

// mountedFiles are on a device whose number, and whose inodes, are not what they were.
type mountedFiles struct {
	osFiles
	device uint64
	inodes uint64 // added to each
}

type mountedInfo struct {
	fs.FileInfo
	sys syscall.Stat_t
}

func (i mountedInfo) Sys() any { return &i.sys }

func (m *mountedFiles) info(fi fs.FileInfo, err error) (fs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	out := mountedInfo{FileInfo: fi, sys: *fi.Sys().(*syscall.Stat_t)}
	out.sys.Dev += m.device
	out.sys.Ino += m.inodes
	return out, nil
}

func (m *mountedFiles) Stat(name string) (fs.FileInfo, error) { return m.info(m.osFiles.Stat(name)) }

func (m *mountedFiles) Open(name string) (openFile, error) {
	f, err := m.osFiles.Open(name)
	if err != nil {
		return nil, err
	}
	return mountedFile{f, m}, nil
}

type mountedFile struct {
	openFile
	from *mountedFiles
}

func (f mountedFile) Stat() (fs.FileInfo, error) { return f.from.info(f.openFile.Stat()) }

// openOn makes a tailer on another file system.
func (r *rig) openOn(files fileSystem) *tailer {
	tl := r.open()
	tl.fs, tl.handles.fs = files, files
	return tl
}

func TestADeviceWithAnotherNumberIsTheSameDevice(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprintf("running=%v", running), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a/train.jsonl", rows(0, 5))
			files := &mountedFiles{}
			tl := r.openOn(files)
			tl.step(ctx)
			if !running {
				require.NoError(t, tl.save(ctx))
				require.NoError(t, tl.close(ctx))
				tl = r.openOn(files)
			}
			files.device = 7
			tl.handles.closeAll()
			r.append("a/train.jsonl", rows(5, 2))
			tl.step(ctx)
			tl.step(ctx)
			require.NoError(t, tl.save(ctx))
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, rowsAt(rows(0, 7), 0), r.sink.of("a/train.jsonl"))
			assert.Len(t, r.host.Data("receiver_trainjsonl"), 1, "the old key is gone")
		})
	}
}

func TestIdentityByPathNeedsNoInodes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.cfg.Identity = identityPath
	r.write("a/train.jsonl", rows(0, 5))
	files := &mountedFiles{}
	for i := range 6 { // each look finds other numbers, over restarts too
		tl := r.openOn(files)
		tl.step(ctx)
		files.inodes, files.device = files.inodes+100, files.device+1
		r.append("a/train.jsonl", rows(5+i, 1))
		tl.step(ctx)
		tl.step(ctx)
		require.NoError(t, tl.saveLast(ctx))
		require.NoError(t, tl.close(ctx))
	}
	assert.Equal(t, rowsAt(rows(0, 11), 0), r.sink.of("a/train.jsonl"))
	assert.Len(t, r.host.Data("receiver_trainjsonl"), 1)
}

func TestIdentityByPathSeesWhatHappensToAPath(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	old := sameHead(50, 100)
	for name, c := range map[string]struct {
		change func(r *rig)
		reason string
		more   string // of the old file, before the new one
		then   string // the new text, "" = nothing is read anew
	}{
		"appended":           {func(r *rig) { r.append("a/train.jsonl", rows(900, 2)) }, "", rows(900, 2), ""},
		"shorter":            {func(r *rig) { r.write("a/train.jsonl", sameHead(11, 900)) }, rewriteShorter, "", sameHead(11, 900)},
		"longer":             {func(r *rig) { r.write("a/train.jsonl", sameHead(81, 900)) }, rewriteChanged, "", sameHead(81, 900)},
		"deleted, made anew": {func(r *rig) { r.remove("a/train.jsonl"); r.write("a/train.jsonl", rows(0, 3)) }, rewriteShorter, "", rows(0, 3)},
		"rotated": {func(r *rig) {
			r.append("a/train.jsonl", rows(800, 3)) // the open file has them still
			r.rename("a/train.jsonl", "a/train.jsonl.1")
			r.write("a/train.jsonl", rows(0, 4))
		}, rewriteShorter, rows(800, 3), rows(0, 4)},
		"renamed":           {func(r *rig) { r.rename("a/train.jsonl", "a/other.jsonl") }, rewriteRenamed, "", old},
		"another elsewhere": {func(r *rig) { r.remove("a/train.jsonl"); r.write("a/other.jsonl", sameHead(60, 900)) }, "", "", sameHead(60, 900)},
		"two names":         {func(r *rig) { require.NoError(r.t, os.Link(r.path("a/train.jsonl"), r.path("a/other.jsonl"))) }, "", "", old},
		"rotated within the globs": {func(r *rig) {
			r.rename("a/train.jsonl", "a/other.jsonl")
			r.write("a/train.jsonl", rows(0, 4))
		}, rewriteRenamed, "", old + rows(0, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Identity = identityPath
			r.write("a/train.jsonl", old)
			tl := r.open()
			tl.step(ctx)
			before := len(r.sink.got())
			c.change(r)
			tl.step(ctx)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Len(t, r.sink.got(), before+strings.Count(c.more, "\n")+strings.Count(c.then, "\n"))
			if c.reason != "" {
				r.telemetry(`otelcol_train_jsonl_rewrites{reason="` + c.reason + `",receiver="train_jsonl"} 1`)
			}
			if c.reason != rewriteRenamed {
				assert.NotContains(t, strings.Join(r.lines(), " "), rewriteRenamed)
			}
		})
	}
}

func TestAnotherIdentityGoesOnWhereTheFirstWas(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	for i, identity := range []string{identityInode, identityPath, identityInode} {
		r.cfg.Identity = identity
		tl := r.open()
		r.append("a/train.jsonl", rows(5+i, 1))
		tl.step(ctx)
		require.NoError(t, tl.save(ctx))
		require.NoError(t, tl.close(ctx))
	}
	assert.Equal(t, rowsAt(rows(0, 8), 0), r.sink.of("a/train.jsonl"))
	assert.Len(t, r.host.Data("receiver_trainjsonl"), 1)
}

func TestBytesCutOffBeforeTheyWereReadAreLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 50))
	tl := r.open()
	tl.step(ctx)
	r.append("a/train.jsonl", rows(50, 5))
	tl.poll(ctx, time.Now().Add(time.Minute)) // sees them, and reads nothing
	r.write("a/train.jsonl", rows(0, 1))      // copytruncate
	tl.step(ctx)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 51)
	r.telemetry(lost(len(rows(50, 5))), `otelcol_train_jsonl_rewrites{reason="shorter",receiver="train_jsonl"} 1`)
}

// TestBytesCutOffAFileThatIsNotWrittenAnewAreLost: it is as it was, up to the offset. What a turn has looked at, as a trainer cuts half a line
// off that it left, is not.
func TestBytesCutOffAFileThatIsNotWrittenAnewAreLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		read, seen string // the latter before it is cut
		left       string
		grows      string // before the next turn
		lost       int
	}{
		"all":                     {"", rows(0, 3), "", "", len(rows(0, 3))},
		"all, and it is as long":  {"", rows(0, 3), "", rows(3, 3), 0},
		"all, and it is shorter":  {"", rows(0, 3), "", rows(3, 2), len(rows(0, 1))},
		"the unread lines":        {rows(0, 5), rows(5, 3), rows(0, 5), "", len(rows(5, 3))},
		"some of them":            {rows(0, 5), rows(5, 3), rows(0, 6), "", len(rows(6, 2))},
		"and it grows":            {rows(0, 5), rows(5, 3), rows(0, 6), rows(10, 1), len(rows(6, 2)) - len(rows(10, 1))}, // as far as it did not grow
		"half a line":             {rows(0, 5) + half, "", rows(0, 5), "", 0},
		"half a line, and unread": {rows(0, 5) + half, half, rows(0, 5), "", len(half)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a/train.jsonl", c.read)
			tl := r.open()
			tl.step(ctx)
			r.append("a/train.jsonl", c.seen)
			tl.looks(ctx)
			r.write("a/train.jsonl", c.left)
			tl.looks(ctx)
			r.append("a/train.jsonl", c.grows)
			tl.step(ctx)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Len(t, r.sink.got(), strings.Count(c.left+c.grows, "\n"))
			if c.lost > 0 {
				r.telemetry(lost(c.lost))
			} else {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes")
			}
			assert.NotContains(t, strings.Join(r.lines(), "\n"), "rewrites")
		})
	}
}

func TestAFileThatWentAwayWhileTheCollectorWasDownIsTold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	end := `{"ts":1790000000,"event":"run.end","body":{"outcome":"success"}}` + "\n"
	for name, c := range map[string]struct {
		text     string
		unread   string
		vanished int
	}{
		"with a backlog": {rows(0, 5), rows(5, 3), 1},
		"read":           {rows(0, 5), "", 1},
		"ended":          {rows(0, 5) + end, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a/train.jsonl", c.text)
			tl := r.open()
			tl.step(ctx)
			require.NoError(t, tl.save(ctx))
			r.append("a/train.jsonl", c.unread)
			tl.poll(ctx, time.Now().Add(time.Minute))
			require.NoError(t, tl.saveLast(ctx))
			require.NoError(t, tl.close(ctx))
			r.remove("a/train.jsonl")
			tl = r.open()
			for i := range 4 {
				tl.later(ctx, time.Duration(i)*time.Minute)
			}
			require.NoError(t, tl.saveLast(ctx))
			require.NoError(t, tl.close(ctx))
			if c.vanished > 0 {
				r.telemetry(fmt.Sprintf(`otelcol_train_jsonl_vanished_files{receiver="train_jsonl"} %d`, c.vanished))
			} else {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), "vanished")
			}
			if c.unread != "" {
				r.telemetry(lost(len(c.unread)))
			} else {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes")
			}
			tl = r.open() // told once
			for i := range 4 {
				tl.later(ctx, time.Duration(i)*time.Minute)
			}
			require.NoError(t, tl.close(ctx))
			if c.unread != "" {
				r.telemetry(lost(len(c.unread)))
			}
		})
	}
}

func TestTheRecordsNameTheirFileAsAsked(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.cfg.IncludeFileName, r.cfg.IncludeFilePath = true, false
	r.write("a/train.jsonl", rows(0, 1))
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	attrs := r.sink.logs[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
	name, _ := attrs.Get("log.file.name")
	assert.Equal(t, "train.jsonl", name.AsString())
	_, ok := attrs.Get("log.file.path")
	assert.False(t, ok)
}
