package process

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

func TestProcesses(t *testing.T) {
	t.Parallel()
	self := int64(os.Getpid())
	assert.Equal(t, trainview.ProcessAlive, Check(self, time.Now()))
	assert.Equal(t, trainview.ProcessAlive, Check(self, time.Time{}))
	assert.Equal(t, trainview.ProcessNotChecked, Check(self, time.Now().Add(-time.Hour)), "it began after the first record: the number was used again")
	assert.Equal(t, trainview.ProcessGone, Check(1<<30, time.Now()))
	c := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, c.Start())
	pid := int64(c.Process.Pid)
	assert.Equal(t, trainview.ProcessAlive, Check(pid, time.Now()))
	require.NoError(t, c.Process.Kill())
	assert.Eventually(t, func() bool { return Check(pid, time.Now()) == trainview.ProcessGone }, time.Minute, 10*time.Millisecond, "a zombie is gone")
	assert.Error(t, c.Wait())
	assert.Equal(t, trainview.ProcessGone, Check(pid, time.Now()))
}
