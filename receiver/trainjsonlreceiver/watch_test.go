package trainjsonlreceiver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// told is a notifier that tells what a test says.
type told struct {
	mu       sync.Mutex
	folders  map[string]bool
	limit    int // of folders
	events   chan fsnotify.Event
	failures chan error
	closed   atomic.Bool
}

func newTold(limit int) *told {
	return &told{folders: map[string]bool{}, limit: limit, events: make(chan fsnotify.Event, 100), failures: make(chan error, 1)}
}

func (n *told) watching() (watching, error) {
	return watching{notifier: n, events: n.events, failures: n.failures}, nil
}

func (n *told) Add(folder string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.folders) >= n.limit {
		return errors.New("no space left on device")
	}
	n.folders[folder] = true
	return nil
}

func (n *told) Remove(folder string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.folders, folder)
	return nil
}

func (n *told) Close() error {
	n.closed.Store(true)
	return nil
}

func TestWhatTheSystemTellsIsLookedAtAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	files := &countingFiles{fileSystem: osFiles{}}
	r.files = files
	synctest.Test(t, func(t *testing.T) {
		n := newTold(100)
		r.notify = n.watching
		for i := range 100 {
			r.write(fmt.Sprintf("run%02d/train.jsonl", i), rows(0, 3))
		}
		n.limit = 101
		r.start()
		time.Sleep(2 * time.Minute)
		files.mu.Lock()
		before := files.stats
		files.mu.Unlock()
		time.Sleep(2 * time.Minute)
		files.mu.Lock()
		assert.LessOrEqual(t, files.stats-before, 100*13+500, "every 10 s, and three searches")
		files.mu.Unlock()
		r.append("run07/train.jsonl", rows(3, 1))
		n.events <- fsnotify.Event{Name: r.path("run07/train.jsonl"), Op: fsnotify.Write}
		time.Sleep(time.Second)
		assert.Len(t, r.sink.of("run07/train.jsonl"), 4)
		r.write("new/train.jsonl", rows(0, 2))
		n.events <- fsnotify.Event{Name: r.dir + "/new", Op: fsnotify.Create}
		time.Sleep(2 * time.Second)
		assert.Len(t, r.sink.of("new/train.jsonl"), 2)
		r.append("run08/train.jsonl", rows(3, 1)) // nothing tells of it
		r.write("quiet/train.jsonl", rows(0, 2))
		time.Sleep(11 * time.Second)
		assert.Len(t, r.sink.of("run08/train.jsonl"), 4, "polling goes on")
		time.Sleep(time.Minute)
		assert.Len(t, r.sink.of("quiet/train.jsonl"), 2, "so does the search")
		r.append("run09/train.jsonl", rows(3, 1))
		n.failures <- fsnotify.ErrEventOverflow
		time.Sleep(time.Second)
		assert.Len(t, r.sink.of("run09/train.jsonl"), 4, "lost events cost a look at all")
		r.stop()
		assert.True(t, n.closed.Load())
		r.telemetry(`otelcol_train_jsonl_watch_limits{reason="limit",receiver="train_jsonl"} 1`)
	})
}

func TestAFileMadeAnewWhereOneIsGoneIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		n := newTold(100)
		r.notify = n.watching
		r.write("a/train.jsonl", rows(0, 3))
		r.start()
		time.Sleep(10 * time.Second)
		r.remove("a/train.jsonl")
		n.events <- fsnotify.Event{Name: r.path("a/train.jsonl"), Op: fsnotify.Remove}
		time.Sleep(10 * time.Second)
		r.write("a/train.jsonl", rows(3, 2))
		n.events <- fsnotify.Event{Name: r.path("a/train.jsonl"), Op: fsnotify.Create}
		time.Sleep(6 * time.Second)
		assert.Len(t, r.sink.got(), 5)
		r.stop()
	})
}

func TestWithoutNotificationsPollingAloneServes(t *testing.T) {
	t.Parallel()
	for reason, notify := range map[string]func() (watching, error){
		"unavailable": func() (watching, error) { return watching{}, errors.New("too many open files") },
		"limit":       newTold(0).watching,
		"remote":      newTold(100).watching,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a/train.jsonl", rows(0, 3))
			synctest.Test(t, func(t *testing.T) {
				r.notify = notify
				if reason == "limit" {
					r.notify = newTold(0).watching
				}
				if reason == "remote" {
					r.notify = newTold(100).watching
					r.local = func(string) bool { return false }
				}
				r.start()
				time.Sleep(time.Minute)
				r.append("a/train.jsonl", rows(3, 1))
				r.write("b/train.jsonl", rows(0, 1))
				time.Sleep(6 * time.Second)
				r.stop()
				assert.Len(t, r.sink.got(), 5)
				r.telemetry(`otelcol_train_jsonl_watch_limits{reason="` + reason + `",receiver="train_jsonl"} 1`)
				assert.Equal(t, 1, r.logs.FilterMessageSnippet("polled").Len(), "said once")
			})
		})
	}
}

func TestTheOperatingSystemTellsOfFilesAndFolders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.notify, r.local = watchFiles, func(string) bool { return true }
	r.write("a/train.jsonl", rows(0, 3))
	r.start()
	defer func() { r.stop() }()
	require.Eventually(t, func() bool { return len(r.sink.got()) == 3 }, time.Minute, time.Millisecond)
	for i := range 100 { // a burst of new runs
		r.write(fmt.Sprintf("new%02d/train.jsonl", i), rows(0, 2))
	}
	require.Eventually(t, func() bool { return len(r.sink.got()) == 203 }, time.Minute, 5*time.Millisecond)
	require.NoError(t, os.RemoveAll(r.path("new00")))
	require.NoError(t, os.Rename(r.dir+"/new01", r.dir+"/moved"))
	r.append("moved/train.jsonl", rows(2, 1))
	require.Eventually(t, func() bool { return len(r.sink.got()) == 204 }, time.Minute, 5*time.Millisecond)
}

func TestLocalFileSystemsAreKnown(t *testing.T) {
	t.Parallel()
	assert.False(t, isLocal("/proc"), "what is there changes without a word")
	assert.False(t, isLocal("/does/not/exist"))
}

// TestAFolderThatWentAwayIsNotTakenForOneOfAnotherHost: a search lists a folder that is removed meanwhile, and made anew later.
func TestAFolderThatWentAwayIsNotTakenForOneOfAnotherHost(t *testing.T) {
	t.Parallel()
	var refused []string
	w := watch{notifier: newTold(9), local: isLocal, fs: osFiles{}, logger: zap.NewNop(), refused: func(reason string) { refused = append(refused, reason) }}
	folder := filepath.Join(t.TempDir(), "run")
	w.folder(folder)
	assert.False(t, w.folders[folder])
	require.NoError(t, os.Mkdir(folder, 0o700))
	w.folder(folder)
	assert.True(t, w.folders[folder])
	assert.Empty(t, refused)
}
