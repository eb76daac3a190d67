package atomicdir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/faults"
)

// FS is what the protocol needs of a directory. Names are slash-separated and relative. Tests put faults between.
type FS interface {
	Mkdir(name string) error
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	Create(name string) (File, error) // fails if the file exists
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error
	Hold(name string) (Folder, error)    // a folder that exists
	Lock(name string) (io.Closer, error) // ErrLocked when another holds it; creates the file
	Free() (uint64, error)               // bytes that may still be written
	Self() (fs.FileInfo, error)          // which directory it is, whatever its path says now
	Close() error
}

// File is a file under construction.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

const (
	dirMode  = 0o755
	fileMode = 0o644
)

// rootFS is the FS of an os.Root.
type rootFS struct {
	root *os.Root
	held heldFolders
}

// OpenFS opens a directory, which is made if it does not exist.
func OpenFS(dir string) (FS, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &rootFS{root: root, held: heldFolders{byName: map[string]*heldFolder{}}}, nil
}

func (r *rootFS) Self() (fs.FileInfo, error) { return r.root.Stat(".") }
func (r *rootFS) Close() error               { return r.root.Close() }

func (r *rootFS) Lstat(name string) (fs.FileInfo, error) {
	root, base, done := r.at(name)
	defer done()
	return root.Lstat(base)
}

func (r *rootFS) ReadFile(name string) ([]byte, error) {
	root, base, done := r.at(name)
	defer done()
	return root.ReadFile(base)
}

func (r *rootFS) Mkdir(name string) error {
	faults.Point("mkdir")
	root, base, done := r.at(name)
	defer done()
	return root.Mkdir(base, dirMode)
}

func (r *rootFS) Rename(from, to string) error {
	faults.Point("rename")
	source, target := r.held.use(path.Dir(from)), r.held.use(path.Dir(to))
	var err error
	if source != nil && target != nil && byHandle {
		err = renameIn(source.dir, path.Base(from), target.dir, path.Base(to))
	} else {
		err = r.root.Rename(from, to)
	}
	_, _ = source.release(), target.release()
	faults.Point("renamed")
	return err
}

func (r *rootFS) Remove(name string) error {
	faults.Point("remove")
	root, base, done := r.at(name)
	defer done()
	return root.Remove(base)
}

func (r *rootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	root, base, done := r.at(name)
	defer done()
	d, err := root.Open(base)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	return d.ReadDir(-1)
}

func (r *rootFS) Create(name string) (File, error) {
	faults.Point("create")
	if f := r.held.use(path.Dir(name)); f != nil && byHandle {
		file, err := createIn(f.dir, path.Base(name))
		if err = errors.Join(err, f.release()); err != nil {
			return nil, err
		}
		return stagedFile{file}, nil
	}
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return stagedFile{f}, nil
}

// stagedFile is a file under construction.
type stagedFile struct{ File }

// Write writes the bytes at once, in a build for tests in two pieces, so that a file may be torn.
func (f stagedFile) Write(b []byte) (int, error) {
	if !faults.On {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:len(b)/2])
	if err != nil {
		return n, err
	}
	faults.Point("write")
	m, err := f.File.Write(b[n:])
	return n + m, err
}

// Sync flushes the file.
func (f stagedFile) Sync() error {
	faults.Point("sync")
	return f.File.Sync()
}

func (r *rootFS) SyncDir(name string) error {
	faults.Point("syncdir")
	if f := r.held.use(name); f != nil {
		return errors.Join(syncDir(f.dir), f.release())
	}
	d, err := r.root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return syncDir(d)
}

func (r *rootFS) Lock(name string) (io.Closer, error) {
	faults.Point("lock")
	f, err := r.root.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (r *rootFS) Free() (uint64, error) {
	d, err := r.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.Close() }()
	return freeBytes(d)
}
