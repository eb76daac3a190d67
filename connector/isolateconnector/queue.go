package isolateconnector

import (
	"container/list"
	"sync"

	"go.opentelemetry.io/collector/client"
)

// batch is one copied batch on its way.
type batch[T any] struct {
	data  T
	from  client.Info
	bytes int
	items int
	// tried is set once the next consumer has refused the batch.
	tried bool
}

// queue holds batches in order, bounded in bytes. The batch in delivery stays at its front and counts, so the bound is
// what the connector holds in all. It never blocks: it drops.
type queue[T any] struct {
	limit int
	// wake has a token when the worker should look again.
	wake chan struct{}

	mu      sync.Mutex
	batches *list.List
	bytes   int
	flying  bool // the front is in the hands of the next consumer
	closed  bool // nothing comes in any more
	sealed  bool // what was left has been given up
}

func newQueue[T any](limit int) *queue[T] {
	return &queue[T]{limit: limit, wake: make(chan struct{}, 1), batches: list.New()}
}

// refuses says why a batch of that size cannot enter whatever is dropped for it, or nothing.
func (q *queue[T]) refuses(bytes int) reason {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusesLocked(bytes)
}

func (q *queue[T]) refusesLocked(bytes int) reason {
	switch {
	case q.closed:
		return reasonShutdown
	case bytes > q.limit:
		return reasonTooLarge
	case q.flying && bytes > q.limit-q.front().bytes:
		return reasonQueueFull
	default:
		return ""
	}
}

// push appends a batch and drops the oldest ones it has no room beside; evicted is the number of their items. A batch
// in the hands of the next consumer cannot be dropped: one that has no room beside that is refused itself.
func (q *queue[T]) push(b *batch[T]) (evicted int, refused reason) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if refused = q.refusesLocked(b.bytes); refused != "" {
		return 0, refused
	}
	for b.bytes > q.limit-q.bytes {
		oldest := q.batches.Front()
		if q.flying {
			oldest = oldest.Next()
		}
		evicted += q.remove(oldest).items
	}
	q.batches.PushBack(b)
	q.bytes += b.bytes
	q.signal()
	return evicted, ""
}

// take hands out the front; it stays counted until done or putBack. Nil with end false means: wait for wake.
func (q *queue[T]) take() (b *batch[T], end bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sealed || q.batches.Len() == 0 {
		return nil, q.closed
	}
	q.flying = true
	return q.front(), false
}

// putBack makes the front an ordinary batch again, the first to be dropped.
func (q *queue[T]) putBack() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying = false
}

// done takes the front off. False means that seal has counted it before.
func (q *queue[T]) done() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sealed {
		return false
	}
	q.flying = false
	q.remove(q.batches.Front())
	return true
}

// close lets nothing in from now on; what is queued can still be taken.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// seal gives up what is left, a batch in a call that does not end included, and returns the number of its items.
func (q *queue[T]) seal() (items int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.sealed, q.flying = true, true, false
	for q.batches.Len() > 0 {
		items += q.remove(q.batches.Front()).items
	}
	return items
}

// size is the number of bytes held.
func (q *queue[T]) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func (q *queue[T]) front() *batch[T] { return q.batches.Front().Value.(*batch[T]) }

func (q *queue[T]) remove(at *list.Element) *batch[T] {
	b := q.batches.Remove(at).(*batch[T])
	q.bytes -= b.bytes
	return b
}

func (q *queue[T]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
