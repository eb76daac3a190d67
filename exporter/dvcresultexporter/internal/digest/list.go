package digest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

const (
	maxFiles   = 1000          // of a folder
	maxFolders = 10 * maxFiles // in it
	maxDepth   = 64
	batch      = 128 // names that are read at once
)

// list names the files below a folder, in byte order. It ends with the first file that is too many: a folder may have millions.
func (r *reader) list(sub *os.Root) ([]string, error) {
	l := lister{reader: r, sub: sub, folders: []string{"."}}
	for i := 0; i < len(l.folders); i++ {
		if err := l.folder(l.folders[i]); err != nil {
			return nil, err
		}
	}
	slices.Sort(l.files)
	return l.files, nil
}

type lister struct {
	*reader
	sub            *os.Root
	files, folders []string
}

// folder takes what is in a folder. Should a FIFO have taken its place, opening does not wait.
func (l *lister) folder(name string) error {
	f, err := l.sub.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for {
		some, err := f.ReadDir(batch)
		for _, e := range some {
			if err := l.entry(path.Join(name, e.Name()), e); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, l.ctx.Err()); err != nil {
			return err
		}
		l.progress()
	}
}

func (l *lister) entry(name string, e fs.DirEntry) error {
	if e.IsDir() {
		if strings.Count(name, "/") >= maxDepth || len(l.folders) > maxFolders {
			return refusal(TooLarge)
		}
		l.folders = append(l.folders, name)
		return nil
	}
	if len(l.files) >= maxFiles {
		return refusal(TooLarge)
	}
	info, err := l.sub.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return refusal(RefusedNotRegular)
	}
	l.files = append(l.files, name)
	return nil
}
