package trainprofile

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed profiles/*.yaml
var embedded embed.FS

// Set is a number of profiles in the order of detection. It does not change and may be shared.
type Set struct {
	profiles  []*Profile
	byName    map[string][]*Profile
	framework string
	beside    []*Profile // rules that read lines beside the rows of other profiles
	index     *index

	hasEnvelopes, hasSure, hasAttributes bool
}

var loadEmbedded = sync.OnceValues(func() ([]*Profile, error) {
	var profiles []*Profile
	files, err := fs.Glob(embedded, "profiles/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := embedded.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p, err := Parse(strings.TrimPrefix(file, "profiles/"), data)
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, p)
	}
	return profiles, nil
})

// Embedded gives the profiles that this package ships.
func Embedded() ([]*Profile, error) {
	profiles, err := loadEmbedded()
	return slices.Clone(profiles), err
}

// NewSet puts profiles in the order of detection; of two with one name the later counts. framework, if not empty, names
// the profile or framework of every object that does not name one itself.
func NewSet(framework string, profiles ...*Profile) (*Set, error) {
	s := &Set{byName: map[string][]*Profile{}, framework: framework}
	for _, p := range profiles {
		s.profiles = slices.DeleteFunc(s.profiles, func(o *Profile) bool { return o.name == p.name })
		s.profiles = append(s.profiles, p)
	}
	slices.SortStableFunc(s.profiles, func(a, b *Profile) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.name, b.name))
	})
	var err error
	if s.index, err = newIndex(s.profiles); err != nil {
		return nil, err
	}
	for _, p := range s.profiles {
		s.hasEnvelopes = s.hasEnvelopes || p.unwrap != nil
		s.hasSure = s.hasSure || p.sure != nil
		if p.beside != nil {
			s.beside = append(s.beside, p.beside)
		}
		s.hasAttributes = s.hasAttributes || p.attributes != nil
		if len(p.rules) == 0 {
			continue
		}
		s.byName[p.name] = append([]*Profile{p}, s.byName[p.name]...)
		if p.framework != p.name {
			s.byName[p.framework] = append(s.byName[p.framework], p)
		}
	}
	if framework != "" && len(s.byName[framework]) == 0 {
		return nil, fmt.Errorf("no profile is called %q; known are %s", framework, strings.Join(s.Names(), ", "))
	}
	return s, nil
}

// Names lists the profiles of frameworks, sorted.
func (s *Set) Names() []string {
	var names []string
	for _, p := range s.profiles {
		if len(p.rules) > 0 {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names
}

// Profile gives the profile of a name, nil when there is none.
func (s *Set) Profile(name string) *Profile {
	for _, p := range s.profiles {
		if p.name == name {
			return p
		}
	}
	return nil
}

// named gives the profiles that a name stands for: the profile of that name first, then those of that framework.
func (s *Set) named(name string) []*Profile {
	if name == "" {
		return nil
	}
	return s.byName[name]
}
