package signals

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/internal/trainrecord"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestTheShippedPolicyAndMappingKnowEveryMetric holds the lists that others read against the registry.
func TestTheShippedPolicyAndMappingKnowEveryMetric(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(collector.Shipped(t, "policy/training.yaml"))
	require.NoError(t, err)
	var policy struct {
		Metrics struct{ Allow struct{ Exact []string } }
	}
	require.NoError(t, yaml.Unmarshal(data, &policy))
	dimensions := mapping(t)
	for _, n := range trainrecord.Load().Names {
		if n.Kind != trainrecord.KindMetric {
			continue
		}
		name := trainrecord.Namespace + "." + n.Name
		assert.Contains(t, policy.Metrics.Allow.Exact, name)
		dimension, mapped := dimensions[name]
		wanted := len(n.Attributes) > 0 && n.Instrument != "histogram" // a dimension of a histogram merges its series
		assert.Equal(t, wanted, mapped, name)
		if wanted {
			assert.Equal(t, trainrecord.Namespace+"."+n.Attributes[0], dimension, name)
		}
	}
}
