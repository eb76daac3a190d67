package trainjsonlreceiver

import (
	"context"
	"sync"
	"time"
)

// permit is the right of a turn to use a processor. It is given back early when the pipeline keeps the turn waiting.
type permit struct {
	once sync.Once
	free func()
}

func (p *permit) release() { p.once.Do(p.free) }

// budget bounds the bytes that are read and not yet accepted, over all files.
type budget struct {
	mu   sync.Mutex
	max  int64
	used int64
}

// take takes n bytes if they are free. When nothing is in flight, it gives as many as a file asks for.
func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used > 0 && b.used+n > b.max {
		return false
	}
	b.used += n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
}

// giveBack frees bytes and lets the files that wait for some try again.
func (t *tailer) giveBack(n int64) {
	t.budget.give(n)
	t.mu.Lock()
	waiting := t.waiting
	t.waiting = map[*stream]struct{}{}
	t.mu.Unlock()
	for s := range waiting {
		t.enqueue(s)
	}
}

// enqueue gives a file a turn after those that wait already.
func (t *tailer) enqueue(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case s.running:
		s.again = true
		return
	case s.queued:
		return
	}
	s.queued = true
	t.ready = append(t.ready, s)
	select {
	case t.work <- struct{}{}:
	default:
	}
}

// pop takes the file whose turn it is.
func (t *tailer) pop() *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ready) == 0 {
		return nil
	}
	s := t.ready[0]
	t.ready[0] = nil
	t.ready = t.ready[1:]
	s.queued, s.running = false, true
	return s
}

// dispatchLoop gives the files their turns, a few at a time.
func (t *tailer) dispatchLoop(ctx context.Context) {
	slots := make(chan struct{}, t.slots)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s := t.pop()
		for s == nil {
			select {
			case <-t.work:
			case <-ctx.Done():
				return
			}
			s = t.pop()
		}
		p := &permit{free: func() { <-slots }}
		t.group.Go(func() {
			defer p.release()
			t.run(ctx, s, p)
		})
	}
}

// run is one turn and what follows from it.
func (t *tailer) run(ctx context.Context, s *stream, p *permit) {
	after := t.turn(ctx, s, p)
	t.mu.Lock()
	s.running = false
	again := s.again
	s.again = false
	if after == nextSpace && !again {
		t.waiting[s] = struct{}{}
	}
	t.mu.Unlock()
	if after == nextAgain || again {
		t.enqueue(s)
	}
}

// pollLoop looks for files and for growth until the context ends.
func (t *tailer) pollLoop(ctx context.Context) {
	tick := time.NewTicker(t.cfg.PollInterval)
	defer tick.Stop()
	defer t.awaitSearch()
	for {
		t.poll(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case f := <-t.found:
			t.takeUp(ctx, f, time.Now())
		case <-tick.C:
		}
	}
}
