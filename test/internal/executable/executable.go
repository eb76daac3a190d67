// Package executable writes programs that a test runs.
package executable

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Write writes a program. A process that is started meanwhile would inherit the open file, and until it runs its own program the
// kernel refuses to run this one ("text file busy").
func Write(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700)) //nolint:gosec // it is run
}
