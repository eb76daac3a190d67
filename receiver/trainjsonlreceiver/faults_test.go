package trainjsonlreceiver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// countingFiles counts what is asked of the file system.
type countingFiles struct {
	fileSystem
	mu    sync.Mutex
	n     int // bytes read
	stats int
	opens int
}

func (c *countingFiles) Stat(name string) (fs.FileInfo, error) {
	c.mu.Lock()
	c.stats++
	c.mu.Unlock()
	return c.fileSystem.Stat(name)
}

func (c *countingFiles) Open(name string) (openFile, error) {
	c.mu.Lock()
	c.opens++
	c.mu.Unlock()
	f, err := c.fileSystem.Open(name)
	if err != nil {
		return nil, err
	}
	return &countingFile{openFile: f, to: c}, nil
}

func (c *countingFiles) read() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

type countingFile struct {
	openFile
	to *countingFiles
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.openFile.ReadAt(p, off)
	f.to.mu.Lock()
	defer f.to.mu.Unlock()
	f.to.n += n
	return n, err
}

// faultyFiles fails as it is told.
type faultyFiles struct {
	osFiles
	stat, open, read error
	short            int // bytes a read gives at most, 0 = all
}

func (f *faultyFiles) Stat(name string) (fs.FileInfo, error) {
	if f.stat != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: f.stat}
	}
	return f.osFiles.Stat(name)
}

func (f *faultyFiles) Open(name string) (openFile, error) {
	if f.open != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.open}
	}
	file, err := f.osFiles.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{openFile: file, from: f}, nil
}

type faultyFile struct {
	openFile
	from *faultyFiles
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if f.from.read != nil {
		return 0, f.from.read
	}
	if f.from.short > 0 && len(p) > f.from.short {
		n, err := f.openFile.ReadAt(p[:f.from.short], off)
		return n, errors.Join(err, syscall.EINTR)
	}
	return f.openFile.ReadAt(p, off)
}

func TestFilesThatCannotBeReadAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults faultyFiles
		metric string
	}{
		"no permission to open": {faultyFiles{open: fs.ErrPermission}, `read_errors{reason="permission"`},
		"stale handle":          {faultyFiles{open: syscall.ESTALE}, `read_errors{reason="stale"`},
		"stale while reading":   {faultyFiles{read: syscall.ESTALE}, `read_errors{reason="stale"`},
		"stale while looking":   {faultyFiles{stat: syscall.ESTALE}, `discovery_errors{reason="stale"`},
		"no access":             {faultyFiles{open: syscall.EACCES}, `read_errors{reason="permission"`},
		"broken disk at open":   {faultyFiles{open: syscall.EIO}, `read_errors{reason="io"`},
		"broken disk":           {faultyFiles{read: syscall.EIO}, `read_errors{reason="io"`},
		"short reads":           {faultyFiles{short: 10}, `read_errors{reason="io"`},
		"no permission to look": {faultyFiles{stat: fs.ErrPermission}, `discovery_errors{reason="permission"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRig(t)
			r.write("a/train.jsonl", rows(0, 5))
			tl := r.open()
			tl.step(ctx)
			faults := c.faults
			tl.handles.closeAll()
			tl.fs, tl.handles.fs = &faults, &faults
			r.append("a/train.jsonl", rows(5, 5))
			r.write("b/train.jsonl", rows(0, 1))
			tl.step(ctx)
			tl.step(ctx)
			assert.Len(t, r.sink.got(), 5)
			tl.fs, tl.handles.fs = osFiles{}, osFiles{}
			tl.handles.closeAll()
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, rowsAt(rows(0, 10), 0), r.sink.of("a/train.jsonl"))
			assert.Len(t, r.sink.of("b/train.jsonl"), 1)
			assert.Contains(t, strings.Join(componentcheck.FormatTelemetry(t, r.tel, "otelcol_train_jsonl_"), "\n"), c.metric)
		})
	}
}

func TestMissingPermissionForAllIsARecoverableStatus(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	tl := r.open()
	faults := &faultyFiles{open: fs.ErrPermission}
	tl.handles.fs = faults
	tl.step(ctx)
	tl.step(ctx)
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, r.host.Statuses())
	r.telemetry(`otelcol_train_jsonl_read_errors{reason="permission",receiver="train_jsonl"} 2`)
	assert.Equal(t, 1, r.logs.FilterMessageSnippet("Cannot read a file").Len(), "once a minute")
	faults.open = nil
	tl.step(ctx)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, r.host.Statuses())
	assert.Len(t, r.sink.got(), 5)
}

func TestAMissingFolderIsSaidOnceAMinuteAndFoundLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Include = []string{r.dir + "/later/*/*.jsonl"}
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(90 * time.Second)
		assert.Equal(t, 2, r.logs.FilterMessageSnippet("Cannot look for files").Len())
		r.write("later/a/train.jsonl", rows(0, 2))
		time.Sleep(6 * time.Second)
		r.stop()
	})
	assert.Len(t, r.sink.got(), 2)
	assert.Empty(t, r.host.Statuses())
}

func TestIdleFilesCostNoCheckpointsAndNoOpenFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		for i := range 100 {
			r.write("a/train"+string(rune('0'+i/10))+string(rune('0'+i%10))+".jsonl", rows(0, 3))
		}
		r.start()
		time.Sleep(10 * time.Second)
		assert.LessOrEqual(t, r.r.tailer.handles.count(), maxHandles)
		calls := len(r.host.Calls())
		time.Sleep(time.Minute)
		assert.Len(t, r.host.Calls(), calls, "the storage was touched while nothing changed")
		assert.Zero(t, r.r.tailer.handles.count())
		require.NoError(t, os.Chtimes(r.path("a/train00.jsonl"), time.Time{}, time.Unix(1, 0)))
		time.Sleep(4 * time.Second)
		assert.Len(t, r.host.Calls(), calls, "a file that was only touched was saved")
		r.append("a/train00.jsonl", rows(3, 1))
		time.Sleep(4 * time.Second)
		written := r.host.Calls()[calls:]
		require.Len(t, written, 1)
		assert.Len(t, written[0].Keys, 1, "only what changed is written")
		r.stop()
		r.start()
		time.Sleep(time.Minute)
		r.stop()
		for _, call := range r.host.Calls()[calls+1:] {
			assert.False(t, call.Writes, "a start wrote what it had read: %v", call.Op)
		}
	})
}

func TestAtMost64FilesAreOpen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	for i := range 100 {
		r.write(fmt.Sprintf("a/train%02d.jsonl", i), rows(0, 3))
	}
	tl := r.open()
	tl.step(ctx)
	assert.Equal(t, maxHandles, tl.handles.count())
	for i := range 100 { // those that were closed are opened again
		r.append(fmt.Sprintf("a/train%02d.jsonl", i), rows(3, 1))
	}
	tl.step(ctx)
	assert.Equal(t, maxHandles, tl.handles.count())
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 400)
}

// startOn runs the receiver's loops on another file system.
func (r *rig) startOn(files fileSystem) (stop func()) {
	tl := r.open()
	tl.fs, tl.handles.fs, tl.wait = files, files, componentkit.Wait
	ctx, cancel := context.WithCancel(context.Background())
	tl.start(ctx)
	return func() {
		cancel()
		<-tl.done
		require.NoError(r.t, tl.close(context.Background()))
	}
}

func TestIdleFilesAreLookedAtLessAndLess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		for i := range 100 {
			r.write(fmt.Sprintf("a/train%02d.jsonl", i), rows(0, 3))
		}
		files := &countingFiles{fileSystem: osFiles{}}
		stop := r.startOn(files)
		time.Sleep(10 * time.Second)
		files.mu.Lock()
		before, opens := files.stats, files.opens
		files.mu.Unlock()
		time.Sleep(time.Minute)
		files.mu.Lock()
		assert.LessOrEqual(t, files.stats-before, 100*31+300, "every 2 s, and the folder of the globs")
		assert.Equal(t, opens, files.opens, "an idle file was opened")
		files.mu.Unlock()
		stop()
	})
}

func TestAFileThatCannotBeReadIsTriedLessAndLess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 3))
		files := &countingFiles{fileSystem: &faultyFiles{open: fs.ErrPermission}}
		stop := r.startOn(files)
		time.Sleep(time.Minute)
		files.mu.Lock()
		assert.Greater(t, files.opens, 5)
		assert.Less(t, files.opens, 20)
		files.mu.Unlock()
		stop()
	})
}

func TestAFileIsRememberedForADay(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"less": 23 * time.Hour, "more": 25 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.PollInterval, r.cfg.CheckpointInterval = time.Minute, time.Minute
			synctest.Test(t, func(t *testing.T) {
				r.write("a/train.jsonl", rows(0, 5))
				r.start()
				time.Sleep(5 * time.Minute)
				r.rename("a/train.jsonl", "a/away")
				time.Sleep(10 * time.Minute)
				r.stop()
				r.start() // being gone outlives a restart
				time.Sleep(away)
				stored := len(r.host.Data("receiver_trainjsonl"))
				r.rename("a/away", "a/train.jsonl")
				time.Sleep(10 * time.Minute)
				r.stop()
				if name == "less" {
					assert.Equal(t, 1, stored)
					assert.Len(t, r.sink.got(), 5)
				} else {
					assert.Equal(t, 0, stored)
					assert.Len(t, r.sink.got(), 10)
				}
			})
		})
	}
}

func TestFailedCheckpointsAreWrittenLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 5))
		r.host.FailWrites(syscall.ENOSPC)
		r.start()
		time.Sleep(10 * time.Second)
		r.telemetry(`otelcol_train_jsonl_records{kind="record",receiver="train_jsonl"} 5`)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("Offsets were not saved").Len())
		r.host.FailWrites(nil)
		time.Sleep(2 * time.Second)
		r.host.Crash()
		_ = r.r.Shutdown(context.Background()) // the crashed client's error
		r.start()
		time.Sleep(2 * time.Second)
		r.stop()
		assert.Len(t, r.sink.got(), 5)
	})
}

// plainClient is a storage that cannot list its keys.
type plainClient struct{ storage.Client }

func TestAStorageThatCannotListIsAskedFileByFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	for range 2 {
		tl := r.open()
		clear(tl.streams)
		tl.client = plainClient{tl.client}
		tl.step(ctx)
		require.NoError(t, tl.save(ctx))
		require.NoError(t, tl.close(ctx))
	}
	assert.Len(t, r.sink.got(), 5)
	r.host.Fail(func(call componentcheck.StorageCall) error {
		if call.Op == "get" || call.Op == "batch" && !call.Writes {
			return syscall.EIO
		}
		return nil
	})
	tl := r.open()
	clear(tl.streams)
	tl.client = plainClient{tl.client}
	tl.step(ctx)
	assert.Len(t, r.sink.got(), 5, "a file whose checkpoint cannot be read waits")
	r.telemetry(`otelcol_train_jsonl_checkpoint_errors{reason="unreadable",receiver="train_jsonl"} 1`)
	r.host.Fail(nil)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 5)
}

func TestACheckpointThatCannotBeUsedReadsTheFileFromItsStart(t *testing.T) {
	t.Parallel()
	for reason, value := range map[string]string{
		"damaged": "damaged", "version": `{"v":99,"offset":1}`, "key": "",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRig(t)
			r.write("a/train.jsonl", rows(0, 5))
			tl := r.open()
			tl.step(ctx)
			require.NoError(t, tl.save(ctx))
			for key := range r.host.Data("receiver_trainjsonl") {
				if reason == "key" {
					require.NoError(t, tl.client.Delete(ctx, key))
					key, value = keyPrefix+"?", "{}"
				}
				require.NoError(t, tl.client.Set(ctx, key, []byte(value)))
			}
			require.NoError(t, tl.close(ctx))
			tl = r.open()
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Len(t, r.sink.got(), 10)
			assert.Equal(t, 1, r.logs.FilterMessageSnippet("Ignored a checkpoint").Len())
			r.telemetry(`otelcol_train_jsonl_checkpoint_errors{reason="` + reason + `",receiver="train_jsonl"} 1`)
		})
	}
}

func TestAFolderThatIncludeNamesIsToldOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.cfg.Include = []string{r.dir, filepath.Join(r.dir, "*", "*.jsonl")}
	require.NoError(t, os.Mkdir(r.path("folder.jsonl"), 0o700))
	r.write("a/train.jsonl", rows(0, 1))
	tl := r.open()
	for range 3 {
		tl.step(ctx)
		r.telemetry(`otelcol_train_jsonl_skipped_files{reason="not_regular",receiver="train_jsonl"} 1`)
	}
	told := r.logs.FilterMessageSnippet("a folder that include names").All()
	require.Len(t, told, 1)
	assert.Equal(t, filepath.Join(r.dir, "*", "train.jsonl"), told[0].ContextMap()["write"])
}

func TestWhatIsNoRegularFileIsCountedOnceAndLeftAlone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	require.NoError(t, syscall.Mkfifo(r.path("a/pipe.jsonl"), 0o600))
	require.NoError(t, os.Mkdir(r.path("a/folder.jsonl"), 0o700))
	r.write("a/train.jsonl", rows(0, 1))
	tl := r.open()
	skipped := func(n int) string {
		return fmt.Sprintf(`otelcol_train_jsonl_skipped_files{reason="not_regular",receiver="train_jsonl"} %d`, n)
	}
	for range 3 {
		tl.step(ctx)
		r.telemetry(skipped(1))
	}
	r.remove("a/pipe.jsonl")
	tl.step(ctx)
	require.NoError(t, syscall.Mkfifo(r.path("a/pipe.jsonl"), 0o600))
	tl.step(ctx)
	r.telemetry(skipped(2))
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 1)
	assert.Equal(t, 1, r.logs.FilterMessageSnippet("no regular file").Len(), "once a minute")
}
