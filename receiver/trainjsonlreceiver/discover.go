package trainjsonlreceiver

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"go.uber.org/zap"
)

const (
	maxIdle    = 2 * time.Second  // between two looks at a file that does not grow
	maxWatched = 10 * time.Second // likewise, if the operating system tells when it grows
	maxRetry   = 10 * time.Second // between two attempts to read a file that cannot be read
	// tornSettle is how long an unterminated line after the end of a run must not change.
	tornSettle = time.Second
	// statusEvery is the time between two looks at whether anything may be read.
	statusEvery = time.Second
)

// poll begins to look for new files when that is due, takes up those found, and has those looked at whose time has come. It
// asks nothing of a file system itself.
func (t *tailer) poll(ctx context.Context, now time.Time) {
	t.handles.closeIdle(now)
	if !t.searching && !now.Before(t.searchDue()) {
		t.search(ctx, now)
	}
	select {
	case f := <-t.found:
		t.takeUp(ctx, f, now)
	default:
		t.reportSlow(ctx, now)
	}
	for _, s := range t.list() {
		if ctx.Err() != nil {
			return
		}
		if s.isDue(now) {
			t.ask(ctx, job{stream: s, now: now})
		}
	}
	t.urge(ctx)
	t.settle(ctx, now)
	if now.Sub(t.statusAt) >= statusEvery {
		t.statusAt = now
		t.loseRewritten(ctx, now)
		t.reportStatus()
		t.tellLag(now)
	}
}

// admit takes up a file whose path is not known.
func (t *tailer) admit(ctx context.Context, c candidate, now time.Time) {
	fi, err := t.fs.Stat(c.path)
	now = t.lookers.clock(now)
	switch {
	case errors.Is(err, syscall.ELOOP):
		t.skip(ctx, c.path, skipLinkLoop)
		return
	case isMissing(err):
		return
	case err != nil:
		t.discoveryError(ctx, c.path, err)
		return
	case !fi.Mode().IsRegular():
		t.skip(ctx, c.path, skipNotRegular)
		return
	}
	key := t.keyFor(fi, c.path)
	s := t.byKey(key)
	switch {
	case s == nil:
		fresh, err := t.remembered(ctx, key, c)
		if err != nil {
			t.warn("recall", "Left a file for later, its checkpoint cannot be read", zap.String("file", c.path), zap.Error(err))
			return
		}
		fresh.wasBorn(t.fs.Born(c.path))
		s = t.add(ctx, fresh)
	case !s.isGone() && t.leadsTo(s, key):
		t.rename(s, c)
		return
	}
	t.meet(s, c.path, fi, true)
	s.move(c.path)
	t.watch.follow(s, c)
	s.arrive(fi, now)
	t.saw(s, fi, now)
}

// arrive notes that a file is there, again or for the first time.
func (s *stream) arrive(fi fs.FileInfo, now time.Time) {
	s.device.Store(keyOf(fi).dev)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grown, s.idle, s.retryAt, s.failures = now, 0, time.Time{}, 0
	if fi.Size() != s.size {
		s.resize(fi.Size(), now)
	}
	if s.written = now; fi.ModTime().Before(now) { // it may have grown long ago, but not after now, whatever clock says so
		s.written = fi.ModTime()
	}
}

// wasBorn notes when a new file was born: another one may have its inode before it is read.
func (s *stream) wasBorn(at int64) {
	if s.key.path == "" && s.mark.Born == 0 {
		s.mark.Born = at
	}
}

// rename gives a known file another of its names, if that is the one without links and the present one is not.
func (t *tailer) rename(s *stream, c candidate) {
	m, _ := s.get()
	if c.real && m.Path != c.path && t.globs.namer(t.fs).sameTarget(m.Path, c.path) {
		s.move(c.path)
		t.watch.follow(s, c)
	}
}

// leadsTo says whether the stream's own path still leads to its file.
func (t *tailer) leadsTo(s *stream, key fileKey) bool {
	m, _ := s.get()
	return t.leads(m.Path, key)
}

