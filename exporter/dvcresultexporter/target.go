package dvcresultexporter

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
)

// target is the directory of the results. It is opened again when it was taken away.
type target struct {
	path    string
	minFree uint64
	openFS  func(string) (atomicdir.FS, error)

	mu  sync.RWMutex
	dir *atomicdir.Dir
}

func (t *target) open() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != nil {
		return nil
	}
	fsys, err := t.openFS(t.path)
	if err != nil {
		return err
	}
	dir, err := atomicdir.Open(fsys, t.minFree)
	if err != nil {
		return errors.Join(err, fsys.Close())
	}
	t.dir = dir
	return nil
}

func (t *target) write(set atomicdir.Set) (atomicdir.Result, error) {
	if err := t.open(); err != nil {
		return "", err
	}
	result, err := t.writeOpen(set)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) {
		_ = t.close() // of a directory that is gone: the next attempt opens what is there now
	}
	return result, err
}

func (t *target) writeOpen(set atomicdir.Set) (atomicdir.Result, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.dir == nil {
		return "", fs.ErrClosed
	}
	return t.dir.Write(set)
}

func (t *target) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == nil {
		return nil
	}
	err := t.dir.Close()
	t.dir = nil
	return err
}

// isNoDirectory tells a path that will not become usable by waiting.
func isNoDirectory(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, atomicdir.ErrRefused) || errors.Is(err, syscall.ENAMETOOLONG)
}
