package docs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// figures are receivers that measure, and know nothing that a trainer wrote.
var figures = []string{"prometheus", "host_metrics"}

// unmasked are pipelines that stay without a masker, with the reason.
var unmasked = map[string]string{
	"fleet-gateway-backend.yaml metrics": "agents mask the metrics of trainings; those of hosts and GPUs would become other series",
}

// TestWhatTrainersWriteIsMaskedBeforeABackend in every shipped configuration, also with an overlay over it, whose lists take the place of those below.
func TestWhatTrainersWriteIsMaskedBeforeABackend(t *testing.T) {
	t.Parallel()
	config := filepath.Join(collector.Root(t), "config")
	whole := map[string]map[string]any{}
	for _, pattern := range []string{"*.yaml", filepath.Join("overlays", "*.yaml")} {
		files, err := filepath.Glob(filepath.Join(config, pattern))
		require.NoError(t, err)
		for _, file := range files {
			name, err := filepath.Rel(config, file)
			require.NoError(t, err)
			whole[name] = parsed(t, file)
			if strings.HasPrefix(name, "overlays") {
				whole[name] = merged(parsed(t, filepath.Join(config, "host-training.yaml")), whole[name])
			}
		}
	}
	checked := 0
	for name, c := range whole {
		for id, body := range section(section(c, "service"), "pipelines") {
			pipeline, _ := body.(map[string]any)
			if !leavesTheHost(c, pipeline) || !slices.ContainsFunc(kinds(pipeline["receivers"]), func(kind string) bool { return !slices.Contains(figures, kind) }) {
				continue
			}
			if unmasked[name+" "+id] != "" {
				continue
			}
			checked++
			assert.Contains(t, kinds(pipeline["processors"]), "secret_mask", "%s, pipeline %s", name, id)
		}
	}
	assert.Greater(t, checked, 10)
}

// leavesTheHost: to a backend, not to results, to a connector or to Kafka, from which results are made.
func leavesTheHost(c, pipeline map[string]any) bool {
	return slices.ContainsFunc(kinds(pipeline["exporters"]), func(kind string) bool {
		return !slices.Contains([]string{"dvc_result", "kafka", "debug"}, kind) && !slices.ContainsFunc(slices.Collect(maps.Keys(section(c, "connectors"))), func(id string) bool {
			return kindOf(id) == kind
		})
	})
}

func parsed(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, yaml.Unmarshal(text, &m))
	return m
}

// merged lays one configuration over another as a Collector does.
func merged(below, above map[string]any) map[string]any {
	for key, value := range above {
		over, isMap := value.(map[string]any)
		if under, both := below[key].(map[string]any); isMap && both {
			value = merged(under, over)
		}
		below[key] = value
	}
	return below
}

func section(c map[string]any, key string) map[string]any {
	m, _ := c[key].(map[string]any)
	return m
}

func kinds(list any) []string {
	var out []string
	ids, _ := list.([]any)
	for _, id := range ids {
		if s, ok := id.(string); ok {
			out = append(out, kindOf(s))
		}
	}
	return out
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return kind
}
