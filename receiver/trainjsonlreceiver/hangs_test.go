package trainjsonlreceiver

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hangingFiles does not answer about some paths until it is told to.
type hangingFiles struct {
	osFiles

	mu     sync.Mutex
	answer chan struct{}
	hangs  func(op, path string) bool
}

func newHangingFiles(hangs func(op, path string) bool) *hangingFiles {
	return &hangingFiles{hangs: hangs}
}

func (f *hangingFiles) wait(op, path string) {
	f.mu.Lock()
	hangs := f.hangs(op, path)
	f.mu.Unlock()
	if hangs {
		<-f.answer
	}
}

// inBubble belongs to the clock of the test.
func (f *hangingFiles) inBubble() { f.answer = make(chan struct{}) }

// recover lets everything be answered.
func (f *hangingFiles) recover() {
	f.mu.Lock()
	f.hangs = func(string, string) bool { return false }
	f.mu.Unlock()
	close(f.answer)
}

func (f *hangingFiles) Stat(name string) (fs.FileInfo, error) {
	f.wait("stat", name)
	return f.osFiles.Stat(name)
}

func (f *hangingFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	f.wait("list", name)
	return f.osFiles.ReadDir(name)
}

func (f *hangingFiles) Resolve(name string) (string, error) {
	f.wait("resolve", name)
	return f.osFiles.Resolve(name)
}

func (f *hangingFiles) Open(name string) (openFile, error) {
	f.wait("open", name)
	file, err := f.osFiles.Open(name)
	if err != nil {
		return nil, err
	}
	return hangingFile{file, f, name}, nil
}

type hangingFile struct {
	openFile
	from *hangingFiles
	name string
}

func (h hangingFile) ReadAt(p []byte, off int64) (int, error) {
	h.from.wait("read", h.name)
	return h.openFile.ReadAt(p, off)
}

func (h hangingFile) Close() error {
	h.from.wait("close", h.name)
	return h.openFile.Close()
}

// TestAFileSystemThatDoesNotAnswerHoldsUpItsOwnFilesOnly hangs one kind of call on one file and looks at all that must
// go on: other files, new files, checkpoints, and the end of the receiver.
func TestAFileSystemThatDoesNotAnswerHoldsUpItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"stat", "list", "resolve", "open", "read", "close"} {
		for _, when := range []string{"from the start", "once it is known"} {
			t.Run(op+" "+when, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				hanging := when == "from the start"
				files := newHangingFiles(func(o, path string) bool {
					return o == op && hanging && strings.Contains(path, "/bad") && (strings.HasSuffix(path, ".jsonl") || o == "list")
				})
				r.files = files
				synctest.Test(t, func(t *testing.T) { r.hangOne(t, files, &hanging) })
			})
		}
	}
}

func (r *rig) hangOne(t *testing.T, files *hangingFiles, hanging *bool) {
	t.Helper()
	r.write("bad/train.jsonl", rows(0, 5))
	r.write("good/train.jsonl", rows(0, 5))
	files.inBubble()
	r.start()
	time.Sleep(7 * time.Second)
	files.mu.Lock()
	*hanging = true
	files.mu.Unlock()
	r.append("bad/train.jsonl", rows(5, 1))
	time.Sleep(7 * time.Second)
	r.append("good/train.jsonl", rows(5, 5))
	r.write("new/train.jsonl", rows(0, 3))
	time.Sleep(15 * time.Second)
	assert.Len(t, r.sink.of("good/train.jsonl"), 10)
	assert.Len(t, r.sink.of("new/train.jsonl"), 3)
	saved := 0
	for _, call := range r.host.Calls() {
		if call.Writes {
			saved++
		}
	}
	assert.GreaterOrEqual(t, saved, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	began := time.Now()
	require.NoError(t, r.r.Shutdown(ctx))
	assert.LessOrEqual(t, time.Since(began), 2*time.Second)
	delivered := len(r.sink.got())
	files.recover()
	synctest.Wait()
	time.Sleep(time.Second)
	assert.Len(t, r.sink.got(), delivered, "nothing is delivered after the end")
	r.start()
	time.Sleep(20 * time.Second)
	r.stop()
	assert.Len(t, r.sink.of("bad/train.jsonl"), 6, "nothing is lost or repeated")
}

func TestAFileThatAnswersAgainGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hanging := false
	files := newHangingFiles(func(op, path string) bool {
		return hanging && strings.Contains(path, "/bad") && (op == "stat" || op == "read")
	})
	r.files = files
	synctest.Test(t, func(t *testing.T) {
		files.inBubble()
		r.write("bad/train.jsonl", rows(0, 5))
		r.start()
		time.Sleep(time.Second)
		files.mu.Lock()
		hanging = true
		files.mu.Unlock()
		r.append("bad/train.jsonl", rows(5, 5))
		time.Sleep(time.Minute)
		assert.Len(t, r.sink.got(), 5)
		r.telemetry(`otelcol_train_jsonl_hung_calls{receiver="train_jsonl"} 1`,
			`otelcol_train_jsonl_streams{receiver="train_jsonl",state="blocked"} 1`,
			`otelcol_train_jsonl_read_errors{reason="hung",receiver="train_jsonl"} 1`)
		files.recover()
		time.Sleep(5 * time.Second)
		assert.Len(t, r.sink.got(), 10)
		r.telemetry(`otelcol_train_jsonl_hung_calls{receiver="train_jsonl"} 0`,
			`otelcol_train_jsonl_streams{receiver="train_jsonl",state="growing"} 1`)
		r.stop()
	})
}

func TestWhatHangsIsBounded(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"stat", "open", "list"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			hanging := false
			files := newHangingFiles(func(o, path string) bool { return hanging && o == op && strings.Contains(path, "/bad") })
			r.files = files
			synctest.Test(t, func(t *testing.T) {
				files.inBubble()
				for i := range 100 {
					r.write(fmt.Sprintf("bad%02d/train.jsonl", i), rows(0, 1))
				}
				r.start()
				time.Sleep(10 * time.Second)
				files.mu.Lock()
				hanging = true
				files.mu.Unlock()
				for i := range 100 {
					r.append(fmt.Sprintf("bad%02d/train.jsonl", i), rows(1, 1))
				}
				time.Sleep(2 * time.Minute)
				r.write("good/train.jsonl", rows(0, 3))
				hung := r.r.tailer.hangs.count()
				assert.Positive(t, hung)
				assert.LessOrEqual(t, hung, maxHangDevice+maxLookers)
				files.recover()
				time.Sleep(time.Minute)
				r.stop()
				assert.Len(t, r.sink.got(), 203)
			})
		})
	}
}

func TestMoreHangsThanReadersHoldUpNoOther(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"stat", "open", "read"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			files := newHangingFiles(func(o, path string) bool { return o == op && strings.Contains(path, "/bad") })
			r.files = files
			synctest.Test(t, func(t *testing.T) {
				files.inBubble()
				for i := range maxHangDevice - 6 {
					r.write(fmt.Sprintf("bad%d/train.jsonl", i), rows(0, 1))
				}
				r.start()
				time.Sleep(time.Minute)
				r.write("good/train.jsonl", rows(0, 3))
				time.Sleep(20 * time.Second)
				assert.Len(t, r.sink.of("good/train.jsonl"), 3)
				files.recover()
				time.Sleep(20 * time.Second)
				r.stop()
				assert.Len(t, r.sink.got(), 3+maxHangDevice-6)
			})
		})
	}
}
