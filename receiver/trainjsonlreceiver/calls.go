package trainjsonlreceiver

import (
	"context"
	"sync"
	"time"
)

const (
	// maxCalls is how many calls of the pipeline go on at a time: each costs memory there too, a connection and what is sent.
	maxCalls = 64
	// maxMade bounds what is made of lines for these calls, over all files.
	maxMade = 64 << 20
	// madeShare is the part of what is left of it that a call may take, as 1/n; leastMade is what it may take at least.
	madeShare = 16
	leastMade = 64 << 10
	// madeOfLine and madeOfByte are what a line takes as a record, and again each of its bytes.
	madeOfLine = 1 << 10
	madeOfByte = 4
)

// calls bounds the calls of the pipeline, and the records that are made for them.
type calls struct {
	slots chan struct{}
	least int64 // that a call may take
	room  room  // of lines that take more
	mu    sync.Mutex
	made  int64
}

func newCalls() *calls { return &calls{slots: make(chan struct{}, maxCalls), least: leastMade} }

// beginCall waits until the turn may make records of some of its lines, and call the pipeline with them. A turn that waits
// for that is one of those that the pipeline keeps waiting, or keeps its processor: no more are begun then.
func (t *tailer) beginCall(ctx context.Context, s *stream, p *permit) error {
	select {
	case t.calls.slots <- struct{}{}:
	default:
		if t.mayWait(s, true) {
			p.release()
		}
		s.call(time.Now())
		defer s.call(time.Time{})
		select {
		case t.calls.slots <- struct{}{}:
		case <-ctx.Done():
			return errStopped
		}
	}
	s.made = t.calls.reserve(s.patience.attempts > 0)
	return nil
}

// endCall lets another turn have what beginCall gave.
func (t *tailer) endCall(s *stream) {
	if s.room != nil {
		t.calls.room.give(s.room)
		s.room = nil
	}
	if s.made > 0 { // else it was to stop before it could go on
		t.take(s, 0)
		<-t.calls.slots
	}
}

// take has the call take so much, instead of what it may.
func (t *tailer) take(s *stream, made int64) {
	t.calls.giveBack(s.made - made)
	s.made = made
}

// reserve gives as much as a call may take: the less, the more calls go on. A pipeline that refused is asked with little.
func (c *calls) reserve(refused bool) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.least
	if !refused {
		n = max(n, (maxMade-c.made)/madeShare)
	}
	c.made += n
	return n
}

func (c *calls) giveBack(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made -= n
}

// most is how many lines a call may carry.
func (s *stream) most() int { return int(min(max(s.made/madeOfLine, 1), maxBatch)) }

// fit gives those of the first lines of which records may be made for a call: one at least, if it has to wait for that.
func (t *tailer) fit(ctx context.Context, s *stream, lines []line, p *permit) ([]line, error) {
	var made int64
	n := 0
	for n < len(lines) {
		one := madeOfLine + madeOfByte*int64(len(lines[n].data))
		if n > 0 && made+one > s.made {
			break
		}
		made += one
		n++
	}
	if made > s.made {
		return lines[:n], t.makeRoom(ctx, s, made, p)
	}
	t.take(s, made)
	return lines[:n], nil
}
