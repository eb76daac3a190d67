package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestADamagedStateIsBegunAnewWhereTheSourceIsReadAgain: streams are; the topic is not, under the name that the state had.
func TestADamagedStateIsBegunAnewWhereTheSourceIsReadAgain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(collector.Shipped(t, "*.yaml"))
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
		require.NoError(t, err)
		var config struct {
			Extensions map[string]map[string]any
			Receivers  map[string]any
		}
		require.NoError(t, yaml.Unmarshal(text, &config), file)
		storage, has := config.Extensions["file_storage"]
		if !has {
			continue
		}
		_, reads := config.Receivers["train_jsonl"]
		assert.Equal(t, reads, storage["recreate"] == true, file)
		checked++
	}
	assert.GreaterOrEqual(t, checked, 4)
}
