package atomicdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
)

// Folder is one that is kept open while names in it are worked on.
type Folder interface {
	// Here says whether the folder is still what its name gives.
	Here() error
	Close() error
}

// maxHeld bounds the folders that one write keeps open.
const maxHeld = 16

// heldFolders are the folders of a root that somebody holds, by name. A walk from the root opens and closes every folder on the way, for each
// look and each rename: with them open it is one call to the kernel.
type heldFolders struct {
	mu     sync.Mutex
	byName map[string]*heldFolder
}

type heldFolder struct {
	in    *heldFolders
	name  string
	root  *os.Root // for names in it
	dir   *os.File // the same, for what os.Root does not offer
	info  fs.FileInfo
	users int
}

// use gives a folder that somebody holds, nil when nobody does; release ends the use.
func (h *heldFolders) use(name string) *heldFolder {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.byName[name]
	if f != nil {
		f.users++
	}
	return f
}

func (f *heldFolder) release() error {
	if f == nil {
		return nil
	}
	f.in.mu.Lock()
	f.users--
	last := f.users == 0
	if last && f.in.byName[f.name] == f {
		delete(f.in.byName, f.name)
	}
	f.in.mu.Unlock()
	if !last {
		return nil
	}
	return errors.Join(f.dir.Close(), f.root.Close())
}

// hold makes a folder known by its name. Who holds it already keeps that one; names are looked up in the newest.
func (h *heldFolders) hold(name string, root *os.Root) (*heldFolder, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	info, err := dir.Stat()
	if err != nil {
		return nil, errors.Join(err, dir.Close(), root.Close())
	}
	f := &heldFolder{in: h, name: name, root: root, dir: dir, info: info, users: 1}
	h.mu.Lock()
	h.byName[name] = f
	h.mu.Unlock()
	return f, nil
}

// hold is a holder's share of a folder.
type hold struct {
	fs *rootFS
	*heldFolder
}

func (h hold) Close() error { return h.release() }

func (h hold) Here() error {
	info, err := h.fs.root.Lstat(h.name)
	if err == nil && !os.SameFile(info, h.info) {
		err = fmt.Errorf("%s: another folder has its name: %w", h.name, fs.ErrNotExist)
	}
	return err
}

// Hold keeps a folder open: what is done to names in it goes to it, and not to what has its name meanwhile.
func (r *rootFS) Hold(name string) (Folder, error) {
	root, base, done := r.at(name)
	defer done()
	below, err := root.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	f, err := r.held.hold(name, below)
	if err != nil {
		return nil, err
	}
	return hold{r, f}, nil
}

// at gives where a name is to be looked up: in its folder when that is held, else from the root.
func (r *rootFS) at(name string) (*os.Root, string, func()) {
	if f := r.held.use(path.Dir(name)); f != nil {
		return f.root, path.Base(name), func() { _ = f.release() }
	}
	return r.root, name, func() {}
}
