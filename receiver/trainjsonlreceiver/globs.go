package trainjsonlreceiver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// globs are include and exclude.
type globs struct {
	include []includeGlob
	exclude []string
}

// includeGlob is one entry of include.
type includeGlob struct {
	glob   string
	base   string // the folder before the first meta character
	rest   string // below it
	follow int    // how many folders below base may be entered through links: those before the first **

	spellings []spelling // of names that it does not match
	told      *atomic.Bool
}

func newGlobs(include, exclude []string) *globs {
	g := &globs{}
	for _, glob := range exclude {
		g.exclude = append(g.exclude, filepath.Clean(glob))
	}
	for _, glob := range include {
		glob = filepath.Clean(glob)
		base, rest := doublestar.SplitPattern(glob)
		g.include = append(g.include, includeGlob{glob: glob, base: base, rest: rest, follow: boundedDepth(rest), spellings: spellings(glob), told: &atomic.Bool{}})
	}
	return g
}

// boundedDepth counts the parts of a pattern before its first **.
func boundedDepth(pattern string) int {
	parts := strings.Split(pattern, "/")
	i := slices.IndexFunc(parts, func(part string) bool {
		return slices.Contains(strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune("{,}", r) }), "**")
	})
	if i < 0 {
		return len(parts)
	}
	return i
}

// validateGlobs names the globs that are none.
func validateGlobs(key string, list []string) error {
	var errs []error
	for _, glob := range list {
		switch {
		case glob == "":
			errs = append(errs, fmt.Errorf("%s: an entry is empty, take it out", key))
		case !doublestar.ValidatePathPattern(glob):
			errs = append(errs, fmt.Errorf("%s: %q is no glob, close its brackets and braces or escape them with a backslash", key, glob))
		}
	}
	return errors.Join(errs...)
}

// find gives the paths that match, sorted. It ends early, with the context's error, when the context does; other errors are
// reported and what they concern is left out.
func (g *globs) find(ctx context.Context, files fileSystem, report func(path string, err error)) ([]string, error) {
	var paths []string
	told := map[string]bool{} // a folder is listed once for each part of a glob that may match in it
	tell := func(path string, err error) {
		if !told[path] {
			told[path] = true
			report(path, err)
		}
	}
	for _, in := range g.include {
		if in.rest == "" || in.rest == "." || in.rest == ".." {
			continue // a folder is no file
		}
		fi, err := files.Stat(in.base)
		if err == nil && !fi.IsDir() {
			err = &fs.PathError{Op: "open", Path: in.base, Err: syscall.ENOTDIR}
		}
		if err != nil {
			tell(in.base, err)
			continue
		}
		tree := globTree{ctx: ctx, files: files, base: in.base, follow: in.follow, report: tell}
		err = doublestar.GlobWalk(tree, in.rest, func(name string, _ fs.DirEntry) error {
			if path := tree.path(name); !g.excluded(path) {
				paths = append(paths, path)
			}
			return ctx.Err()
		}, doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			tell(in.base, err)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), ctx.Err()
}

// match says whether a path is one of those that find gives.
func (g *globs) match(path string) bool {
	return !g.excluded(path) && slices.ContainsFunc(g.include, func(in includeGlob) bool {
		match, err := doublestar.PathMatch(in.glob, path)
		return err == nil && match
	})
}

func (g *globs) excluded(path string) bool {
	return slices.ContainsFunc(g.exclude, func(glob string) bool {
		match, err := doublestar.PathMatch(glob, path)
		return err == nil && match
	})
}

// globTree is what a glob sees of the files below its base. Links to folders are folders where the pattern has a fixed
// depth, and nothing below that: ** would follow those that point upwards for ever.
type globTree struct {
	ctx    context.Context
	files  fileSystem
	base   string
	follow int
	report func(path string, err error)
}

func (g globTree) path(name string) string { return filepath.Join(g.base, name) }

// Open is there for fs.FS; globs do not open files.
func (globTree) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// Stat follows links. What cannot be looked at is not there.
func (g globTree) Stat(name string) (fs.FileInfo, error) {
	if g.ctx.Err() != nil {
		return nil, g.ctx.Err()
	}
	fi, err := g.files.Stat(g.path(name))
	switch {
	case err == nil:
		return fi, nil
	case errors.Is(err, syscall.ELOOP):
		return loopedLink{}, nil // if it matches, the look at it tells
	case !isMissing(err):
		g.report(g.path(name), err)
	}
	return nil, fs.ErrNotExist
}

// ReadDir lists a folder, as far as it can be listed.
func (g globTree) ReadDir(name string) ([]fs.DirEntry, error) {
	if g.ctx.Err() != nil {
		return nil, g.ctx.Err()
	}
	list, err := g.files.ReadDir(g.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.report(g.path(name), err)
	}
	enter := depth(name) < g.follow
	kept := list[:0]
	for _, entry := range list {
		if entry.Type()&fs.ModeSymlink == 0 {
			kept = append(kept, entry)
			continue
		}
		fi, err := g.Stat(filepath.Join(name, entry.Name()))
		switch {
		case g.ctx.Err() != nil:
			return nil, g.ctx.Err()
		case err != nil: // it leads nowhere
		case !fi.IsDir():
			kept = append(kept, entry)
		case enter:
			kept = append(kept, linkedFolder{entry})
		}
	}
	return kept, nil
}

func depth(name string) int {
	if name == "." {
		return 0
	}
	return strings.Count(name, "/") + 1
}

// loopedLink is a link that leads to itself: no folder, and no file that could be read.
type loopedLink struct{ fs.FileInfo }

func (loopedLink) IsDir() bool       { return false }
func (loopedLink) Mode() fs.FileMode { return fs.ModeSymlink }

// linkedFolder is a link to a folder that counts as one.
type linkedFolder struct{ fs.DirEntry }

func (linkedFolder) IsDir() bool       { return true }
func (linkedFolder) Type() fs.FileMode { return fs.ModeDir }
