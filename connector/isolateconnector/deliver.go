package isolateconnector

import (
	"context"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/consumer/consumererror"
)

const (
	minDelay = 100 * time.Millisecond
	maxDelay = 5 * time.Second
)

// deliver is the worker: it hands over batch after batch until the queue is closed and empty, or ctx ends.
func (h *hop[T]) deliver(ctx context.Context) {
	var pause backoff
	for ctx.Err() == nil {
		b, end := h.queue.take()
		if end {
			return
		}
		if b == nil {
			select {
			case <-h.queue.wake:
			case <-ctx.Done():
			}
			continue
		}
		if h.attempt(ctx, b) {
			pause = backoff{}
			continue
		}
		if !sleep(ctx, pause.next()) {
			return
		}
	}
}

// attempt makes one call. False means that the batch is in the queue again and the worker should pause.
func (h *hop[T]) attempt(ctx context.Context, b *batch[T]) bool {
	if b.tried {
		h.report.retried()
	}
	data := b.data
	if h.signal.mutates() {
		data = h.signal.clone(data) // a later attempt needs the batch as it came
	}
	err := h.signal.send(client.NewContext(ctx, b.from), data)
	switch {
	case err == nil:
		if h.queue.done() {
			h.report.sent(b.items)
		}
		return true
	case isFinal(err):
		if h.queue.done() {
			h.report.refused(b.items, err)
		}
		return true
	default:
		b.tried = true
		h.queue.putBack()
		h.report.refusing(ctx, err)
		return false
	}
}

// isFinal says whether trying again is useless. A fan-out joins its branches' errors, and consumererror.IsPermanent of
// a joined error is true as soon as one branch is permanent: a leaf that may pass makes the whole worth another try.
func isFinal(err error) bool {
	if !consumererror.IsPermanent(err) {
		return false
	}
	switch e := err.(type) { //nolint:errorlint // this is the walk that errors.As cannot do
	case interface{ Unwrap() []error }:
		for _, branch := range e.Unwrap() {
			if !isFinal(branch) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); consumererror.IsPermanent(inner) {
			return isFinal(inner)
		}
		return true // err itself is the mark
	default:
		return true
	}
}

// backoff grows the pause between attempts and spreads it, so that many connectors do not come back together.
type backoff struct{ ceiling time.Duration }

func (b *backoff) next() time.Duration {
	b.ceiling = min(max(2*b.ceiling, 2*minDelay), maxDelay)
	return minDelay + rand.N(b.ceiling-minDelay+1)
}

// sleep pauses and says whether the pause was whole.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
