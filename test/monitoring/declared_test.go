package monitoring

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// prefix is what every self-metric of a component begins with.
const prefix = "otelcol_"

// declared is a metric that a component's metadata.yaml declares.
type declared struct {
	counter bool
	// labels are its attributes with the values that each can have; nil when they are not listed.
	labels map[string][]string
}

type metadata struct {
	Attributes map[string]struct {
		Enum []string `yaml:"enum"`
	} `yaml:"attributes"`
	Telemetry struct {
		Metrics map[string]struct {
			Attributes []string `yaml:"attributes"`
			Sum        *struct {
				Monotonic bool `yaml:"monotonic"`
			} `yaml:"sum"`
		} `yaml:"metrics"`
	} `yaml:"telemetry"`
}

// ours are the metrics of every component of this repository.
func ours(t *testing.T) map[string]declared {
	t.Helper()
	out := map[string]declared{}
	for _, kind := range []string{"receiver", "processor", "exporter", "connector"} {
		files, err := filepath.Glob(filepath.Join(collector.Root(t), kind, "*", "metadata.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, files, kind)
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
			require.NoError(t, err)
			var m metadata
			require.NoError(t, yaml.Unmarshal(text, &m), file)
			require.NotEmpty(t, m.Telemetry.Metrics, file)
			for name, metric := range m.Telemetry.Metrics {
				d := declared{counter: metric.Sum != nil && metric.Sum.Monotonic, labels: map[string][]string{}}
				for _, label := range metric.Attributes {
					d.labels[label] = m.Attributes[label].Enum
				}
				out[prefix+name] = d
			}
		}
	}
	return out
}

// file reads one of monitoring/.
func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "monitoring", name)) //nolint:gosec // a file of this repository
	require.NoError(t, err)
	return text
}
