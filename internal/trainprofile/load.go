package trainprofile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// CheckFiles names what is wrong with a list of files as the key profiles of a configuration has it, before any of them is read.
func CheckFiles(files []string) (errs []error) {
	for i, file := range files {
		if file == "" {
			errs = append(errs, fmt.Errorf("profiles[%d]: want the path of a profile, got nothing", i))
		} else if slices.Contains(files[:i], file) {
			errs = append(errs, fmt.Errorf("profiles[%d]: %s is listed twice", i, file))
		}
	}
	return errs
}

func parseFile(file string) (*Profile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w; want the path of a profile that can be read, "+
			"from the working directory unless it begins with /", err)
	}
	return Parse(filepath.Base(file), data)
}
