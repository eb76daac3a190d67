package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Ref is a stream: a file below a root.
type Ref struct {
	Root string // a folder that was named, or that of a file that was named
	Name string // of the file, below Root
	Path string // as it is shown
}

// ErrNotRegular says that a path is no file: a folder, a device, a FIFO, a socket.
var ErrNotRegular = errors.New("not a regular file")

// ErrOutside says that a path leads out of its folder.
var ErrOutside = errors.New("leads out of its folder")

// Open opens a stream for reading. It never blocks and follows no link out of the root.
func (r Ref) Open() (*os.File, error) {
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	f, err := root.OpenFile(r.Name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, escape(err)
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// escape tells a link that leaves the root from other errors. The os package has no name for it.
func escape(err error) error {
	if strings.Contains(err.Error(), "escapes from parent") {
		return ErrOutside
	}
	if errors.Is(err, unix.ENXIO) { // a socket
		return ErrNotRegular
	}
	return err
}

// Stat looks at a stream without opening it.
func (r Ref) Stat() (fs.FileInfo, error) {
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	fi, err := root.Stat(r.Name)
	if err != nil {
		return nil, escape(err)
	}
	return fi, nil
}

// Folder is where the relative paths of a stream begin.
func (r Ref) Folder() string { return filepath.Join(r.Root, filepath.Dir(r.Name)) }

// Abs gives an absolute path.
func Abs(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return abs, nil
}

// Looker looks at checkpoints below roots, and at nothing else.
type Looker struct{ Roots []string }

// Look looks at a path; a relative one begins at folder, or at one above it as long as what it leads to lies in folder: a trainer that was
// started beside out/ and writes there calls the file out/best.pt.
func (l Looker) Look(folder, path string) trainview.Found {
	if strings.ContainsRune(path, 0) || path == "" {
		return trainview.FoundOutside
	}
	if filepath.IsAbs(path) {
		return l.lookAt(folder, path)
	}
	best := l.lookAt(folder, filepath.Join(folder, path))
	for above := filepath.Dir(folder); best < trainview.FoundEmpty; above = filepath.Dir(above) {
		rel, err := filepath.Rel(folder, filepath.Join(above, path))
		if err == nil && filepath.IsLocal(rel) && rel != "." {
			best = max(best, lookBelow(folder, rel))
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	return best
}

func (l Looker) lookAt(folder, abs string) trainview.Found {
	best := trainview.FoundOutside
	for _, root := range append([]string{folder}, l.Roots...) {
		rel, err := filepath.Rel(root, filepath.Clean(abs))
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if found := lookBelow(root, rel); found > best {
			best = found
		}
	}
	return best
}

func lookBelow(name, rel string) trainview.Found {
	root, err := os.OpenRoot(name)
	if err != nil {
		return trainview.FoundHidden
	}
	defer func() { _ = root.Close() }() // nothing was written
	fi, err := root.Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return trainview.FoundMissing
	case err != nil:
		return trainview.FoundHidden
	case fi.Mode().IsRegular() && fi.Size() == 0:
		return trainview.FoundEmpty
	default:
		return trainview.FoundThere
	}
}

// CanLookInto says why a folder cannot be looked into, nil when it can.
func CanLookInto(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	return root.Close()
}
