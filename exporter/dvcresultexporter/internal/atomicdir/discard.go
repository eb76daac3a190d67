package atomicdir

import (
	"errors"
	"path"
)

// discard removes a set, its marker last: what a kill leaves does not match the marker, and is found again. Files that are not
// of the set stay, with their directories.
func (d *Dir) discard(set Set) (Result, error) {
	marker, err := d.marker(set)
	if err != nil {
		return "", err
	}
	if set.Keep != nil && set.Keep(marker) {
		return Kept, nil
	}
	names, err := d.swept(set, nil)
	if err != nil {
		return "", err
	}
	for _, f := range set.Files {
		names = append(names, path.Join(set.Name, f.Name))
	}
	for _, name := range names {
		if info, err := d.fs.Lstat(name); err == nil && info.IsDir() {
			continue
		}
		if err := d.remove(name); err != nil {
			return "", err
		}
	}
	return Removed, errors.Join(d.prune(set.Name), d.fs.SyncDir("."))
}

// prune removes the directories from name on that hold nothing.
func (d *Dir) prune(name string) error {
	if info, err := d.fs.Lstat(name); err != nil || !info.IsDir() {
		return ignoreMissing(err)
	}
	entries, err := d.fs.ReadDir(name)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := d.prune(path.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	if entries, err = d.fs.ReadDir(name); err != nil || len(entries) > 0 {
		return ignoreMissing(err)
	}
	return d.remove(name)
}

func ignoreRefused(err error) error {
	if errors.Is(err, ErrRefused) {
		return nil
	}
	return err
}
