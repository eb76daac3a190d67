package trainjsonlreceiver

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.uber.org/zap"
)

const (
	maxIdle   = 2 * time.Second  // between two looks at a file that does not grow
	maxSearch = 5 * time.Second  // between two searches for files
	maxRetry  = 10 * time.Second // between two attempts to read a file that cannot be read
	// searchShare is the part of the time that searching for files may take, as 1/n.
	searchShare = 20
	// noFiles is the matcher's word for globs that match nothing, which is no error.
	noFiles = "no files match the configured criteria"
	// tornSettle is how long an unterminated line after the end of a run must not change.
	tornSettle = time.Second
)

// poll looks for new files when that is due, looks at those known, and gives a turn to each that has something to read.
func (t *tailer) poll(ctx context.Context, now time.Time) {
	t.handles.closeIdle(now)
	if !now.Before(t.nextSearch) {
		t.search(ctx, now)
		took := time.Since(now)
		t.nextSearch = now.Add(min(max(t.cfg.PollInterval, searchShare*took), maxSearch))
	}
	for _, s := range t.list() {
		if ctx.Err() != nil {
			return
		}
		t.look(ctx, s, now)
	}
	t.reportStatus()
}

// search finds files by the globs.
func (t *tailer) search(ctx context.Context, now time.Time) {
	t.denied = false
	t.searchedAt = now
	for _, pattern := range t.cfg.Include {
		base, _ := doublestar.SplitPattern(pattern)
		if _, err := t.fs.Stat(base); err != nil {
			t.discoveryError(ctx, base, err)
		}
	}
	paths, err := t.matcher.MatchFiles()
	if err != nil && err.Error() != noFiles {
		t.discoveryError(ctx, "", err)
	}
	known := t.paths()
	for _, path := range paths {
		if !known[path] {
			t.admit(ctx, path, now)
		}
	}
	t.unskip(paths)
	if !t.searched.Load() { // what the checkpoints name and is not there
		for _, s := range t.list() {
			if s.isGone() {
				s.leave(now)
			}
		}
		t.searched.Store(true)
	}
}

// paths gives where the known files are.
func (t *tailer) paths() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := make(map[string]bool, len(t.streams))
	for _, s := range t.streams {
		s.mu.Lock()
		if !s.gone {
			known[s.mark.Path] = true
		}
		s.mu.Unlock()
	}
	return known
}

// admit takes up the file at a path that is not known.
func (t *tailer) admit(ctx context.Context, path string, now time.Time) {
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
		return // another name of a file that is known
	}
	s.move(path)
	s.mu.Lock()
	s.grown, s.idle, s.nextStat, s.retryAt, s.failures = now, 0, now, time.Time{}, 0
	s.mu.Unlock()
	t.look(ctx, s, now)
}

// skip counts and logs, once, a path that matches and is a pipe, a device or a socket: reading one could block for ever.
func (t *tailer) skip(ctx context.Context, path string, mode fs.FileMode) {
	if t.skipped[path] {
		return
	}
	t.skipped[path] = true
	t.tel.SkippedFiles.Add(ctx, 1, t.tel.Reason(skipNotRegular))
	t.warn("skip:"+path, "Left out what is no regular file; narrow include or name it in exclude",
		zap.String("file", path), zap.Stringer("mode", mode.Type()))
}

// unskip forgets the skipped paths that are not there any more.
func (t *tailer) unskip(paths []string) {
	if len(t.skipped) == 0 {
		return
	}
	there := make(map[string]bool, len(t.skipped))
	for _, path := range paths {
		if t.skipped[path] {
			there[path] = true
		}
	}
	t.skipped = there
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
			t.admit(ctx, path, now)
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
