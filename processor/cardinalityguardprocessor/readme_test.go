package cardinalityguardprocessor

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"
)

// TestTheExamplesOfTheREADMEAreValid reads every configuration in it as the Collector does.
func TestTheExamplesOfTheREADMEAreValid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	examples := 0
	for _, part := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		var doc struct {
			Processors map[string]map[string]any `yaml:"processors"`
		}
		require.NoError(t, yaml.Unmarshal([]byte(block), &doc), block)
		for _, keys := range doc.Processors {
			cfg := createDefaultConfig().(*Config)
			require.NoError(t, confmap.NewFromStringMap(keys).Unmarshal(cfg), block)
			require.NoError(t, cfg.Validate(), block)
			examples++
		}
	}
	require.GreaterOrEqual(t, examples, 2)
}
