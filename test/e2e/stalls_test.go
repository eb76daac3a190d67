package e2e

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stallTick is how often stalls looks.
const stallTick = 50 * time.Millisecond

// stalls measures how long a machine keeps a small thing from being done that is due: to write a byte and flush it, as a checkpoint is.
// A time that a collector promises holds beside that.
type stalls struct {
	mu    sync.Mutex
	worst time.Duration
	done  time.Time // when it was done last
}

// watchStalls measures until the test ends, with a file of its own beside what the collector writes to.
func watchStalls(t *testing.T, beside string) *stalls {
	t.Helper()
	file, err := os.Create(filepath.Join(filepath.Dir(beside), "stalls"))
	require.NoError(t, err)
	s := &stalls{done: time.Now()}
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(stallTick)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			_, err := file.WriteAt([]byte{1}, 0)
			assert.NoError(t, err)
			assert.NoError(t, file.Sync())
			s.note()
		}
	})
	t.Cleanup(func() {
		close(stop)
		group.Wait()
		assert.NoError(t, file.Close())
	})
	return s
}

// note notes that it was done.
func (s *stalls) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.worst = max(s.worst, now.Sub(s.done)-stallTick)
	s.done = now
}

// take gives the longest stall since it was asked last, with the one that lasts.
func (s *stalls) take() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	worst := max(s.worst, time.Since(s.done)-stallTick, 0)
	s.worst = 0
	return worst
}
