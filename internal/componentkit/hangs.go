package componentkit

import (
	"context"
	"errors"
	"time"
)

// Hangs makes calls that may never come back, such as those of a network file system without its server: whoever waits goes on after a time, and while
// a call has not come back there is no second one. It belongs to one goroutine. The zero value is ready.
type Hangs[T any] struct {
	out chan T // of the call that has not come back; nil: none
}

// ErrHangs says that a call has not come back.
var ErrHangs = errors.New("the file system does not answer; check the mount")

// Do makes a call, or waits on for the one before, whose answer it gives then.
func (h *Hangs[T]) Do(ctx context.Context, patience time.Duration, call func() T) (answer T, err error) {
	if h.out == nil {
		out := make(chan T, 1)
		h.out = out
		go func() { out <- call() }()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case answer = <-h.out:
		h.out = nil
		return answer, nil
	case <-ctx.Done():
		return answer, ctx.Err()
	case <-timer.C:
		return answer, ErrHangs
	}
}
