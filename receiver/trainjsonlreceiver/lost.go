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

// countLost counts, once, the bytes of a file that went away before they were read. Should it come back they are read all
// the same.
func (t *tailer) countLost(ctx context.Context, s *stream, now time.Time) {
	s.mu.Lock()
	left, path, offset, n := s.left, s.mark.Path, s.mark.Offset, s.unread()
	if left.IsZero() || now.Sub(left) < lostAfter || !t.searchedAt.After(left) {
		s.mu.Unlock()
		return
	}
	s.left = time.Time{}
	s.mu.Unlock()
	if n == 0 {
		return
	}
	t.tel.LostBytes.Add(ctx, n, t.tel.Self())
	t.warn("lost", "A file went away before it was read to its end; keep files until they are",
		zap.String("file", path), zap.Int64("offset", offset), zap.Int64("lost_bytes", n))
}
