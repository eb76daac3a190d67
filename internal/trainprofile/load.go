package trainprofile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Load gives the shipped profiles and those of files, for objects that name no framework or the given one. It names every
// file that cannot be used, as the key profiles of a configuration lists them.
func Load(framework string, files []string) (*Set, error) {
	all, err := Embedded()
	if err != nil {
		return nil, err
	}
	var errs []error
	for i, file := range files {
		p, err := parseFile(file)
		if err != nil {
			errs = append(errs, fmt.Errorf("profiles[%d]: %w", i, err))
			continue
		}
		all = append(all, p)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	set, err := NewSet(framework, all...)
	if err != nil && framework != "" {
		return nil, fmt.Errorf("framework: %w", err)
	}
	return set, err
}

func parseFile(file string) (*Profile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w; want the path of a profile that the collector can read, "+
			"from its working directory unless it begins with /", err)
	}
	return Parse(filepath.Base(file), data)
}
