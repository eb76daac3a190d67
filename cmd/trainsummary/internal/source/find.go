package source

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// MaxFiles is how many files one argument may give; of more the newest are kept.
const MaxFiles = 10_000

// maxVisited bounds the entries that a search looks at.
const maxVisited = 1_000_000

// Found is what an argument gave.
type Found struct {
	Refs    []Ref
	Roots   []string
	Folders []Folder // that were searched, at most MaxFiles
	Omitted int      // files beyond MaxFiles
	Missing bool     // a path that is not there, yet
	Err     error    // the argument cannot be used
}

// Folder is one that was searched, as it was before: what comes into it changes its time.
type Folder struct {
	path string
	mod  time.Time
}

// Changed says whether something came or went since.
func (f Folder) Changed() bool {
	fi, err := os.Stat(f.path)
	return err != nil || !fi.ModTime().Equal(f.mod)
}

// Find reads one argument: a file, a folder or a glob of both. No link out of the folder is followed.
func Find(arg string) Found {
	abs, err := Abs(arg)
	if err != nil {
		return Found{Err: err}
	}
	fi, err := os.Lstat(abs)
	switch {
	case err == nil && fi.IsDir():
		return below(arg, abs, streams("")...)
	case err == nil && fi.Mode()&fs.ModeSymlink != 0 && leadsToFolder(abs):
		return below(arg, abs, streams("")...)
	case err == nil:
		return file(arg, abs)
	case !isGlob(arg):
		found := file(arg, abs)
		found.Missing = errors.Is(err, fs.ErrNotExist)
		if !found.Missing {
			found.Err = err
		}
		return found
	}
	base, pattern := doublestar.SplitPattern(strings.TrimRight(filepath.ToSlash(arg), "/"))
	if !doublestar.ValidatePattern(pattern) {
		return Found{Err: errors.New("no glob: close its brackets and braces")}
	}
	root, err := Abs(base)
	if err != nil {
		return Found{Err: err}
	}
	found := below(base, root, append(streams(pattern+"/"), pattern)...)
	found.Missing = len(found.Refs) == 0 && found.Err == nil
	return found
}

// streams are the globs of what a folder is read for.
func streams(folder string) []string {
	return []string{folder + "**/*.jsonl", folder + "**/*.jsonl.gz", folder + "**/*.ndjson"}
}

func isGlob(arg string) bool { return strings.ContainsAny(arg, `*?[{`) }

func leadsToFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func file(arg, abs string) Found {
	root := filepath.Dir(abs)
	return Found{Refs: []Ref{{Root: root, Name: filepath.Base(abs), Path: arg}}, Roots: []string{root}}
}

type aged struct {
	ref Ref
	mod time.Time
}

// below lists the files under a folder that match one of the patterns.
func below(shown, root string, patterns ...string) Found {
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return Found{Roots: []string{root}, Missing: true}
	}
	var files []aged
	found := Found{Roots: []string{root}}
	visited := 0
	found.Err = filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if visited++; visited > maxVisited {
			return fs.SkipAll
		}
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil //nolint:nilerr // what cannot be looked at is not there
		}
		if d.IsDir() && len(found.Folders) < MaxFiles {
			if fi, err := d.Info(); err == nil {
				found.Folders = append(found.Folders, Folder{path, fi.ModTime()})
			}
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || d.IsDir() || !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0 || !matchesAny(patterns, filepath.ToSlash(rel)) {
			return nil //nolint:nilerr // not below the root
		}
		ref := Ref{Root: root, Name: rel, Path: filepath.Join(shown, rel)}
		if fi, err := ref.Stat(); err == nil && fi.Mode().IsRegular() {
			files = append(files, aged{ref, fi.ModTime()})
		}
		return nil
	})
	if n := len(files) - MaxFiles; n > 0 {
		slices.SortFunc(files, func(a, b aged) int { return cmp.Or(b.mod.Compare(a.mod), cmp.Compare(a.ref.Path, b.ref.Path)) })
		files, found.Omitted = files[:MaxFiles], n
	}
	slices.SortFunc(files, func(a, b aged) int { return cmp.Compare(a.ref.Path, b.ref.Path) })
	for _, f := range files {
		found.Refs = append(found.Refs, f.ref)
	}
	return found
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := doublestar.Match(p, name)
		return err == nil && ok
	})
}
