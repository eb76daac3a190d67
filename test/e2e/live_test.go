package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALiveResultThatWasDueIsWrittenAfterAKill with no further line of the run.
func TestALiveResultThatWasDueIsWrittenAfterAKill(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	env["LIVE_INTERVAL"], env["LATE_GRACE"], env["IDLE_TIMEOUT"] = "5s", "1s", "5m"
	c := quickstartWith(t, env)
	c.Start()
	newTrainer(t, f, "native-7f3a9c").lines(sample(t, "native")[:3]...)
	c.WaitMetric("otelcol_dvc_result_records", nil, 3, resultWithin)
	path := filepath.Join(f.Results, "native-7f3a9c", "result.json")
	assert.NoFileExists(t, path, "not due yet")
	c.Kill()
	c.Start()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && assert.Contains(t, string(text), `"final": false`)
	}, resultWithin, 50*time.Millisecond)
}
