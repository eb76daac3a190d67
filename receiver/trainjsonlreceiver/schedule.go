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
	hung func() // called when the turn comes back after it hung
	work *busy  // nil where nothing may hang
	gate *gate
	left bool // the gate did not let it in again
}

func (p *permit) release() { p.once.Do(p.free) }

// outside notes that the turn leaves the file system for the pipeline. It answers false if the turn hung and nobody waits
// for it any more: it may deliver nothing then.
func (p *permit) outside() bool {
	if p.work == nil {
		return true
	}
	if p.work.pause() {
		p.hung()
		p.left = !p.gate.enter()
	}
	return !p.left
}

// inside notes that the turn is back.
func (p *permit) inside() {
	if p.work != nil && !p.left {
		p.work.resume(hangAfter)
	}
}

// end is the end of the turn.
func (p *permit) end() {
	p.release()
	switch {
	case p.work == nil:
	case p.work.pause():
		p.hung()
	case !p.left:
		p.gate.leave()
	}
}

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

// holds says whether bytes of a file that went away can still be delivered: it is open, or they are in the memory of its turn.
func (t *tailer) holds(s *stream) bool {
	t.mu.Lock()
	running := s.running
	t.mu.Unlock()
	return running || t.handles.has(s)
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
		p := &permit{free: func() { <-slots }, gate: t.gate, hung: func() { s.hang(false) }}
		switch dev := s.device.Load(); {
		case t.hangs.full(dev):
			s.tryAgain(time.Now().Add(leftAlone))
			t.after(s, nextWait)
			p.release()
		case !t.gate.enter():
			return
		default:
			p.work = t.hangs.begin(dev, func() {
				p.release()
				t.gate.leave()
				s.hang(true)
				m, _ := s.get()
				t.tellHang(ctx, m.Path)
			})
			go func() {
				defer p.end()
				t.run(ctx, s, p)
			}()
		}
	}
}

// run is one turn and what follows from it.
func (t *tailer) run(ctx context.Context, s *stream, p *permit) {
	what := t.turn(ctx, s, p)
	select {
	case t.turned <- struct{}{}:
	default:
	}
	t.after(s, what)
}

// after is what follows from a turn.
func (t *tailer) after(s *stream, what next) {
	t.mu.Lock()
	s.running = false
	again := s.again
	s.again = false
	if what == nextSpace && !again {
		t.waiting[s] = struct{}{}
	}
	t.mu.Unlock()
	if what == nextAgain || again {
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
