package trainjsonlreceiver

import (
	"sync"
	"time"
)

const (
	// hangAfter is how long work in the file system may take before others stop waiting for it.
	hangAfter = time.Second
	// maxHangDevice and maxHang bound what may hang at a time: each such call holds a thread of the operating system.
	maxHangDevice = 16
	maxHang       = 64
)

// hangs keeps count of work that does not come back from the file system, such as a network file system without its
// server. The work is left to itself; a device of which too much hangs is left alone until some comes back.
type hangs struct {
	mu       sync.Mutex
	total    int
	byDevice map[uint64]int
}

// full says whether no more work may be begun on a device.
func (h *hangs) full(dev uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total >= maxHang || h.byDevice[dev] >= maxHangDevice
}

func (h *hangs) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total
}

func (h *hangs) add(dev uint64, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byDevice == nil {
		h.byDevice = map[uint64]int{}
	}
	h.total += n
	if h.byDevice[dev] += n; h.byDevice[dev] == 0 {
		delete(h.byDevice, dev)
	}
}

// busy is work in the file system, from begin to end. It is used by the goroutine that does it.
type busy struct {
	hangs *hangs
	dev   uint64
	timer *time.Timer

	mu      sync.Mutex
	running bool
	hung    bool
	told    chan struct{} // closed when onHang is over
	onHang  func()        // called once a hang, by another goroutine
}

// begin notes that work begins; onHang is called if it does not end in time.
func (h *hangs) begin(dev uint64, onHang func()) *busy {
	b := &busy{hangs: h, dev: dev, onHang: onHang, running: true}
	b.timer = time.AfterFunc(hangAfter, b.expire)
	return b
}

func (b *busy) expire() {
	b.mu.Lock()
	late := b.running && !b.hung
	if late {
		b.hung, b.told = true, make(chan struct{})
		b.hangs.add(b.dev, 1)
	}
	b.mu.Unlock()
	if late {
		b.onHang()
		close(b.told)
	}
}

// pause notes that the work is out of the file system; it says whether it hung there.
func (b *busy) pause() (hung bool) {
	b.timer.Stop()
	b.mu.Lock()
	b.running = false
	hung, b.hung = b.hung, false
	b.mu.Unlock()
	if hung {
		<-b.told
		b.hangs.add(b.dev, -1)
	}
	return hung
}

// resume notes that the work goes on, or goes on with something else, in the file system.
func (b *busy) resume(patience time.Duration) {
	b.mu.Lock()
	b.running = true
	b.mu.Unlock()
	b.timer.Reset(patience)
}

// gate counts the work that a shutdown waits for.
type gate struct {
	mu     sync.Mutex
	n      int
	closed bool
	empty  chan struct{} // closed when it is closed and nothing is in it
}

func newGate() *gate { return &gate{empty: make(chan struct{})} }

// enter asks to come in; after close nobody does.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.closed && g.n == 0 {
		close(g.empty)
	}
}

// close lets nobody in any more.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed = true
	if g.n == 0 {
		close(g.empty)
	}
}
