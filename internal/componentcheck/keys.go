package componentcheck

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// checkKeys compares the README's key table with the configuration struct, both ways.
func (s *suite) checkKeys() []error {
	keys := configKeys(s.factory.CreateDefaultConfig())
	if len(keys) == 0 {
		return nil
	}
	tab, ok := s.readme.find("Key")
	if !ok {
		return []error{fmt.Errorf("README.md: no table of keys: begin it with | Key | Default | Meaning |")}
	}
	if len(tab.header) < 3 || !strings.EqualFold(tab.header[1], "Default") {
		return []error{fmt.Errorf("README.md: keys: want the columns Key, Default, Meaning")}
	}
	documented := map[string]string{}
	for _, row := range tab.rows {
		if len(row) != len(tab.header) {
			return []error{fmt.Errorf("README.md: keys: row %q has %d cells, want %d", row[0], len(row), len(tab.header))}
		}
		if row[2] == "" {
			return []error{fmt.Errorf("README.md: keys: %s has no meaning", row[0])}
		}
		documented[wildcard(strings.Trim(row[0], "`"))] = row[1]
	}
	return diffKeys(keys, documented)
}

func diffKeys(keys []configKey, documented map[string]string) []error {
	var errs []error
	allowed := map[string]bool{}
	covered := map[string]bool{}
	for _, k := range keys {
		allowed[k.path] = true
		cell, ok := documented[k.path]
		if k.foreign && ok {
			covered[k.path] = true
		}
		switch {
		case !ok && k.group, isBelow(k.path, covered):
		case !ok:
			errs = append(errs, fmt.Errorf("README.md: keys: no row for %s", k.path))
		case k.group || k.unknown:
		default:
			if err := matchDefault(cell, k.value); err != nil {
				errs = append(errs, fmt.Errorf("README.md: keys: %s: %w", k.path, err))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !allowed[name] && !isBelow(name, covered) {
			errs = append(errs, fmt.Errorf("README.md: keys: %s is no key of the configuration", name))
		}
	}
	return errs
}

// isBelow says whether path lies under one of the roots.
func isBelow(path string, roots map[string]bool) bool {
	for root := range roots {
		if strings.HasPrefix(path, root+".") || strings.HasPrefix(path, root+"[]") {
			return true
		}
	}
	return false
}

var placeholder = regexp.MustCompile(`<[^>]*>`)

// wildcard makes every spelling of a map's placeholder the same.
func wildcard(key string) string { return placeholder.ReplaceAllString(key, "<name>") }
