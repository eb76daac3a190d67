package atomicdir

import (
	"errors"
	"fmt"
	"path"
	"slices"
)

// maxOpen bounds the files that a write has open at once.
const maxOpen = 64

// staged is a file that was written aside.
type staged struct {
	Content
	tmp  string
	file File // nil when it is closed
}

// stage writes complete and synced temporary files, in the folders that their names want; on an error nothing of them stays. All are on their
// way to the disk before the first is waited for: a journal takes them in one commit. Each is synced by itself: one sync of the whole file
// system would wait for whatever a trainer is writing to it.
func (d *Dir) stage(files []Content, known *folders) ([]staged, error) {
	for _, f := range files {
		if err := d.mkdirs(path.Dir(f.Name), known); err != nil {
			return nil, err
		}
	}
	aside := make([]staged, 0, len(files))
	for some := range slices.Chunk(files, maxOpen) {
		from := len(aside)
		for _, f := range some {
			s, err := d.begun(f)
			if err != nil {
				return nil, errors.Join(err, d.discardStaged(aside))
			}
			aside = append(aside, s)
		}
		for i := range aside[from:] {
			if err := d.sync(&aside[from+i]); err != nil {
				return nil, errors.Join(err, d.discardStaged(aside))
			}
		}
	}
	return aside, nil
}

// begun writes a temporary file and leaves it open.
func (d *Dir) begun(f Content) (staged, error) {
	tmp, file, err := d.temporary()
	if err != nil {
		return staged{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if _, err := file.Write(f.Bytes); err != nil {
		return staged{}, fmt.Errorf("%s: %w", f.Name, errors.Join(err, file.Close(), d.remove(tmp)))
	}
	return staged{Content: f, tmp: tmp, file: file}, nil
}

// sync waits until a file is on the disk. A failed sync says nothing about the pages that were not written, so the file is discarded and written
// once more from the start.
func (d *Dir) sync(s *staged) error {
	if s.file.Sync() != nil {
		if err := errors.Join(s.close(), d.remove(s.tmp)); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		again, err := d.begun(s.Content)
		if err != nil {
			return err
		}
		*s = again
		if err := s.file.Sync(); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// close is done once: the descriptor may be that of another file afterwards.
func (s *staged) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

// discardStaged removes files that will get no name.
func (d *Dir) discardStaged(aside []staged) error {
	var errs []error
	for i := range aside {
		errs = append(errs, aside[i].close(), d.remove(aside[i].tmp))
	}
	return errors.Join(errs...)
}
