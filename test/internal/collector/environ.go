package collector

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variable finds what a configuration takes from the environment.
var variable = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)`)

// Environ is the environment of a collector under test: the caller's, without the variables that configurations in config/ name, and the test's own.
// So a test says the same whatever its caller has exported.
func Environ(t testing.TB, own map[string]string) []string {
	t.Helper()
	named, err := variables(filepath.Join(Root(t), "config"))
	if err != nil {
		t.Fatalf("read the variables of the shipped configurations: %v", err)
	}
	return environ(os.Environ(), named, own)
}

func environ(callers, named []string, own map[string]string) []string {
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
