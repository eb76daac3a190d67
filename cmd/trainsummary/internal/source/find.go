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

// Find reads one argument: a file, a folder or a glob of both. No link out of the folder is followed; within it, links to files, and those to folders that a
// glob names.
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
	ref    Ref
	mod    time.Time
	linked bool // found behind a link to a folder
}

// search looks for files under a folder.
type search struct {
	shown, root string
	patterns    []string
	found       Found
	files       []aged
	links       []string // to folders of the root, which a pattern names
	visited     int
}

// below lists the files under a folder that match one of the patterns.
func below(shown, root string, patterns ...string) Found {
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return Found{Roots: []string{root}, Missing: true}
	}
	s := &search{shown: shown, root: root, patterns: patterns, found: Found{Roots: []string{root}}}
	s.found.Err = s.walk("", false)
	for len(s.links) > 0 {
		link := s.links[0]
		s.links = s.links[1:]
		_ = s.walk(link, true) // what cannot be looked at is not there
	}
	s.unlink()
	files := s.files
	if n := len(files) - MaxFiles; n > 0 {
		slices.SortFunc(files, func(a, b aged) int { return cmp.Or(b.mod.Compare(a.mod), cmp.Compare(a.ref.Path, b.ref.Path)) })
		files, s.found.Omitted = files[:MaxFiles], n
	}
	slices.SortFunc(files, func(a, b aged) int { return cmp.Compare(a.ref.Path, b.ref.Path) })
	for _, f := range files {
		s.found.Refs = append(s.found.Refs, f.ref)
	}
	return s.found
}

// walk looks at what is below a folder of the root.
func (s *search) walk(folder string, linked bool) error {
	return filepath.WalkDir(filepath.Join(s.root, folder)+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if s.visited++; s.visited > maxVisited {
			return fs.SkipAll
		}
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil //nolint:nilerr // what cannot be looked at is not there
		}
		if d.IsDir() && len(s.found.Folders) < MaxFiles {
			if fi, err := d.Info(); err == nil {
				s.found.Folders = append(s.found.Folders, Folder{path, fi.ModTime()})
			}
		}
		if rel, err := filepath.Rel(s.root, path); err == nil && (d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0) {
			s.look(rel, d, linked)
		}
		return nil
	})
}

// look takes a file, or a link to a folder, that a pattern names. No link leads out of the root.
func (s *search) look(rel string, d fs.DirEntry, linked bool) {
	name := filepath.ToSlash(rel)
	matches, leads := matchesAny(s.patterns, name), d.Type()&fs.ModeSymlink != 0 && leadsTo(s.patterns, name)
	if !matches && !leads {
		return
	}
	ref := Ref{Root: s.root, Name: rel, Path: filepath.Join(s.shown, rel)}
	fi, err := ref.Stat()
	switch {
	case err != nil:
	case fi.IsDir() && leads:
		s.links = append(s.links, rel)
	case fi.Mode().IsRegular() && matches:
		s.files = append(s.files, aged{ref, fi.ModTime(), linked})
	}
}

// unlink leaves out what links to folders lead to a second time.
func (s *search) unlink() {
	if !slices.ContainsFunc(s.files, func(f aged) bool { return f.linked }) {
		return
	}
	known := map[string]bool{}
	for _, linked := range []bool{false, true} {
		s.files = slices.DeleteFunc(s.files, func(f aged) bool {
			if f.linked != linked {
				return false
			}
			real, err := filepath.EvalSymlinks(filepath.Join(f.ref.Root, f.ref.Name))
			again := linked && (err != nil || known[real])
			known[real] = true
			return again
		})
	}
}

// leadsTo says whether a pattern names a folder by its first parts, one by one: what ** goes through are folders, not links.
func leadsTo(patterns []string, folder string) bool {
	depth := strings.Count(folder, "/") + 1
	return slices.ContainsFunc(patterns, func(p string) bool {
		parts := strings.SplitN(p, "/", depth+1)
		if len(parts) <= depth {
			return false
		}
		first := strings.Join(parts[:depth], "/")
		return !strings.Contains(first, "**") && matchesAny([]string{first}, folder)
	})
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := doublestar.Match(p, name)
		return err == nil && ok
	})
}
