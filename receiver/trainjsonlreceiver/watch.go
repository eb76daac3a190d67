package trainjsonlreceiver

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// watchBurst events are taken at a time; meanwhile the operating system merges those that repeat.
const (
	watchBurst = 256
	watchPause = 20 * time.Millisecond
)

// Reasons why files are polled alone.
const (
	watchNone   = "unavailable" // the operating system gives no notifier
	watchLimit  = "limit"       // no more folders may be watched
	watchRemote = "remote"      // the file system does not tell what other hosts write
)

// notifier is what the operating system tells changes by. Tests replace it.
type notifier interface {
	Add(folder string) error
	Remove(folder string) error
	Close() error
}

// watch has the operating system tell what changes in the folders that searches list. It spares looks and searches, and
// nothing depends on it: each file is looked at, and searched for, all the same, only less often.
type watch struct {
	notifier notifier
	events   <-chan fsnotify.Event
	failures <-chan error
	local    func(folder string) bool // such that all changes in it are told
	fs       fileSystem
	matches  func(path string) bool // include and exclude
	logger   *zap.Logger
	refused  func(reason string)

	mu      sync.Mutex
	folders map[string]bool
	apart   map[string]bool    // folders on file systems that tell nothing
	files   map[string]*stream // by path
	paths   map[*stream]string
	blind   bool // a folder of the search that runs, or ran last, is not watched
	blinder bool // of the one that runs
	dirty   bool // something came or went since the last search began
	full    bool // the limit of watches was reached
}

// watching is a notifier and what it tells.
type watching struct {
	notifier
	events   <-chan fsnotify.Event
	failures <-chan error
}

// watchFiles asks the operating system.
func watchFiles() (watching, error) {
	n, err := fsnotify.NewBufferedWatcher(watchBurst)
	if err != nil {
		return watching{}, err
	}
	return watching{notifier: n, events: n.Events, failures: n.Errors}, nil
}

// open begins to watch. Where that is not possible, polling goes on alone.
func (w *watch) open(begin func() (watching, error)) {
	n, err := begin()
	if err != nil {
		w.refuse(watchNone, "Cannot be told of changes in files, they are polled alone; raise fs.inotify.max_user_instances", err)
		return
	}
	w.notifier, w.events, w.failures = n.notifier, n.events, n.failures
}

func (w *watch) refuse(reason, message string, err error) {
	w.refused(reason)
	w.logger.Info(message, zap.Error(err))
}

// quiet notes that a search begins.
func (w *watch) quiet() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty, w.blinder = false, false
}

// searched notes that a search ended that saw all.
func (w *watch) searched() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = w.blinder
}

// news says whether files may have come since the last search began.
func (w *watch) news() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dirty
}

// all says whether every folder of the last search is watched.
func (w *watch) all() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notifier != nil && !w.blind
}

// folder watches a folder that is about to be listed.
func (w *watch) folder(name string) {
	w.mu.Lock()
	known, apart, n := w.folders[name], w.apart[name], w.notifier
	if w.full {
		n = nil
	}
	w.mu.Unlock()
	switch {
	case known:
		return
	case apart || n == nil:
		w.see(name, false)
		return
	case !w.local(name):
		if _, err := w.fs.Stat(name); isMissing(err) { // it went away: what comes in its place may be watched
			w.see(name, false)
			return
		}
		w.leaveOut(name)
		return
	}
	err := n.Add(name)
	w.see(name, err == nil)
	if err == nil || isMissing(err) || isDenied(err) || errors.Is(err, fsnotify.ErrClosed) {
		return
	}
	w.mu.Lock()
	first := !w.full
	w.full = true
	w.mu.Unlock()
	if first {
		w.refuse(watchLimit, "Not told of changes in all files, the others are polled; raise fs.inotify.max_user_watches", err)
	}
}

// leaveOut notes a folder of another host: of what is written there nothing is told.
func (w *watch) leaveOut(folder string) {
	w.see(folder, false)
	w.mu.Lock()
	first := w.apart == nil
	if first {
		w.apart = map[string]bool{}
	}
	w.apart[folder] = true
	w.mu.Unlock()
	if first {
		w.refused(watchRemote)
		w.logger.Info("Folders that are not on a local disk are polled", zap.String("folder", folder))
	}
}

func (w *watch) see(folder string, watched bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !watched {
		w.blinder = true
		return
	}
	if w.folders == nil {
		w.folders = map[string]bool{}
	}
	w.folders[folder] = true
}

// follow notes where a file is. One that is reached through a link may change without a word in the link's folder.
func (w *watch) follow(s *stream, c candidate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notifier == nil {
		return
	}
	if w.files == nil {
		w.files, w.paths = map[string]*stream{}, map[*stream]string{}
	}
	if old := w.paths[s]; w.files[old] == s {
		delete(w.files, old)
	}
	w.files[c.path], w.paths[s] = s, c.path
	s.setWatched(c.real && w.folders[filepath.Dir(c.path)])
}

func (w *watch) forget(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if path, ok := w.paths[s]; ok {
		delete(w.paths, s)
		if w.files[path] == s {
			delete(w.files, path)
		}
	}
}

// loop takes what is told until the context ends.
func (w *watch) loop(ctx context.Context) {
	if w.notifier == nil {
		return
	}
	defer w.close()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.events:
			if !ok {
				return
			}
			w.take(e)
		case err, ok := <-w.failures:
			if !ok {
				return
			}
			w.missed(err)
		}
		if n%watchBurst == 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(watchPause):
			}
		}
	}
}

// close stops watching. Files count as not watched from then on.
func (w *watch) close() {
	w.mu.Lock()
	n := w.notifier
	w.notifier = nil
	w.mu.Unlock()
	if n != nil {
		_ = n.Close() // nothing was written
	}
}

// take has a file looked at, or files searched for.
func (w *watch) take(e fsnotify.Event) {
	w.mu.Lock()
	s, n := w.files[e.Name], w.notifier
	moved := w.folders[e.Name] && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
	if moved { // the next search watches what is there now
		delete(w.folders, e.Name)
		w.dirty = true
	}
	w.mu.Unlock()
	if moved && n != nil {
		_ = n.Remove(e.Name) // the system may have done so
	}
	known := s != nil && !s.isGone() // a look at one that is gone finds no other file in its place
	if s != nil {
		s.hear()
	}
	if e.Has(fsnotify.Create) && !known && !moved && w.concerns(e.Name) {
		w.mu.Lock()
		w.dirty = true
		w.mu.Unlock()
	}
}

// concerns says whether what came may be, or hold, a file that is to be read.
func (w *watch) concerns(path string) bool {
	if w.matches(path) {
		return true
	}
	fi, err := w.fs.Stat(path)
	return err == nil && fi.IsDir() || err != nil && !isMissing(err)
}

// missed has everything looked at: some events are lost.
func (w *watch) missed(error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty = true
	for _, s := range w.files {
		s.hear()
	}
}

func (s *stream) setWatched(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = on
}
