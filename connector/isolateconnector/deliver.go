package isolateconnector

import (
	"context"

	"go.opentelemetry.io/collector/client"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// deliver is the worker: it hands over batch after batch until the queue is closed and empty, or ctx ends.
func (h *hop[T]) deliver(ctx context.Context) {
	var pause componentkit.BackOff
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
			pause.Reset()
			continue
		}
		if componentkit.Wait(ctx, pause.Next()) != nil {
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
	case componentkit.Final(err):
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
