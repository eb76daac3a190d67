package signals

import (
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// run starts a server and waits until it answers at ready. It is stopped when the test ends.
func run(t *testing.T, cmd *exec.Cmd, ready string) {
	t.Helper()
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	require.Eventually(t, func() bool {
		resp, err := http.Get(ready) //nolint:gosec // the test's own
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, time.Minute, 100*time.Millisecond)
}
