package trainjsonlreceiver

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"
)

const (
	// searchPatience is how long a search waits for one answer of a file system.
	searchPatience = 5 * time.Second
	// maxDetours is how many places at a time searches go around, maxBranches how many of one folder.
	maxDetours  = 16
	maxBranches = 4
)

// searchDevice stands for that of a search, which is on many.
const searchDevice = math.MaxUint64

// errHung says that a file system does not answer.
var errHung = errors.New("the file system does not answer")

// detours are the places that hang a search, until they answer.
type detours struct {
	mu   sync.Mutex
	hung map[string]bool
	// slow are places that answered after their time: they are given more.
	slow map[string]time.Duration
}

// around says whether a place is to be left out: it hangs, or most of what is beside it does.
func (d *detours) around(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.hung) == 0 {
		return false
	}
	if d.hung[path] {
		return true
	}
	beside := 0
	for other := range d.hung {
		if filepath.Dir(other) == filepath.Dir(path) {
			beside++
		}
	}
	return beside >= maxBranches
}

// add notes that a place hangs, and answers false when there are too many.
func (d *detours) add(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.hung) >= maxDetours {
		return false
	}
	if d.hung == nil {
		d.hung = map[string]bool{}
	}
	d.hung[path] = true
	return true
}

// answered notes that a place answers again, and after what time.
func (d *detours) answered(path string, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.hung, path)
	if d.slow == nil || len(d.slow) >= maxDetours {
		d.slow = map[string]time.Duration{}
	}
	d.slow[path] = took
}

func (d *detours) patience(path string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(searchPatience, 2*d.slow[path])
}

// tree is the file system as one search sees it.
type tree struct {
	tailer *tailer
	ctx    context.Context // ends when the search is left behind
	cancel context.CancelFunc
	leave  func() // tells that it is
	work   *busy
	denied bool

	mu    sync.Mutex
	path  string // that is being asked for
	since time.Time
	left  bool // behind
}

// tree makes the view of a new search; leave is called if it hangs.
func (d *detours) tree(ctx context.Context, t *tailer, leave func()) *tree {
	tr := &tree{tailer: t, leave: leave}
	tr.ctx, tr.cancel = context.WithCancel(ctx)
	tr.work = t.hangs.begin(searchDevice, tr.hang)
	tr.work.pause()
	return tr
}

// hang leaves the search behind.
func (tr *tree) hang() {
	tr.mu.Lock()
	path := tr.path
	tr.left = tr.tailer.detours.add(path)
	left := tr.left
	tr.mu.Unlock()
	if !left {
		return
	}
	tr.tailer.cannotLook(tr.ctx, path, errHung)
	tr.cancel()
	tr.leave()
}

// end ends the search and says whether it was left behind.
func (tr *tree) end() bool {
	tr.cancel()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.left
}

// ask asks the file system about a path, unless it hangs there.
func (tr *tree) ask(path string, question func() error) error {
	if err := tr.ctx.Err(); err != nil {
		return err
	}
	if tr.tailer.detours.around(path) {
		return &fs.PathError{Op: "search", Path: path, Err: errHung}
	}
	tr.mu.Lock()
	tr.path, tr.since = path, time.Now()
	tr.mu.Unlock()
	tr.work.resume(tr.tailer.detours.patience(path))
	err := question()
	if tr.work.pause() {
		tr.tailer.detours.answered(path, time.Since(tr.since))
	}
	if ended := tr.ctx.Err(); ended != nil {
		return ended
	}
	return err
}

// Stat follows symbolic links.
func (tr *tree) Stat(name string) (fi fs.FileInfo, err error) {
	err = tr.ask(name, func() error { fi, err = tr.tailer.fs.Stat(name); return err })
	return fi, err
}

// ReadDir lists a folder, and from then on the operating system tells of what changes in it.
func (tr *tree) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = tr.ask(name, func() error {
		tr.tailer.watch.folder(name)
		list, err = tr.tailer.fs.ReadDir(name)
		return err
	})
	return list, err
}

// Resolve follows all symbolic links.
func (tr *tree) Resolve(name string) (target string, err error) {
	err = tr.ask(name, func() error { target, err = tr.tailer.fs.Resolve(name); return err })
	return target, err
}

// Born is there for the interface; a search does not ask for it.
func (*tree) Born(string) int64 { return 0 }

// Open is there for the interface; a search opens nothing.
func (*tree) Open(name string) (openFile, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}
