package dvcresultexporter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	maxWaiting = 64          // calls that wait for the state while the storage hangs
	longHeld   = time.Second // what a call of the storage takes at most when it is well
)

var (
	errBusy    = errors.New("the storage answers nothing; records are refused until it does")
	errStopped = errors.New("dvc_result was stopped")
)

// latch is the lock of the state. A call of the storage happens under it and may hang with its file system: who waits can give up.
type latch struct {
	held    chan struct{}
	since   atomic.Int64 // Unix nanoseconds of the last time it was taken
	waiting atomic.Int32
}

func newLatch() *latch { return &latch{held: make(chan struct{}, 1)} }

// Lock is sync.Locker's.
func (l *latch) Lock() {
	l.held <- struct{}{}
	l.since.Store(time.Now().UnixNano())
}

// Unlock is sync.Locker's.
func (l *latch) Unlock() { <-l.held }

// TryLock takes the lock when it is free.
func (l *latch) TryLock() bool {
	select {
	case l.held <- struct{}{}:
		l.since.Store(time.Now().UnixNano())
		return true
	default:
		return false
	}
}

// lockWithin waits for the lock as long as the context allows.
func (l *latch) lockWithin(ctx context.Context) error {
	if l.TryLock() {
		return nil
	}
	select {
	case l.held <- struct{}{}:
		l.since.Store(time.Now().UnixNano())
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the storage: %w", ctx.Err())
	}
}

// enter is for those that bring records: they hold memory while they wait, so no more than maxWaiting wait for a storage that hangs.
func (l *latch) enter(ctx context.Context) error {
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > maxWaiting && len(l.held) > 0 && time.Now().UnixNano()-l.since.Load() > int64(longHeld) {
		return errBusy
	}
	return l.lockWithin(ctx)
}
