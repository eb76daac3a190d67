package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestEpochsOfRowsAndRecordsHaveOneRange holds the bound of mapped rows to that of records.
func TestEpochsOfRowsAndRecordsHaveOneRange(t *testing.T) {
	t.Parallel()
	found := 0
	for _, n := range trainrecord.Load().Names {
		if n.Kind != trainrecord.KindBody || n.Name != trainrecord.BodyEpoch && n.Name != trainrecord.BodyEpochProgress {
			continue
		}
		found++
		require.NotNil(t, n.Maximum, n.Name)
		assert.EqualValues(t, maxEpochs, *n.Maximum, n.Name)
	}
	assert.Equal(t, 2, found)
}
