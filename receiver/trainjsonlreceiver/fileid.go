package trainjsonlreceiver

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fileSystem is what the receiver needs of one. Tests inject faults through it.
type fileSystem interface {
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (openFile, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	// Resolve gives the absolute path without symbolic links.
	Resolve(name string) (string, error)
}

// openFile is a file open for reading.
type openFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
	// Born is the file's birth time in ns, 0 where the file system keeps none.
	Born() int64
}

// fileKey tells files apart whatever they are called, as long as they exist.
type fileKey struct{ dev, ino uint64 }

// storageKey is the key of the file's checkpoint.
func (k fileKey) storageKey() string { return fmt.Sprintf("file/%x-%x", k.dev, k.ino) }

// keyOf gives the device and inode of a file; on file systems without them, both are 0.
func keyOf(fi fs.FileInfo) fileKey {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileKey{}
	}
	return fileKey{dev: uint64(st.Dev), ino: st.Ino} //nolint:unconvert // other systems have other types
}

// osFiles is the operating system's.
type osFiles struct{}

// Stat follows symbolic links.
func (osFiles) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder.
func (osFiles) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Resolve follows all symbolic links.
func (osFiles) Resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Open opens a file for reading.
func (osFiles) Open(name string) (openFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

// Born tells a file from one that was made anew with the same inode.
func (f osFile) Born() int64 { return born(f.File) }
