package dvc

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheComparisonWithDVCLiveRuns, at least the half of it that needs nothing to be installed.
func TestTheComparisonWithDVCLiveRuns(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED: the comparison with DVCLive: no python3")
	}
	cmd := exec.Command(python, "dvclive_cost.py") //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "STEPS=20")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Regexp(t, `^a line: CPU \d+ us a step, \d+ us until the next\n(no DVCLive: pip install|starting DVCLive: CPU)`, string(out))
}
