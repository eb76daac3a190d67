package trainjsonlreceiver

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// lostAfter is how long a file must be gone, and searched for, before its unread bytes count as lost. It may have been
// renamed: the next search finds it under another name.
const lostAfter = 10 * time.Second

// unread gives the bytes that were seen and not delivered. Blanks without a newline are none, nor is an unterminated line
// that was reported.
func (s *stream) unread() int64 {
	n := s.size - s.mark.Offset
	if n == s.tail.scanned && (!s.tail.text || s.mark.Torn == s.mark.Offset) {
		return 0
	}
	return max(n, 0)
}

// leaving says whether the file is gone and has bytes that only its open handle can still give.
func (s *stream) leaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone && s.unread() > 0
}

// leavingBehind says whether closing the file would lose bytes, when those before a place are in memory.
func (s *stream) leavingBehind(upTo int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.gone || s.swap) && s.unread() > 0 && s.size > upTo
}

// wentMissing notes a file that the first search after a start did not find, though a checkpoint names it.
func (t *tailer) wentMissing(ctx context.Context, s *stream, now time.Time) {
	m, _ := s.get()
	s.leave(m.Path, now)
	s.lookAgain(now)
	if m.GoneTime != 0 || m.Ended {
		return // it was gone before, or there was nothing more to come
	}
	t.tel.VanishedFiles.Add(ctx, 1, t.tel.Self())
	if t.seldom.Allow("vanished") {
		t.logger.Warn("A file went away while the collector did not run, before its run had ended; what was appended meanwhile is not known",
			zap.String("file", m.Path), zap.Int64("offset", m.Offset))
	}
}

// countLost counts, once, the bytes of a file that went away before they were read. Should it come back they are read all
// the same. It answers false as long as it is too early to tell.
func (t *tailer) countLost(ctx context.Context, s *stream, now time.Time) bool {
	t.mu.Lock()
	searched := t.searchedAt
	t.mu.Unlock()
	s.mu.Lock()
	left, path, offset, n := s.left, s.mark.Path, s.mark.Offset, s.unread()
	if !left.IsZero() && (now.Sub(left) < lostAfter || !searched.After(left)) {
		s.mu.Unlock()
		return false
	}
	s.left, s.stalled = time.Time{}, false
	s.mu.Unlock()
	if left.IsZero() || n == 0 {
		return true
	}
	t.lose(ctx, n, path, offset, "A file went away before it was read to its end; keep files until they are")
	return true
}

// goneSince says for how long a file is gone; 0 for one that is there.
func (s *stream) goneSince(now time.Time) time.Duration {
	if !s.gone || s.mark.GoneTime == 0 {
		return 0
	}
	return now.Sub(time.Unix(s.mark.GoneTime, 0))
}

// expire counts what is unread of a file that will be forgotten, unless it was counted when it went away.
func (t *tailer) expire(ctx context.Context, s *stream) {
	s.mu.Lock()
	path, offset, n := s.mark.Path, s.mark.Offset, s.unread()
	if s.left.IsZero() {
		n = 0
	}
	s.left = time.Time{}
	s.mu.Unlock()
	t.lose(ctx, n, path, offset, "A file was gone for a day and had not been read to its end")
}

// lose counts and logs bytes that were seen and cannot be read any more.
func (t *tailer) lose(ctx context.Context, n int64, path string, offset int64, message string) {
	if n == 0 {
		return
	}
	t.tel.LostBytes.Add(ctx, n, t.tel.Self())
	t.warn("lost", message, zap.String("file", path), zap.Int64("offset", offset), zap.Int64("lost_bytes", n))
}
