package trainingnormprocessor

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestTheRemedyTellsARecordWithAMistakeFromARow(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"custom": 1}`: "profile",
		`{"event": "a message", "level": "info"}`:           "profile",
		`{"event": "epoch_end", "run_id": "r", "ts": 1}`:    "none of the vocabulary",
		`{"event": "epoch.end", "run_id": "r", "body": {}}`: "no ts",
		`{"event": "epoch.end", "ts": 1796045246}`:          "neither run_id",
		`{"event": 5, "run_id": "r"}`:                       "profile",
	} {
		var raw map[string]any
		require.NoError(t, json.Unmarshal([]byte(object), &raw))
		v := pcommon.NewValueEmpty()
		require.NoError(t, v.FromRaw(raw))
		assert.Contains(t, remedy(v), want, object)
	}
	assert.Contains(t, remedy(pcommon.NewValueStr("x")), "map")
}
