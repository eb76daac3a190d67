package dvcresultexporter

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
)

// errMoved says that the path of the results is that of another folder than the open one.
var errMoved = errors.New("the directory was replaced while a result was written")

// maxMoves bounds how often a write follows a directory that is replaced again and again.
const maxMoves = 3

// target is the directory of the results. It is opened again when it was taken away, or replaced by another folder.
type target struct {
	path    string
	minFree uint64
	openFS  func(string) (atomicdir.FS, error)
	moved   func() // another folder than before was opened; called without locks

	mu   sync.RWMutex
	dir  *atomicdir.Dir
	self fs.FileInfo // of the folder that was opened last
	lost bool        // it is not at its path any more; a folder made anew may have its inode number
}

func (t *target) open() error {
	if t.isOpen() {
		return nil
	}
	other, err := t.openNow()
	if other {
		t.moved()
	}
	return err
}

func (t *target) isOpen() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.dir != nil
}

// openNow opens what is at the path, and tells whether that is another folder than before.
func (t *target) openNow() (other bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != nil {
		return false, nil
	}
	fsys, err := t.openFS(t.path)
	if err != nil {
		return false, err
	}
	self, err := fsys.Self()
	if err != nil {
		return false, errors.Join(err, fsys.Close())
	}
	dir, err := atomicdir.Open(fsys, t.minFree)
	if err != nil {
		return false, errors.Join(err, fsys.Close())
	}
	other = t.lost || t.self != nil && !os.SameFile(t.self, self)
	t.dir, t.self, t.lost = dir, self, false
	return other, nil
}

// write brings a set into the folder that has the path, before and after.
func (t *target) write(set atomicdir.Set) (atomicdir.Result, error) {
	for range maxMoves {
		if err := t.open(); err != nil {
			return "", err
		}
		dir, result, err := t.writeOpen(set)
		if errors.Is(err, errMoved) || isGone(err) {
			_ = t.leave(dir, errors.Is(err, errMoved)) // of a folder that is somewhere else, or gone: the next attempt opens what is there now
		}
		if !errors.Is(err, errMoved) {
			return result, err
		}
	}
	return "", errMoved
}

func (t *target) writeOpen(set atomicdir.Set) (*atomicdir.Dir, atomicdir.Result, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.dir == nil { // another writer has left it
		return nil, "", errMoved
	}
	if err := t.inPlace(); err != nil {
		return t.dir, "", err
	}
	result, err := t.dir.Write(set)
	if err == nil || isGone(err) { // a result in a folder that moved away meanwhile is none
		if moved := t.inPlace(); moved != nil {
			return t.dir, "", moved
		}
	}
	return t.dir, result, err
}

// read gives a file of a result, nil for none.
func (t *target) read(dir, name string) []byte {
	if t.open() != nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.dir == nil || t.inPlace() != nil {
		return nil
	}
	return t.dir.Read(dir, name)
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) }

// inPlace says whether the path is that of the open folder, which is reached by its handle and not by its path. The caller
// holds the lock.
func (t *target) inPlace() error {
	now, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, t.self) {
		return errMoved
	}
	return err
}

// leave closes a folder unless another writer has done so.
func (t *target) leave(dir *atomicdir.Dir, lost bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == nil || t.dir != dir {
		return nil
	}
	t.dir, t.lost = nil, lost
	return dir.Close()
}

func (t *target) close() error {
	t.mu.RLock()
	dir := t.dir
	t.mu.RUnlock()
	return t.leave(dir, false)
}

// isNoDirectory tells a path that will not become usable by waiting.
func isNoDirectory(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
