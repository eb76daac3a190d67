package isolateconnector

import (
	"context"
	"math"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
)

const (
	// drainTime bounds the attempt to deliver what is queued at shutdown.
	drainTime = 5 * time.Second
	// lastCallTime is how long a cancelled call may take to come back.
	lastCallTime = 100 * time.Millisecond
)

// hop is the connector for one signal: consume puts into the queue, one worker takes out.
type hop[T any] struct {
	signal signal[T]
	queue  *queue[T]
	report *reporter

	stop sync.Once
	// cancel and finished belong to the worker; they are nil before Start.
	cancel   context.CancelFunc
	finished chan struct{}
}

func newHop[T any](set connector.Settings, cfg *Config, sig signal[T]) (*hop[T], error) {
	limit := int(min(cfg.MaxBytes, math.MaxInt))
	q := newQueue[T](limit)
	r, err := newReporter(set, sig.name, limit, q.size)
	if err != nil {
		return nil, err
	}
	return &hop[T]{signal: sig, queue: q, report: r}, nil
}

// Capabilities says that the input is only read: the next consumer gets a copy that is its own.
func (h *hop[T]) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// Start starts the worker. Its context is its own: the one given here is for starting only.
func (h *hop[T]) Start(_ context.Context, host component.Host) error {
	h.report.start(host)
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	h.finished = make(chan struct{})
	go func() {
		defer close(h.finished)
		h.deliver(ctx)
	}()
	return nil
}

// Shutdown tries for a bounded time to deliver what is queued, then cancels a call that hangs and counts what is left.
func (h *hop[T]) Shutdown(ctx context.Context) error {
	h.stop.Do(func() {
		h.queue.close()
		h.report.stopping()
		ended := h.drain(ctx)
		h.report.stopped(h.queue.seal(), ended)
	})
	return nil
}

// drain waits for the worker and says whether it has ended.
func (h *hop[T]) drain(ctx context.Context) bool {
	if h.cancel == nil {
		return true
	}
	defer h.cancel()
	ctx, release := context.WithTimeout(ctx, drainTime)
	defer release()
	select {
	case <-h.finished:
		return true
	case <-ctx.Done():
	}
	h.cancel()
	last := time.NewTimer(lastCallTime)
	defer last.Stop()
	select {
	case <-h.finished:
		return true
	case <-last.C:
		return false
	}
}

// consume queues a copy of the batch, or counts it as dropped.
func (h *hop[T]) consume(ctx context.Context, data T) {
	bytes := h.signal.bytes(data)
	if bytes == 0 {
		return
	}
	items := h.signal.items(data)
	if why := h.queue.refuses(bytes); why != "" {
		h.report.dropped(why, items, nil)
		return
	}
	evicted, refused := h.queue.push(&batch[T]{
		data: h.signal.clone(data), from: client.FromContext(ctx), bytes: bytes, items: items,
	})
	if evicted > 0 {
		h.report.dropped(reasonQueueFull, evicted, nil)
	}
	if refused != "" {
		h.report.dropped(refused, items, nil)
	}
}
