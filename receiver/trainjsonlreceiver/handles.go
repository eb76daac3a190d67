package trainjsonlreceiver

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

const (
	maxHandles = 64
	handleIdle = 5 * time.Second
	closeWait  = 100 * time.Millisecond // for a file to close before another is opened
)

// errMoved says that a path leads to another file than it did.
var errMoved = errors.New("the path leads to another file")

// handle is a file kept open: while it is, what is appended before a deletion can still be read.
type handle struct {
	file openFile
	key  fileKey // device and inode, whatever the stream is known by
	busy bool
	lent int64     // the turn is with the pipeline and has read up to here; notLent while it needs the file
	used time.Time // when it last gave new bytes
}

// notLent says that a handle may not be closed under its turn.
const notLent = -1

// handles bounds the number of open files.
type handles struct {
	fs     fileSystem
	hangs  *hangs
	mu     sync.Mutex
	open   map[*stream]*handle
	soon   int // that are being opened
	closed bool
}

// take gives the file's handle for one turn, opening the path if there is none.
func (h *handles) take(s *stream, path string, gone bool) (openFile, error) {
	h.mu.Lock()
	if hd := s.handle; hd != nil {
		hd.busy = true
		h.mu.Unlock()
		return hd.file, nil
	}
	h.mu.Unlock()
	if gone {
		return nil, errMoved
	}
	h.reserve()
	f, err := h.openFor(s, path)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.soon--
	if err != nil {
		return nil, err
	}
	if h.closed { // while the opening hung
		return nil, errors.Join(errStopped, f.Close())
	}
	s.handle = &handle{file: f.openFile, key: f.key, busy: true, lent: notLent, used: time.Now()}
	h.open[s] = s.handle
	if was := s.inode.Swap(f.key.ino); was != f.key.ino {
		s.before.Store(was)
	}
	return f.openFile, nil
}

// opened is a file and what it is known by.
type opened struct {
	openFile
	key fileKey
}

func (h *handles) openFor(s *stream, path string) (opened, error) {
	f, err := h.fs.Open(path)
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket
		return opened{}, errMoved
	case err != nil:
		return opened{}, err
	}
	fi, err := f.Stat()
	if err == nil && (!fi.Mode().IsRegular() || s.key.path == "" && keyOf(fi) != s.key) {
		err = errMoved
	}
	if err != nil {
		return opened{}, errors.Join(err, f.Close())
	}
	return opened{openFile: f, key: keyOf(fi)}, nil
}

// reserve makes room for one more file.
func (h *handles) reserve() {
	for _, closed := range h.makeRoom() {
		select {
		case <-closed:
		case <-time.After(closeWait):
		}
	}
}

// makeRoom closes as many files as are too many; it gives what tells that they are closed.
func (h *handles) makeRoom() (closing []<-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.soon++
	for len(h.open)+h.soon > maxHandles {
		s := h.leastWanted()
		if s == nil {
			return closing // calls to all of them hang
		}
		closing = append(closing, h.close(s))
	}
	return closing
}

// lend notes that the turn is with the pipeline and has read up to a place: however long that takes, another file may have
// the handle. What is in the turn's memory is delivered all the same.
func (h *handles) lend(s *stream, upTo int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.handle != nil {
		s.handle.lent = upTo
	}
}

// regain notes that the turn goes on. If it has not got its handle any more, the next one opens the file again.
func (h *handles) regain(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.handle != nil {
		s.handle.lent = notLent
	}
}

// give ends a turn's use. grew says that it read new bytes.
func (h *handles) give(s *stream, grew bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.handle == nil {
		return
	}
	s.handle.busy = false
	if grew {
		s.handle.used = time.Now()
	}
}

// drop closes the file's handle, for instance after an error.
func (h *handles) drop(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.handle != nil {
		h.close(s)
	}
}

// closeIdle closes what gave nothing new for a while, but no file that is gone or was replaced, and waits for the pipeline.
func (h *handles) closeIdle(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s, hd := range h.open {
		if !hd.busy && now.Sub(hd.used) >= handleIdle && !s.leaving() {
			h.close(s)
		}
	}
}

// shut closes all, and lets none be opened.
func (h *handles) shut() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.closeAll()
}

func (h *handles) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.open {
		h.close(s)
	}
}

// has says whether the file is open.
func (h *handles) has(s *stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.handle != nil
}

// leadsElsewhere says whether the open file is another than the one that its path leads to.
func (h *handles) leadsElsewhere(s *stream, key fileKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.handle != nil && s.handle.key != key
}

func (h *handles) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

// close lets a file go. Closing can hang like any other call, so nobody waits for it, or not for long.
func (h *handles) close(s *stream) <-chan struct{} {
	file := s.handle.file
	delete(h.open, s)
	s.handle = nil
	work := h.hangs.begin(s.device.Load(), func() {})
	closed := make(chan struct{})
	go func() {
		_ = file.Close() // it was only read
		work.pause()
		close(closed)
	}()
	return closed
}

// leastWanted gives the file to close: one without a turn before one that the pipeline keeps waiting, and last those whose
// unread bytes only the handle can still give; the oldest of them.
func (h *handles) leastWanted() *stream {
	var least *stream
	best := 0
	for s, hd := range h.open {
		var rank int
		switch {
		case hd.busy && hd.lent == notLent:
			continue
		case s.leavingBehind(hd.lent):
			rank = 3
		case hd.busy:
			rank = 2
		default:
			rank = 1
		}
		if least == nil || rank < best || rank == best && hd.used.Before(least.handle.used) {
			least, best = s, rank
		}
	}
	return least
}
