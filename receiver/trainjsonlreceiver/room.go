package trainjsonlreceiver

import (
	"context"
	"slices"
	"sync"
	"time"
)

// room is what lines that take more than a call may take have for their records, all together. They get it in the order in
// which they ask: one of them alone always does.
type room struct {
	mu      sync.Mutex
	used    int64
	waiting []*claim
}

type claim struct {
	n       int64
	granted chan struct{}
}

func (r *room) ask(n int64) *claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &claim{n: n, granted: make(chan struct{})}
	r.waiting = append(r.waiting, c)
	r.grant()
	return c
}

// grant is called with the lock.
func (r *room) grant() {
	for len(r.waiting) > 0 && (r.used == 0 || r.used+r.waiting[0].n <= maxMade) {
		r.used += r.waiting[0].n
		close(r.waiting[0].granted)
		r.waiting = slices.Delete(r.waiting, 0, 1)
	}
}

// give ends a claim, granted or not.
func (r *room) give(c *claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiting, c); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	} else {
		r.used -= c.n
	}
	r.grant()
}

// makeRoom waits until the records of a line may be made that take more than the call may. Others may call meanwhile.
func (t *tailer) makeRoom(ctx context.Context, s *stream, n int64, p *permit) error {
	c := t.calls.room.ask(n)
	select {
	case <-c.granted:
		s.room = c
		return nil
	default:
	}
	t.endCall(s)
	if t.mayWait(s, true) {
		p.release()
	}
	s.call(time.Now())
	defer s.call(time.Time{})
	select {
	case <-c.granted:
	case <-ctx.Done():
		t.calls.room.give(c)
		return errStopped
	}
	if err := t.beginCall(ctx, s, p); err != nil {
		t.calls.room.give(c)
		return err
	}
	s.room = c
	return nil
}
