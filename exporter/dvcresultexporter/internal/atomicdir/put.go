package atomicdir

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// put makes the folders of files, writes them aside and gives them their names; settle makes these durable.
func (d *Dir) put(files []Content, known *folders) error {
	aside, err := d.stage(files, known)
	if err != nil {
		return err
	}
	return d.place(aside)
}

// place gives files that were written aside their names. It is done one after the other, as temporary files are made: writers that meet in the
// folder of these spend more time waiting for it in the kernel than at work. On an error those that have none are removed.
func (d *Dir) place(aside []staged) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, f := range aside {
		if err := d.fs.Rename(f.tmp, f.Name); err != nil {
			if info, look := d.fs.Lstat(f.Name); look == nil && info.IsDir() {
				err = refused(f.Name, "it is a directory")
			}
			return errors.Join(err, d.discardStaged(aside[i:]))
		}
		d.touched(path.Dir(f.Name))
	}
	return nil
}

// settle syncs the directories of a set, and that of all sets, in which something got a name. One that fails stays to be synced.
func (d *Dir) settle(set string) error {
	d.namesMu.Lock()
	var dirs []string
	for dir := range d.unsynced {
		if dir == "." || dir == set || strings.HasPrefix(dir, set+"/") {
			dirs = append(dirs, dir)
		}
	}
	d.namesMu.Unlock()
	slices.Sort(dirs)
	for _, dir := range dirs {
		d.namesMu.Lock() // before: what gets a name meanwhile is not synced
		delete(d.unsynced, dir)
		d.namesMu.Unlock()
		if err := ignoreMissing(d.fs.SyncDir(dir)); err != nil {
			d.touched(dir)
			return err
		}
	}
	return nil
}

func (d *Dir) touched(dir string) {
	d.namesMu.Lock()
	defer d.namesMu.Unlock()
	d.unsynced[dir] = true
}

// mkdirs makes a directory and those above it. A symbolic link or a file among them is refused.
func (d *Dir) mkdirs(name string, known *folders) error {
	if known.has(name) {
		return nil
	}
	for _, dir := range ancestors(name) {
		exists, err := d.isDir(dir)
		if err != nil {
			return err
		}
		if exists {
			continue
		}
		if err := d.fs.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		d.touched(path.Dir(dir))
	}
	known.add(name)
	return nil
}

// ancestors lists the directories on the way to a name, the name included, top first.
func ancestors(name string) []string {
	var out []string
	for ; name != "."; name = path.Dir(name) {
		out = append(out, name)
	}
	slices.Reverse(out)
	return out
}

// isDir tells whether a directory exists; something else of that name is refused.
func (d *Dir) isDir(name string) (bool, error) {
	info, err := d.fs.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return true, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return false, refused(name, "it is a symbolic link")
	default:
		return false, refused(name, "it is no directory")
	}
}

// look tells whether a folder and those above it exist.
func (d *Dir) look(name string, known *folders) (bool, error) {
	if known.has(name) {
		return true, nil
	}
	for _, dir := range ancestors(name) {
		if known.lacks(dir) {
			return false, nil
		}
		if exists, err := d.isDir(dir); err != nil {
			return false, err
		} else if !exists {
			known.miss(dir)
			return false, nil
		}
	}
	known.add(name)
	return true, nil
}

// same tells whether a file has these bytes already. A link is not followed: its target is somebody else's.
func (d *Dir) same(name string, content []byte, known *folders) (bool, error) {
	if exists, err := d.look(path.Dir(name), known); err != nil || !exists {
		return false, err
	}
	info, err := d.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false, nil
	}
	old, err := d.fs.ReadFile(name)
	if err != nil {
		return false, err
	}
	return bytes.Equal(old, content), nil
}
