package atomicdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
)

// names inside the directory
const (
	own       = ".dvc_result"
	ownTmp    = own + "/tmp"
	ownLocks  = own + "/locks"
	ownIgnore = own + "/.gitignore"
	tmpLock   = "lock" // in an instance's folder below tmp: held while the instance lives
)

// Dir is a directory of committed file sets, one subdirectory a set. It is safe for concurrent use.
type Dir struct {
	fs      FS
	minFree uint64

	mu       sync.Mutex
	instance string // this process's folder below tmp, "" before the first write
	alive    io.Closer
	staging  Folder // the instance's folder, held
	counter  atomic.Uint64

	namesMu  sync.Mutex
	unsynced map[string]bool // directories in which something got a name since they were synced
}

// Open prepares a directory: its own folder, which Git ignores, and the removal of what instances that are gone have left.
// Nothing is written when less than minFree bytes are free.
func Open(fsys FS, minFree uint64) (*Dir, error) {
	d := &Dir{fs: fsys, minFree: minFree, unsynced: map[string]bool{}}
	for _, name := range []string{own, ownTmp, ownLocks} {
		if err := d.mkdirs(name, nil); err != nil {
			return nil, err
		}
	}
	if err := d.sweep(); err != nil {
		return nil, err
	}
	if err := d.begin(); err != nil {
		return nil, err
	}
	ignore := []byte("*\n")
	if same, err := d.same(ownIgnore, ignore, nil); err != nil || same {
		return d, errors.Join(err, d.closeOn(err))
	}
	err := d.put([]Content{{ownIgnore, ignore}}, nil)
	if err == nil {
		err = d.settle(own)
	}
	return d, errors.Join(err, d.closeOn(err))
}

// closeOn gives the instance up when opening ended with an error; the file system stays the caller's.
func (d *Dir) closeOn(err error) error {
	if err == nil {
		return nil
	}
	return d.end()
}

// Close removes this instance's folder and closes the directory.
func (d *Dir) Close() error { return errors.Join(d.end(), d.fs.Close()) }

// begin makes this instance's folder and holds its lock.
func (d *Dir) begin() error {
	name := path.Join(ownTmp, rand.Text())
	if err := d.fs.Mkdir(name); err != nil {
		return err
	}
	alive, err := d.fs.Lock(path.Join(name, tmpLock))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	staging, err := d.fs.Hold(name)
	if err != nil {
		return errors.Join(err, alive.Close())
	}
	d.instance, d.alive, d.staging = name, alive, staging
	return nil
}

func (d *Dir) end() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.alive == nil {
		return nil
	}
	err := errors.Join(d.empty(d.instance), d.staging.Close(), d.alive.Close())
	d.alive, d.staging, d.instance = nil, nil, ""
	return err
}

// sweep removes the folders of instances that hold no lock any more, with what is in them. What cannot be removed stays: it is in
// nobody's way.
func (d *Dir) sweep() error {
	entries, err := d.fs.ReadDir(ownTmp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(ownTmp, e.Name())
		if !e.IsDir() {
			_ = d.remove(name)
			continue
		}
		lock, err := d.fs.Lock(path.Join(name, tmpLock))
		switch {
		case err == nil:
			_ = d.empty(name)
			_ = lock.Close()
		case errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrNotExist): // alive, or swept by another right now
		default: // no instance made this
			_ = d.removeAll(name, maxDepth)
		}
	}
	return nil
}

// maxDepth bounds how deep a folder of an instance is looked into; instances make no folders in theirs.
const maxDepth = 64

// empty removes a folder of instances with its files, the lock last: a folder without one counts as left behind too.
func (d *Dir) empty(name string) error {
	entries, err := d.fs.ReadDir(name)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if e.Name() == tmpLock {
			continue
		}
		if err := d.removeEntry(name, e, maxDepth); err != nil {
			return err
		}
	}
	if err := d.remove(path.Join(name, tmpLock)); err != nil {
		return err
	}
	return d.remove(name)
}

func (d *Dir) removeEntry(in string, e fs.DirEntry, depth int) error {
	name := path.Join(in, e.Name())
	if e.IsDir() && depth > 0 {
		return d.removeAll(name, depth-1)
	}
	return d.remove(name)
}

// removeAll removes a folder and what is in it; a link goes, what it names stays.
func (d *Dir) removeAll(name string, depth int) error {
	entries, err := d.fs.ReadDir(name)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if err := d.removeEntry(name, e, depth); err != nil {
			return err
		}
	}
	return d.remove(name)
}

func (d *Dir) remove(name string) error { return ignoreMissing(d.fs.Remove(name)) }

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// temporary names a new file in this instance's folder, which is made again if somebody removed it.
func (d *Dir) temporary() (string, File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := path.Join(d.instance, strconv.FormatUint(d.counter.Add(1), 10))
	f, err := d.fs.Create(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return name, f, err
	}
	if d.alive != nil {
		_, _ = d.staging.Close(), d.alive.Close()
		d.alive = nil
	}
	if err := d.mkdirs(ownTmp, nil); err != nil {
		return "", nil, err
	}
	if err := d.begin(); err != nil {
		return "", nil, err
	}
	name = path.Join(d.instance, strconv.FormatUint(d.counter.Add(1), 10))
	f, err = d.fs.Create(name)
	return name, f, err
}
