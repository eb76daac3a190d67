package componentkit

import (
	"context"
	"math/rand/v2"
	"time"
)

// Bounds of the pauses between two attempts.
const (
	MinPause = 100 * time.Millisecond
	MaxPause = 5 * time.Second
)

// BackOff gives growing pauses between attempts, spread so that many do not come back together. The zero value is ready
// and means that nothing has failed yet. It is used by one goroutine.
type BackOff struct{ ceiling time.Duration }

// Next gives the pause before the next attempt: between half of a ceiling and all of it; the ceiling doubles from twice
// MinPause up to MaxPause.
func (b *BackOff) Next() time.Duration {
	b.ceiling = min(max(2*b.ceiling, 2*MinPause), MaxPause)
	least := b.ceiling / 2
	return least + rand.N(b.ceiling-least+1) //nolint:gosec // jitter
}

// Reset begins anew, after a success.
func (b *BackOff) Reset() { b.ceiling = 0 }

// Wait lets d pass, or returns the context's error when that ends before.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
