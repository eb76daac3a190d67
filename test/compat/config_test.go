package compat

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

var sections = []string{"receivers", "processors", "exporters", "connectors", "extensions"}

// document is a Collector configuration as plain data.
type document map[string]any

func load(t *testing.T, file string) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file)) //nolint:gosec // test data
	require.NoError(t, err)
	var d map[string]any // a named type would be the type of every map inside
	require.NoError(t, yaml.Unmarshal(text, &d))
	return d
}

func (d document) text(t *testing.T) string {
	t.Helper()
	text, err := yaml.Marshal(map[string]any(d))
	require.NoError(t, err)
	return string(text)
}

// components returns the ids that a section declares.
func (d document) components(section string) map[string]any {
	m, _ := d[section].(map[string]any)
	return m
}

// lists calls f with every list of component ids of the service, by section.
func (d document) lists(f func(section string, ids []any) []any) {
	service, _ := d["service"].(map[string]any)
	if ids, ok := service["extensions"].([]any); ok {
		service["extensions"] = f("extensions", ids)
	}
	pipelines, _ := service["pipelines"].(map[string]any)
	for _, p := range pipelines {
		pipeline := p.(map[string]any)
		for _, section := range []string{"receivers", "processors", "exporters"} {
			if ids, ok := pipeline[section].([]any); ok {
				pipeline[section] = f(section, ids)
			}
		}
	}
}

// rename changes component types in every place where they are named, and says whether it changed any.
func (d document) rename(names map[string]map[string]string) bool {
	changed := false
	newID := func(section, id string) string {
		kind, rest, found := strings.Cut(id, "/")
		if n, ok := names[section][kind]; ok {
			changed, kind = true, n
		}
		if found {
			return kind + "/" + rest
		}
		return kind
	}
	for _, section := range sections {
		for id, config := range maps.Clone(d.components(section)) {
			delete(d.components(section), id)
			d.components(section)[newID(section, id)] = config
		}
	}
	d.lists(func(section string, ids []any) []any {
		for i, id := range ids {
			ids[i] = newID(section, id.(string))
		}
		return ids
	})
	return changed
}

// without puts nop in the place of receivers and exporters that the binary does not have and drops the rest.
func (d document) without(accepted map[string][]string) {
	has := func(section string, id any) bool {
		return slices.Contains(accepted[section], kindOf(id.(string))) || slices.Contains(accepted["connectors"], kindOf(id.(string)))
	}
	d.lists(func(section string, ids []any) []any {
		out := slices.DeleteFunc(slices.Clone(ids), func(id any) bool { return !has(section, id) })
		if len(out) == 0 && (section == "receivers" || section == "exporters") {
			d.components(section)["nop"] = map[string]any{}
			out = []any{"nop"}
		}
		return out
	})
	for _, section := range sections {
		maps.DeleteFunc(d.components(section), func(id string, _ any) bool { return !slices.Contains(accepted[section], kindOf(id)) })
	}
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return kind
}

// missing lists what the configuration declares and the binary does not have, as the table of configurations spells it.
func (d document) missing(accepted map[string][]string) []string {
	set := map[string]bool{}
	for _, section := range sections {
		for id := range d.components(section) {
			if kind := kindOf(id); !slices.Contains(accepted[section], kind) {
				set[strings.TrimSuffix(section, "s")+" "+kind] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

var validValues = regexp.MustCompile(`\(valid values: \[([^\]]*)\]\)`)

// acceptedNames asks the binary for all the names it takes, aliases included: its error for an unknown type lists them.
func acceptedNames(t *testing.T) map[string][]string {
	t.Helper()
	accepted := map[string][]string{}
	for _, section := range sections {
		out, err := collector.Validate(t, collector.Options{YAML: fmt.Sprintf("%s: {no_such_type: {}}\n", section)})
		require.Error(t, err)
		found := validValues.FindStringSubmatch(out)
		require.NotNil(t, found, "no list of names in:\n%s", out)
		accepted[section] = strings.Fields(found[1])
		require.NotEmpty(t, accepted[section])
	}
	return accepted
}
