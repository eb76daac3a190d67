package atomicdir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Set is the files of one subdirectory, in the order in which they are written. The last is the marker.
type Set struct {
	Name  string // of the subdirectory
	Files []Content
	Swept []Swept
	// Optional names files that some results have and others have not: one that is not listed is removed.
	Optional []string
	// Gone says that the set is to be removed: its files by name, what is swept, and directories that are empty then.
	Gone bool
	// Keep is asked, under the lock, whether the marker on disk (nil if there is none) is to stay with all its files.
	Keep func(marker []byte) bool
}

// Content is one file of a set.
type Content struct {
	Name  string // slash-separated, relative to the set
	Bytes []byte
}

// Swept names the files which belong to sets alone: those that a set does not list are removed after its marker is in
// place, and with them the directories that hold nothing else.
type Swept struct{ Below, Suffix string }

// Result says what Write did.
type Result string

// Results of a write.
const (
	Written   Result = "written"
	Unchanged Result = "unchanged" // every byte was on disk already: nothing was touched
	Kept      Result = "kept"      // Keep said so
	Removed   Result = "removed"   // of a set that is to be gone
)

// Write brings a set to disk under its lock.
func (d *Dir) Write(set Set) (Result, error) {
	if set.Gone {
		if exists, err := d.isDir(set.Name); !exists || err != nil {
			return Unchanged, ignoreRefused(err) // what is no directory is nobody's set
		}
	}
	if err := d.mkdirs(set.Name, nil); err != nil { // before the lock: a refused name makes no lock file
		return "", err
	}
	lock, err := d.fs.Lock(path.Join(ownLocks, set.Name))
	if err != nil {
		return "", fmt.Errorf("%s: %w", set.Name, err)
	}
	act := d.write
	if set.Gone {
		act = d.discard
	}
	result, err := act(set)
	return result, errors.Join(err, lock.Close())
}

func (d *Dir) write(set Set) (Result, error) {
	marker, err := d.marker(set)
	if err != nil {
		return "", err
	}
	if set.Keep != nil && set.Keep(marker) {
		return Kept, nil
	}
	known := newFolders(d.fs)
	defer known.close()
	known.add(set.Name)
	changed, err := d.changed(set, known)
	if err != nil {
		return "", err
	}
	wanted := make(map[string]bool, len(set.Files))
	for _, f := range set.Files {
		for _, name := range ancestors(path.Join(set.Name, f.Name)) {
			wanted[name] = true
		}
	}
	stale, err := d.swept(set, wanted)
	if err != nil {
		return "", err
	}
	if len(changed) == 0 && len(stale) == 0 {
		return Unchanged, d.settle(set.Name) // of an attempt that ended before it
	}
	if err := d.room(changed); err != nil {
		return "", err
	}
	if err := d.commit(set, changed, known); err != nil {
		return "", err
	}
	if err := errors.Join(d.settle(set.Name), known.here()); err != nil {
		return "", err
	}
	for _, name := range stale {
		if err := d.remove(name); err != nil {
			return "", err
		}
	}
	return Written, nil
}

// commit brings what changed to disk: the marker gets its name when what it lists is there.
func (d *Dir) commit(set Set, changed []Content, known *folders) error {
	aside, err := d.stage(changed, known)
	if err != nil {
		return err
	}
	marks := len(aside)
	if marks > 0 && aside[marks-1].Name == path.Join(set.Name, set.Files[len(set.Files)-1].Name) {
		marks--
	}
	err = d.place(aside[:marks])
	if err == nil {
		err = d.settle(set.Name)
	}
	if err != nil {
		return errors.Join(err, d.discardStaged(aside[marks:]))
	}
	return d.place(aside[marks:])
}

// Read gives a file of a set, nil when there is none or it is none that a writer of sets made.
func (d *Dir) Read(set, name string) []byte {
	full := path.Join(set, name)
	info, err := d.fs.Lstat(full)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
		return nil
	}
	b, err := d.fs.ReadFile(full)
	if err != nil {
		return nil
	}
	return b
}

// maxRead bounds the files that are read: none of a set is larger but those of full fidelity.
const maxRead = 16 << 20

// maxMarker bounds the marker that is read: no writer of these makes a larger one.
const maxMarker = 1 << 20

// marker reads the marker on disk; one that is not a regular file, or larger than any, is none.
func (d *Dir) marker(set Set) ([]byte, error) {
	name := path.Join(set.Name, set.Files[len(set.Files)-1].Name)
	info, err := d.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxMarker) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d.fs.ReadFile(name)
}

// changed gives the files that are not on disk, with their whole names.
func (d *Dir) changed(set Set, known *folders) ([]Content, error) {
	var out []Content
	for _, f := range set.Files {
		f.Name = path.Join(set.Name, f.Name)
		same, err := d.same(f.Name, f.Bytes, known)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, f)
		}
	}
	return out, nil
}

// room looks for the free space before anything is written.
func (d *Dir) room(files []Content) error {
	need := d.minFree
	for _, f := range files {
		need += uint64(len(f.Bytes))
	}
	free, err := d.fs.Free()
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%w: %d bytes are free, want %d (min_free_bytes and the result)", ErrLowSpace, free, need)
	}
	return nil
}
