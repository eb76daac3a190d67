package trainjsonlreceiver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// fileSystem is what the receiver needs of one. Tests inject faults through it.
type fileSystem interface {
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (openFile, error)
	// Born is the birth time of the file at a path in ns, 0 where it is not known.
	Born(name string) int64
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

// fileKey tells files apart: by device and inode, whatever they are called, or by path.
type fileKey struct {
	dev, ino uint64
	path     string // "" = device and inode count
}

// storageKey is the key of the file's checkpoint.
func (k fileKey) storageKey() string {
	if k.path != "" {
		sum := sha256.Sum256([]byte(k.path))
		return pathPrefix + hex.EncodeToString(sum[:])
	}
	return fmt.Sprintf("%s%x-%x", keyPrefix, k.dev, k.ino)
}

// parseKey reads a storage key; the path of a file that is known by it is in its checkpoint.
func parseKey(key, path string) (k fileKey, ours bool, err error) {
	if name, ok := strings.CutPrefix(key, keyPrefix); ok {
		_, err = fmt.Sscanf(name, "%x-%x", &k.dev, &k.ino)
		return k, true, err
	}
	if !strings.HasPrefix(key, pathPrefix) {
		return fileKey{}, false, nil
	}
	if k.path = path; k.storageKey() != key {
		return fileKey{}, true, errors.New("the key is not that of the path")
	}
	return k, true, nil
}

// keyFor gives what a file is known by.
func (t *tailer) keyFor(fi fs.FileInfo, path string) fileKey {
	if key := keyOf(fi); key.ino != 0 && t.cfg.Identity != identityPath {
		return key
	}
	return fileKey{path: path}
}

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

// Born follows symbolic links.
func (osFiles) Born(name string) int64 { return bornAt(name) }

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

// Open opens a file for reading. It does not wait for the other end of a pipe, that may have come in the place of a file.
func (osFiles) Open(name string) (openFile, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

// Born tells a file from one that was made anew with the same inode.
func (f osFile) Born() int64 { return born(f.File) }
