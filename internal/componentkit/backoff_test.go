package componentkit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPausesGrowWithinTheirBounds(t *testing.T) {
	t.Parallel()
	for range 50 {
		var b BackOff
		for _, ceiling := range []time.Duration{200, 400, 800, 1600, 3200, 5000, 5000, 5000} {
			pause := b.Next()
			assert.GreaterOrEqual(t, pause, ceiling*time.Millisecond/2)
			assert.LessOrEqual(t, pause, ceiling*time.Millisecond)
			assert.GreaterOrEqual(t, pause, MinPause)
			assert.LessOrEqual(t, pause, MaxPause)
		}
		b.Reset()
		assert.LessOrEqual(t, b.Next(), 2*MinPause)
	}
}

func TestPausesAreSpread(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 100 {
		b := BackOff{ceiling: MaxPause}
		seen[b.Next()] = true
	}
	assert.Greater(t, len(seen), 50)
}

func TestWaitLastsUntilTheTimeOrTheContextIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, Wait(t.Context(), time.Minute))
		assert.Equal(t, time.Minute, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		require.ErrorIs(t, Wait(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
	})
}
