package trainjsonlreceiver

import (
	"context"
	"sync"
	"time"
)

const (
	// maxLookers is how many looks at files go on at a time, beside those that hang.
	maxLookers = 8
	// leftAlone is how long a file is left alone whose device does not answer.
	leftAlone = 2 * time.Second
)

// job is a look at a file: a known one, or one that a search found.
type job struct {
	stream *stream
	found  candidate
	now    time.Time
}

// lookers look at files, so that the poll never waits for a file system. One works as a rule; another is added when
// one hangs, or when a poll finds that the looks of the last one are not done.
type lookers struct {
	inline bool // tests: a look is done at once

	mu      sync.Mutex
	queue   []job
	working int             // without those that hang
	pending map[string]bool // paths that were found and wait for their look
}

// ask queues a look.
func (t *tailer) ask(ctx context.Context, j job) {
	l := &t.lookers
	if j.stream != nil {
		if !j.stream.asked.CompareAndSwap(false, true) {
			return
		}
	} else if !l.await(j.found.path) {
		return
	}
	if l.inline {
		t.lookAt(ctx, j)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, j)
	if l.working == 0 {
		t.addLooker(ctx)
	}
}

// await notes that a path waits for its look, and answers false if it does already.
func (l *lookers) await(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[path] {
		return false
	}
	if l.pending == nil {
		l.pending = map[string]bool{}
	}
	l.pending[path] = true
	return true
}

// urge adds a looker if there is work that waits.
func (t *tailer) urge(ctx context.Context) {
	l := &t.lookers
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 && l.working < maxLookers {
		t.addLooker(ctx)
	}
}

// addLooker is called with the lock.
func (t *tailer) addLooker(ctx context.Context) {
	if t.hangs.count() >= maxHang {
		return
	}
	t.lookers.working++
	go t.lookUntilDone(ctx)
}

// next takes the look whose turn it is.
func (l *lookers) next(ctx context.Context) (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 || ctx.Err() != nil {
		l.working--
		return job{}, false
	}
	j := l.queue[0]
	l.queue[0] = job{}
	l.queue = l.queue[1:]
	return j, true
}

// lookUntilDone does looks until none waits. When one hangs, another looker goes on with the others.
func (t *tailer) lookUntilDone(ctx context.Context) {
	l := &t.lookers
	for {
		j, ok := l.next(ctx)
		if !ok {
			return
		}
		if t.hangs.full(j.device()) {
			t.leaveAlone(j)
			continue
		}
		if !t.gate.enter() {
			l.stop()
			return
		}
		work := t.hangs.begin(j.device(), func() {
			t.gate.leave()
			l.stop()
			t.urge(ctx)
			j.stream.hang(true)
			t.tellHang(ctx, j.path())
		})
		t.lookAt(ctx, j)
		if work.pause() {
			j.stream.hang(false)
			return // it hung: it has been replaced
		}
		t.gate.leave()
	}
}

// hang notes whether the file system keeps an answer about the file.
func (s *stream) hang(on bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = on
}

// awaitsNone says that every file that was found has been looked at.
func (l *lookers) awaitsNone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) == 0
}

func (l *lookers) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working--
}

func (j job) device() uint64 {
	if j.stream != nil {
		return j.stream.device.Load()
	}
	return j.found.key.dev
}

func (j job) path() string {
	if j.stream != nil {
		m, _ := j.stream.get()
		return m.Path
	}
	return j.found.path
}

// lookAt does one look.
func (t *tailer) lookAt(ctx context.Context, j job) {
	defer t.answered(j)
	if j.stream != nil {
		t.look(ctx, j.stream, j.now)
		return
	}
	t.admit(ctx, j.found, j.now)
}

// clock gives the time after a call that may have lasted.
func (l *lookers) clock(now time.Time) time.Time {
	if l.inline {
		return now
	}
	return time.Now()
}

// leaveAlone puts a look off.
func (t *tailer) leaveAlone(j job) {
	if j.stream != nil {
		j.stream.lookAgain(time.Now().Add(leftAlone))
	}
	t.answered(j)
}

func (t *tailer) answered(j job) {
	if j.stream != nil {
		j.stream.asked.Store(false)
		return
	}
	t.lookers.mu.Lock()
	delete(t.lookers.pending, j.found.path)
	t.lookers.mu.Unlock()
}
