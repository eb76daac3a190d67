package trainjsonlreceiver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.uber.org/zap"
)

// spelling is a folder or file whose name a glob spells as it is, brackets or braces in it, and so does not match.
type spelling struct {
	path    string
	escaped string // the glob that would match it
}

var escapes = strings.NewReplacer("[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// spellings gives those of a glob, as far as its parts are names. Variables for folders bring such names into globs.
func spellings(glob string) (list []spelling) {
	parts := strings.Split(glob, "/")
	names := slices.Clone(parts)
	for i, part := range parts {
		if strings.ContainsAny(part, `*?\`) {
			break
		}
		if match, err := doublestar.Match(part, part); err != nil || match {
			continue
		}
		parts[i] = escapes.Replace(part)
		list = append(list, spelling{path: strings.Join(names[:i+1], "/"), escaped: strings.Join(parts, "/")})
	}
	return list
}

// tellSpellings logs, once a glob, the innermost that is there. One that is not is meant as a pattern, most likely.
func (t *tailer) tellSpellings(files fileSystem) {
	for _, in := range t.globs.include {
		for _, s := range slices.Backward(in.spellings) {
			if _, err := files.Stat(s.path); err != nil {
				continue
			}
			if in.told.CompareAndSwap(false, true) {
				t.logger.Warn("Does not read what has this name, its brackets and braces are a pattern; put backslashes before them",
					zap.String("include", in.glob), zap.String("path", s.path), zap.String("write", s.escaped))
			}
			break
		}
	}
}

// tellFolders counts and logs, once each, what include names that is a folder: no file in it is read.
func (t *tailer) tellFolders(files *tree) {
	for _, in := range t.globs.include {
		if strings.ContainsAny(in.rest, `*?[{\`) || in.told.Load() { // a pattern that a folder matches may match files too
			continue
		}
		fi, err := files.Stat(filepath.Join(in.base, in.rest))
		if err != nil || !fi.IsDir() || !in.told.CompareAndSwap(false, true) {
			continue
		}
		t.tel.SkippedFiles.Add(files.ctx, 1, t.tel.Reason(skipNotRegular))
		t.logger.Warn("Reads nothing of a folder that include names; name its files",
			zap.String("include", in.glob), zap.String("write", in.glob+"/*/train.jsonl"))
	}
}

// walksAll says whether a glob goes through the whole file system, as it does when the variable for its folder is empty.
func walksAll(glob string) bool {
	base, rest := doublestar.SplitPattern(filepath.Clean(glob))
	return base == "/" && boundedDepth(rest) == 0
}

// validateWalks refuses such globs.
func validateWalks(include []string) (errs []error) {
	for _, glob := range include {
		if walksAll(glob) {
			errs = append(errs, fmt.Errorf("include: %q goes through the whole file system, name a folder; is a variable in it empty?", glob))
		}
	}
	return errs
}
