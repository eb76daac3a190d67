package trainjsonlreceiver

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// candidate is a file that a search found.
type candidate struct {
	path string
	real bool // no link leads to it, but for those in the part of the glob without meta characters

	key      fileKey   // as the search saw it
	recalled *recalled // nil = the storage was not asked
}

// namer says which of the paths that lead to a file names it.
type namer struct {
	globs *globs
	files fileSystem
	bases []baseFolder // of the includes
}

// baseFolder is where a glob begins.
type baseFolder struct {
	target string // without links, "" = it is not there
	direct bool   // its own path has no link
}

// namer looks the base folders up.
func (g *globs) namer(files fileSystem) namer {
	n := namer{globs: g, files: files, bases: make([]baseFolder, len(g.include))}
	for i, in := range g.include {
		target, err := files.Resolve(in.base)
		if err != nil {
			continue
		}
		abs, err := filepath.Abs(in.base)
		n.bases[i] = baseFolder{target: target, direct: err == nil && abs == target}
	}
	return n
}

// name gives the path without links, if include and exclude allow that too. A file that matches through links alone is
// named by the link.
func (n namer) name(path string) candidate {
	target, err := n.files.Resolve(path)
	if err != nil {
		return candidate{path: path}
	}
	for _, direct := range []bool{true, false} {
		for i, in := range n.globs.include {
			if n.bases[i].target == "" || n.bases[i].direct != direct {
				continue
			}
			rel, err := filepath.Rel(n.bases[i].target, target)
			if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
				continue
			}
			name := filepath.Join(in.base, rel)
			if match, err := doublestar.PathMatch(in.glob, name); err == nil && match && !n.globs.excluded(name) {
				return candidate{path: name, real: true}
			}
		}
	}
	return candidate{path: path}
}

// sameTarget says whether two paths are one file's, one of them through links.
func (n namer) sameTarget(a, b string) bool {
	first, err := n.files.Resolve(a)
	if err != nil {
		return false
	}
	second, err := n.files.Resolve(b)
	return err == nil && first == second
}
