package trainingsignalsconnector

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

const (
	patience      = time.Second      // how long a caller waits for a write
	startPatience = 20 * time.Second // how long the start waits for an answer
	writeTimeout  = 30 * time.Second // of a write; one that does not heed it is waited for
	maxQueued     = 16 << 20         // bytes of the journal that wait for the storage
	maxAtOnce     = 1 << 20          // of it in one operation
)

var (
	errSlow     = errors.New("the storage does not answer; what is known of runs waits in memory")
	errOverflow = errors.New("too much waits for the storage; the next snapshot brings it")
	errSilent   = errors.New("the storage does not answer")
	errNoAnswer = errors.New("storage: it did not answer before the end; what it had not written is lost")
)

// job is something to do with the storage: to write a part of the journal, or anything else. One that does nothing marks a place in the queue.
type job struct {
	do      func(ctx context.Context) error
	set     *storage.Operation // of a part
	part    int                // its bytes; 0 for anything else
	written func()             // what follows from it; nil for nothing
	last    bool
	end     chan struct{}
}

// writer writes to the storage in order, one thing after another, apart from those who want it: a call that hangs holds a
// goroutine of its own, and its callers no longer than patience.
type writer struct {
	client storage.Client                 // nil until it is opened; the goroutine's own
	report func(reason string, err error) // err is nil when all is well

	mu     sync.Mutex
	queue  []*job
	bytes  int
	busy   bool // a goroutine works
	stuck  bool // somebody waited in vain: until the queue is empty nobody else does
	broken bool // something is not in the journal: only a snapshot mends it
	closed bool // nothing more is taken
}

// put queues a job; nil when it is given up: a part of the journal when too much waits or something before it is missing, and
// anything after the last one.
func (w *writer) put(j *job) *job {
	j.end = make(chan struct{})
	w.mu.Lock()
	overflow := !w.broken && j.part > 0 && w.bytes > 0 && w.bytes+j.part > maxQueued
	if overflow {
		w.broken = true
	}
	refused := w.closed || w.broken && j.part > 0
	w.closed = w.closed || j.last
	if !refused {
		w.queue = append(w.queue, j)
		w.bytes += j.part
		if !w.busy {
			w.busy = true
			go w.work()
		}
	}
	w.mu.Unlock()
	if overflow {
		w.report(storageOverflow, errOverflow)
	}
	if refused {
		return nil
	}
	return j
}

// work does what waits until nothing does.
func (w *writer) work() {
	for {
		w.mu.Lock()
		if len(w.queue) == 0 {
			w.queue, w.busy, w.stuck = nil, false, false
			well := !w.broken
			w.mu.Unlock()
			if well {
				w.report("", nil)
			}
			return
		}
		n, ops := w.together()
		do := w.queue[0].do
		w.mu.Unlock()
		if len(ops) > 0 {
			do = func(ctx context.Context) error { return w.client.Batch(ctx, ops...) }
		}
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		err := do(ctx)
		cancel()
		if err != nil {
			w.report(storageWrite, err)
		}
		w.done(n, err)
	}
}

// together gives how many jobs are done at once: parts of the journal that wait behind each other are one operation, which costs as one.
func (w *writer) together() (n int, parts []*storage.Operation) {
	size := 0
	for _, j := range w.queue {
		if size += j.part; j.part == 0 || len(parts) > 0 && size > maxAtOnce {
			break
		}
		parts = append(parts, j.set)
	}
	return max(len(parts), 1), parts
}

// done takes the first jobs out of the queue. What follows a part that is not written is not written either, lest the journal have a gap.
func (w *writer) done(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.queue[:n]
	w.queue = w.queue[n:]
	for _, j := range first {
		w.bytes -= j.part
		if err == nil && j.written != nil {
			j.written()
		}
		close(j.end)
	}
	if err == nil {
		return
	}
	w.broken = true
	w.queue = slices.DeleteFunc(w.queue, func(next *job) bool {
		if next.part > 0 {
			w.bytes -= next.part
			close(next.end)
		}
		return next.part > 0
	})
}

// wait waits for a job, but not for a storage that hangs.
func (w *writer) wait(ctx context.Context, j *job) {
	if j == nil || w.hangs() {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-j.end:
		return
	case <-ctx.Done():
		return
	case <-late.C:
	}
	w.mu.Lock()
	first := w.busy && !w.stuck
	w.stuck = w.busy
	w.mu.Unlock()
	if first {
		w.report(storageSlow, errSlow)
	}
}

// ask does something at the start, and gives up when there is no answer for long.
func (w *writer) ask(ctx context.Context, do func(ctx context.Context) error) error {
	var err error
	j := w.put(&job{do: func(ctx context.Context) error {
		err = do(ctx)
		return nil
	}})
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if !w.reach(ctx, j) {
		return errSilent
	}
	return err
}

// reach waits until a job is done, and answers false when the context ends before.
func (*writer) reach(ctx context.Context, j *job) bool {
	select {
	case <-j.end:
		return true
	case <-ctx.Done():
		return false
	}
}

// hangs says that somebody waited in vain, and nothing has changed since.
func (w *writer) hangs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stuck
}
