package trainjsonlreceiver

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"go.uber.org/zap"
)

const (
	maxIdle  = 2 * time.Second  // between two looks at a file that does not grow
	maxRetry = 10 * time.Second // between two attempts to read a file that cannot be read
	// tornSettle is how long an unterminated line after the end of a run must not change.
	tornSettle = time.Second
)

// poll begins to look for new files when that is due, takes up those found, looks at those known, and gives a turn to each that has something to read.
func (t *tailer) poll(ctx context.Context, now time.Time) {
	t.handles.closeIdle(now)
	if !t.searching && !now.Before(t.nextSearch) {
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
		t.look(ctx, s, now)
	}
	t.reportStatus()
}

// admit takes up a file whose path is not known.
func (t *tailer) admit(ctx context.Context, c candidate, now time.Time) {
	path := c.path
	fi, err := t.fs.Stat(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.discoveryError(ctx, path, err)
		}
		return
	}
	if !fi.Mode().IsRegular() {
		t.skip(ctx, path, fi.Mode())
		return
	}
	key := keyOf(fi)
	s := t.byKey(key)
	switch {
	case s == nil:
		m, known, err := t.recall(ctx, key)
		if err != nil {
			t.warn("recall", "Left a file for later, its checkpoint cannot be read", zap.String("file", path), zap.Error(err))
			return
		}
		if !known {
			m = mark{Path: path, Origin: path, Torn: noTorn}
		}
		s = t.newStream(key, m)
		t.mu.Lock()
		t.streams[key] = s
		t.mu.Unlock()
	case !s.isGone() && t.leadsTo(s, key):
		t.rename(s, c)
		return
	}
	s.move(path)
	s.mu.Lock()
	s.grown, s.idle, s.nextStat, s.retryAt, s.failures = now, 0, now, time.Time{}, 0
	s.mu.Unlock()
	t.look(ctx, s, now)
}

// rename gives a known file another of its names, if that is the one without links and the present one is not.
func (t *tailer) rename(s *stream, c candidate) {
	m, _ := s.get()
	if c.real && m.Path != c.path && t.globs.namer(t.fs).sameTarget(m.Path, c.path) {
		s.move(c.path)
	}
}

// leadsTo says whether the stream's own path still leads to its file.
func (t *tailer) leadsTo(s *stream, key fileKey) bool {
	m, _ := s.get()
	fi, err := t.fs.Stat(m.Path)
	return err == nil && keyOf(fi) == key
}

// look compares a file with what was seen of it last.
func (t *tailer) look(ctx context.Context, s *stream, now time.Time) {
	s.mu.Lock()
	path, gone, due := s.mark.Path, s.gone, !now.Before(s.nextStat)
	s.mu.Unlock()
	if gone {
		if t.handles.has(s) {
			t.enqueue(s) // what was appended before the file went away
		} else {
			t.countLost(ctx, s, now)
		}
		return
	}
	if !due {
		return
	}
	fi, err := t.fs.Stat(path)
	switch {
	case err == nil && keyOf(fi) == s.key:
		if s.seen(fi, now, t.cfg) {
			t.enqueue(s)
		}
	case err == nil, errors.Is(err, fs.ErrNotExist):
		s.leave(now)
		if t.handles.has(s) {
			t.enqueue(s)
		}
		if err == nil {
			t.admit(ctx, t.globs.namer(t.fs).name(path), now)
		}
	default: // a file system that does not answer now; the offset stays
		t.discoveryError(ctx, path, err)
		s.mu.Lock()
		s.nextStat = now.Add(maxIdle)
		s.mu.Unlock()
	}
}

// seen notes size and time of a file and says whether it needs a turn.
func (s *stream) seen(fi fs.FileInfo, now time.Time, cfg *Config) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fi.Size() != s.size || !fi.ModTime().Equal(s.modTime) {
		if fi.Size() != s.size {
			s.grown = now
		}
		s.size, s.modTime, s.idle = fi.Size(), fi.ModTime(), 0
		s.looked = notLooked
	} else {
		s.idle = min(max(2*s.idle, cfg.PollInterval), max(maxIdle, cfg.PollInterval))
	}
	s.nextStat = now.Add(s.idle)
	return !now.Before(s.retryAt) && (s.looked != s.size || s.tornDue(now, cfg.TornAfter))
}

// unreadable notes that a file could not be read. It is tried again, less and less often.
func (t *tailer) unreadable(ctx context.Context, s *stream, path string, err error) next {
	if errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist) {
		return nextWait // the poll finds out
	}
	t.tel.ReadErrors.Add(ctx, 1, t.tel.Reason(readReason(err)))
	t.warn("read:"+path, "Cannot read a file, it is tried again; check that the collector's user may read it",
		zap.String("file", path), zap.Error(err))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	s.denied = isDenied(err)
	s.retryAt = time.Now().Add(min(t.cfg.PollInterval<<min(s.failures, 10), maxRetry))
	s.looked = notLooked
	return nextWait
}

func (s *stream) isGone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}
