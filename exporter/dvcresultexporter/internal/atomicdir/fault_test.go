package atomicdir

import (
	"errors"
	"io"
	"io/fs"
	"sync"
)

var errCrash = errors.New("crashed")

// faultFS asks before every operation that changes the disk. After a crash nothing works any more, and the kernel has
// freed the locks.
type faultFS struct {
	FS

	mu      sync.Mutex
	steps   int                         // operations so far
	fault   func(op, name string) error // nil = none
	crashAt int                         // the operation before which the process dies; 0 = never
	dead    bool
	locks   []io.Closer
	ops     []string
}

func (f *faultFS) before(op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errCrash
	}
	f.steps++
	f.ops = append(f.ops, op+" "+name)
	if f.crashAt == f.steps {
		f.dead = true
		for _, l := range f.locks {
			_ = l.Close()
		}
		return errCrash
	}
	if f.fault != nil {
		return f.fault(op, name)
	}
	return nil
}

func (f *faultFS) Mkdir(name string) error {
	if err := f.before("mkdir", name); err != nil {
		return err
	}
	return f.FS.Mkdir(name)
}

func (f *faultFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.before("readdir", name); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(name)
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.before("rename", to); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f *faultFS) Remove(name string) error {
	if err := f.before("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *faultFS) SyncDir(name string) error {
	if err := f.before("syncdir", name); err != nil {
		return err
	}
	return f.FS.SyncDir(name)
}

func (f *faultFS) Lock(name string) (io.Closer, error) {
	if err := f.before("lock", name); err != nil {
		return nil, err
	}
	l, err := f.FS.Lock(name)
	if err == nil {
		f.mu.Lock()
		f.locks = append(f.locks, l)
		f.mu.Unlock()
	}
	return l, err
}

func (f *faultFS) Create(name string) (File, error) {
	if err := f.before("create", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f, name: name}, nil
}

type faultFile struct {
	File
	fs   *faultFS
	name string
}

// Write tears: half of the bytes are on disk when the fault strikes.
func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.fs.before("write", f.name); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

func (f *faultFile) Sync() error {
	if err := f.fs.before("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}
