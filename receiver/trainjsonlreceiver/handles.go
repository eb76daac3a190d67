package trainjsonlreceiver

import (
	"errors"
	"sync"
	"time"
)

const (
	maxHandles = 64
	handleIdle = 5 * time.Second
)

// errMoved says that a path leads to another file than it did.
var errMoved = errors.New("the path leads to another file")

// handle is a file kept open: while it is, what is appended before a deletion can still be read.
type handle struct {
	file openFile
	key  fileKey // device and inode, whatever the stream is known by
	busy bool
	used time.Time // when it last gave new bytes
}

// handles bounds the number of open files.
type handles struct {
	fs     fileSystem
	hangs  *hangs
	mu     sync.Mutex
	open   map[*stream]*handle
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
	f, err := h.fs.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && s.key.path == "" && keyOf(fi) != s.key {
		err = errMoved
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed { // while the opening hung
		return nil, errors.Join(errStopped, f.Close())
	}
	s.handle = &handle{file: f, key: keyOf(fi), busy: true, used: time.Now()}
	h.open[s] = s.handle
	return f, nil
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
	for len(h.open) > maxHandles {
		oldest := h.oldestIdle()
		if oldest == nil {
			return
		}
		h.close(oldest)
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

// closeIdle closes what gave nothing new for a while, but no file that is gone and waits for the pipeline.
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

// close lets a file go. Closing can hang like any other call, so nobody waits for it.
func (h *handles) close(s *stream) {
	file := s.handle.file
	delete(h.open, s)
	s.handle = nil
	work := h.hangs.begin(s.device.Load(), func() {})
	go func() {
		_ = file.Close() // it was only read
		work.pause()
	}()
}

func (h *handles) oldestIdle() *stream {
	var oldest *stream
	for s, hd := range h.open {
		if !hd.busy && (oldest == nil || hd.used.Before(oldest.handle.used)) {
			oldest = s
		}
	}
	return oldest
}
