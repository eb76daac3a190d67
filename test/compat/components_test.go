package compat

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

const ourModules = "github.com/pathologize/otelcol-train/"

// component is an entry of what `otelcol-train components` prints.
type component struct {
	Name      string            `yaml:"name"`
	Module    string            `yaml:"module"`
	Stability map[string]string `yaml:"stability"`
}

func listed(t *testing.T) map[string][]component {
	t.Helper()
	out, err := collector.Run(t, collector.Options{}, "components")
	require.NoError(t, err, out)
	var all map[string]yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(out), &all))
	lists := map[string][]component{}
	for _, section := range sections {
		node := all[section]
		var list []component
		require.NoError(t, node.Decode(&list), section)
		require.NotEmpty(t, list, section)
		lists[section] = list
	}
	return lists
}

func TestOurComponentsAreListedWithTheirStability(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, list := range listed(t) {
		for _, c := range list {
			if strings.HasPrefix(c.Module, ourModules) {
				got[c.Name] = stability(c)
			}
		}
	}
	assert.Equal(t, []string{"cardinality_guard", "dvc_result", "isolate", "secret_mask", "train_jsonl", "training_norm", "training_records", "training_signals"}, slices.Sorted(maps.Keys(got)))
	for name, s := range got {
		assert.NotEmpty(t, s, name)
	}
}

func TestComponentsPageListsWhatIsInTheBinary(t *testing.T) {
	t.Parallel()
	current(t, filepath.Join(collector.Root(t), "docs", "components.md"), componentsPage(listed(t)))
}

func componentsPage(lists map[string][]component) string {
	var b strings.Builder
	b.WriteString("# Components\n\nWhat is in the binary, as `otelcol-train components` says. Written by `make docs`.\n")
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s%s\n\n| type | stability | module |\n| --- | --- | --- |\n", strings.ToUpper(section[:1]), section[1:])
		for _, c := range lists[section] {
			module := strings.TrimSuffix(c.Module, " v0.0.0")
			if path, ok := strings.CutPrefix(module, ourModules); ok {
				module = fmt.Sprintf("**[%s](../%s/README.md)**", path, path)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, stability(c), module)
		}
	}
	b.WriteString("\nWhat was left out, and how to add it: [replace-host-collector.md](replace-host-collector.md#what-is-left-out).\n")
	return b.String()
}

// stability spells the signals that the component has, the same level once.
func stability(c component) string {
	levels := map[string][]string{}
	for _, signal := range slices.Sorted(maps.Keys(c.Stability)) {
		if level := c.Stability[signal]; level != "Undefined" {
			levels[level] = append(levels[level], signal)
		}
	}
	var parts []string
	for _, level := range slices.Sorted(maps.Keys(levels)) {
		parts = append(parts, strings.ToLower(level)+": "+strings.Join(levels[level], ", "))
	}
	return strings.Join(parts, "; ")
}
