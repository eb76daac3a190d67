package atomicdir

import (
	"path"
	"slices"
	"strings"
)

// sweep looks for what a set has on disk and is not wanted.
type sweep struct {
	dir    *Dir
	rules  []Swept // with names from the root
	wanted map[string]bool
	found  []string // a directory after what it holds
}

// swept lists the files of a set that are not wanted, and the directories that hold nothing else.
func (d *Dir) swept(set Set, wanted map[string]bool) ([]string, error) {
	s := sweep{dir: d, wanted: wanted}
	var tops []string
	for _, rule := range set.Swept {
		top, _, _ := strings.Cut(rule.Below, "/")
		if top = path.Join(set.Name, top); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
		s.rules = append(s.rules, Swept{path.Join(set.Name, rule.Below), rule.Suffix})
	}
	for _, top := range tops {
		if _, err := s.folder(top); err != nil {
			return nil, err
		}
	}
	for _, file := range set.Optional {
		name := path.Join(set.Name, file)
		if info, err := d.fs.Lstat(name); err == nil && !info.IsDir() && !wanted[name] {
			s.found = append(s.found, name)
		}
	}
	return s.found, nil
}

// folder looks through a directory, and says whether it goes.
func (s *sweep) folder(name string) (goes bool, err error) {
	if info, err := s.dir.fs.Lstat(name); err != nil || !info.IsDir() {
		return false, ignoreMissing(err)
	}
	entries, err := s.dir.fs.ReadDir(name)
	if err != nil {
		return false, ignoreMissing(err)
	}
	goes = !s.wanted[name]
	for _, e := range entries {
		entry, entryGoes := path.Join(name, e.Name()), false
		switch {
		case !e.IsDir():
			if entryGoes = !s.wanted[entry] && s.isFile(entry); entryGoes {
				s.found = append(s.found, entry)
			}
		case s.isFolder(entry):
			if entryGoes, err = s.folder(entry); err != nil {
				return false, err
			}
		}
		goes = goes && entryGoes
	}
	if goes {
		s.found = append(s.found, name)
	}
	return goes, nil
}

func (s *sweep) isFile(name string) bool {
	return slices.ContainsFunc(s.rules, func(r Swept) bool {
		return strings.HasPrefix(name, r.Below+"/") && strings.HasSuffix(name, r.Suffix)
	})
}

// isFolder says that a directory is on the way to swept files, or below it.
func (s *sweep) isFolder(name string) bool {
	return slices.ContainsFunc(s.rules, func(r Swept) bool {
		return strings.HasPrefix(r.Below+"/", name+"/") || strings.HasPrefix(name, r.Below+"/")
	})
}
