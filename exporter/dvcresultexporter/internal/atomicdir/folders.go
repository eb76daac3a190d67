package atomicdir

import "errors"

// folders are those that a write has looked at: they are looked at once, and held.
type folders struct {
	fs   FS
	seen map[string]bool // whether it exists
	held []Folder
}

func newFolders(fsys FS) *folders { return &folders{fs: fsys, seen: map[string]bool{}} }

func (f *folders) has(name string) bool { return f != nil && f.seen[name] }

// lacks says that a folder was not there.
func (f *folders) lacks(name string) bool {
	if f == nil {
		return false
	}
	exists, seen := f.seen[name]
	return seen && !exists
}

func (f *folders) miss(name string) {
	if f != nil {
		f.seen[name] = false
	}
}

// add notes a folder that exists. One that cannot be held is reached by its name.
func (f *folders) add(name string) {
	if f == nil {
		return
	}
	f.seen[name] = true
	if len(f.held) == maxHeld {
		return
	}
	if folder, err := f.fs.Hold(name); err == nil {
		f.held = append(f.held, folder)
	}
}

// here says whether what was written is where it was to be: a folder that got another name has taken its files along.
func (f *folders) here() error {
	var errs []error
	for _, folder := range f.held {
		errs = append(errs, folder.Here())
	}
	return errors.Join(errs...)
}

func (f *folders) close() {
	for _, folder := range f.held {
		_ = folder.Close() // nothing was written through it
	}
}
