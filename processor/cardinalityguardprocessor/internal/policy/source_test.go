package policy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAPipeIsNoPolicyFile opens one that nobody writes to: a look must come back, or the guard neither starts nor stops.
func TestAPipeIsNoPolicyFile(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	looked := make(chan error, 2)
	go func() {
		_, result, err := File(pipe).Look(t.Context())
		assert.Equal(t, Unreachable, result)
		looked <- err
		looked <- Check(pipe)
	}()
	for range cap(looked) {
		select {
		case err := <-looked:
			require.ErrorContains(t, err, pipe+": want a regular file")
		case <-time.After(10 * time.Second):
			w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0) // lets the look go on
			require.NoError(t, err)
			require.NoError(t, w.Close())
			t.Fatal("the look waits for somebody who writes to the pipe")
		}
	}
}