func (t *tailer) leads(path string, key fileKey) bool {
	fi, err := t.fs.Stat(path)
	return err == nil && t.keyFor(fi, path) == key
}

// look compares a file with what was seen of it last.
func (t *tailer) look(ctx context.Context, s *stream, now time.Time) {
	s.mu.Lock()
	path, gone := s.mark.Path, s.gone
	s.mu.Unlock()
	if gone {
		t.lookGone(ctx, s, now)
		return
	}
	s.news.Store(false)
	fi, err := t.fs.Stat(path)
	now = t.lookers.clock(now)
	switch {
	case err == nil && fi.Mode().IsRegular() && t.keyFor(fi, path) == s.key: // a pipe may have got its inode or path
		s.device.Store(keyOf(fi).dev)
		t.meet(s, path, fi, false)
		t.saw(s, fi, now)
	case err == nil, isMissing(err):
		if s.leave(path, now) {
			t.lookGone(ctx, s, now)
		}
		if err == nil {
			t.mu.Lock()
			t.orphans[path] = s
			t.mu.Unlock()
			t.admit(ctx, t.globs.namer(t.fs).name(path), now)
		}
	default: // a file system that does not answer now; the offset stays
		t.discoveryError(ctx, path, err)
		s.lookAgain(now.Add(maxIdle))
	}
}

// lookGone reads what was appended before the file went away, as long as it is open, and counts what is lost.
func (t *tailer) lookGone(ctx context.Context, s *stream, now time.Time) {
	if t.holds(s) {
		if s.mayTry(now) {
			t.enqueue(s)
		}
		s.lookAgain(now.Add(t.cfg.PollInterval))
		return
	}
	if t.countLost(ctx, s, now) {
		s.due.Store(never)
		return
	}
	s.lookAgain(now.Add(time.Second))
}

// saw takes note of a look and gives the file a turn if it needs one.
func (t *tailer) saw(s *stream, fi fs.FileInfo, now time.Time) {
	needed := s.seen(fi, now, t.cfg)
	if s.key.path != "" && t.handles.leadsElsewhere(s, keyOf(fi)) { // rotated: the rest of the old file goes first
		s.mu.Lock()
		s.swap, needed = true, true
		s.mu.Unlock()
	}
	if needed {
		t.enqueue(s)
	}
}

// seen notes size and time of a file and says whether it needs a turn.
func (s *stream) seen(fi fs.FileInfo, now time.Time, cfg *Config) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fi.Size() != s.size || !fi.ModTime().Equal(s.modTime) {
		if fi.Size() != s.size {
			s.resize(fi.Size(), now)
		}
		s.modTime, s.idle = fi.ModTime(), 0
		s.looked = notLooked
	} else {
		limit := maxIdle
		if s.watched {
			limit = maxWatched
		}
		s.idle = min(max(2*s.idle, cfg.PollInterval), max(limit, cfg.PollInterval))
	}
	next := now.Add(s.idle)
	for _, at := range []time.Time{s.retryAt, s.tornAt(cfg.TornAfter)} {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	s.lookAgain(next)
	if s.news.Load() {
		s.due.Store(0)
	}
	return !now.Before(s.retryAt) && (s.looked != s.size || s.tornDue(now, cfg.TornAfter))
}

// unreadable notes that a file could not be read. It is tried again, less and less often.
func (t *tailer) unreadable(ctx context.Context, s *stream, path string, err error) next {
	if errors.Is(err, errMoved) || isMissing(err) {
		s.lookAgain(time.Now()) // the poll finds out
		return nextWait
	}
	t.tel.ReadErrors.Add(ctx, 1, t.tel.Reason(readReason(err)))
	t.warn("read:"+path, "Cannot read a file, it is tried again; check that the collector's user may read it",
		zap.String("file", path), zap.Error(err))
	s.mu.Lock()
	s.failures++
	s.denied = isDenied(err)
	pause := min(t.cfg.PollInterval<<min(s.failures, 10), maxRetry)
	s.mu.Unlock()
	s.tryAgain(time.Now().Add(pause))
	return nextWait
}

func (s *stream) isGone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// isMissing says that there is nothing at a path, or a link that leads nowhere.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
