package digest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// stallAfter is the time without a byte read after which a file counts as unreadable: its file system hangs.
const stallAfter = 5 * time.Minute

// maxQueue bounds the tasks that wait.
const maxQueue = 64

// Task asks for the digest of a path that a run named. Equal keys of a run are asked for once.
type Task struct{ Run, Key, Path string }

// Worker computes digests one after the other.
type Worker struct {
	opts Options
	done func(Task, Digest)
	busy *atomic.Int32

	digest func(r *reader, run, path string) Digest // of the reader; tests have it hang

	mu     sync.Mutex
	queue  []Task
	queued map[[2]string]bool // by run and key; also the one in work
	kick   chan struct{}
}

// NewWorker makes a worker that calls done with each digest. Busy is greater while it reads, which may hang with the file system.
func NewWorker(opts Options, done func(Task, Digest), busy *atomic.Int32) *Worker {
	return &Worker{opts: opts, done: done, busy: busy, digest: (*reader).digest, queued: map[[2]string]bool{}, kick: make(chan struct{}, 1)}
}

// Submit queues a task unless it is there already. It answers false when there is no room: whoever asks comes again when there is.
func (w *Worker) Submit(t Task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued[t.id()] {
		return true
	}
	if len(w.queue) >= maxQueue {
		return false
	}
	w.queued[t.id()] = true
	w.queue = append(w.queue, t)
	select {
	case w.kick <- struct{}{}:
	default:
	}
	return true
}

// HasRoom says that half of the queue is empty: as much as those who were sent away need.
func (w *Worker) HasRoom() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue) <= maxQueue/2
}

func (t *Task) id() [2]string { return [2]string{t.Run, t.Key} }

// Run works until the context ends. It may not return while a file system hangs.
func (w *Worker) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.kick:
		}
		for t, ok := w.next(); ok; t, ok = w.next() {
			w.work(ctx, t)
			if ctx.Err() != nil {
				return
			}
		}
	}
}

func (w *Worker) next() (Task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return Task{}, false
	}
	t := w.queue[0]
	w.queue = w.queue[1:]
	return t, true
}

// work computes a digest. When nothing is read for too long the answer is Timeout, and what comes of it later is thrown away.
func (w *Worker) work(ctx context.Context, t Task) {
	w.busy.Add(1)
	defer w.busy.Add(-1)
	var once sync.Once
	answer := func(d Digest) {
		once.Do(func() {
			w.done(t, d) // first: who asks meanwhile must not have it computed again
			w.mu.Lock()
			delete(w.queued, t.id())
			w.mu.Unlock()
		})
	}
	watch := time.AfterFunc(stallAfter, func() { answer(Digest{Status: Timeout}) })
	defer watch.Stop()
	r := &reader{opts: &w.opts, ctx: ctx, progress: func() { watch.Reset(stallAfter) }}
	d := w.digest(r, t.Run, t.Path)
	if ctx.Err() == nil {
		answer(d)
	}
}
