// Package environ gives programs under test an environment in which nothing counts that their caller happens to have exported.
package environ

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// variable finds what a configuration takes from the environment.
var variable = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)`)

// Clean is the caller's environment without the variables that the configurations in a folder name, and with a program's own.
func Clean(configs string, own map[string]string) ([]string, error) {
	named, err := variables(configs)
	if err != nil {
		return nil, err
	}
	return clean(os.Environ(), named, own), nil
}

func clean(callers, named []string, own map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(callers), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(named, name)
	})
	for k, v := range own {
		env = append(env, k+"="+v)
	}
	return env
}

// variables lists those that the files of a folder name.
func variables(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // of the repository
		for _, found := range variable.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
		return err
	})
	return names, err
}
