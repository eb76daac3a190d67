package trainjsonlreceiver

import (
	"context"
	"io/fs"
	"time"

	"go.uber.org/zap"
)

// lostAfter is how long a file must be gone, and searched for, before its unread bytes count as lost. It may have been
// renamed: the next search finds it under another name.
const lostAfter = 10 * time.Second

const lostCut = "A file was cut off before it was read to its end; append to streams, and copy and cut them only when they are read"

// unread gives the bytes that were seen and not delivered. Blanks without a newline are none, nor is an unterminated line
// that was reported, nor what a packed file gives.
func (s *stream) unread() int64 {
	n := s.size - max(s.mark.Offset, s.packedTo)
	if n == s.tail.scanned && (!s.tail.text || s.mark.Torn == s.mark.Offset) {
		return 0
	}
	return max(n, 0)
}

// keepSeen notes, while the size is still that of the file that was seen, up to where it had bytes that were not delivered:
// another file may have its inode or path now. A packed file has another size until it is measured. It is called with the lock.
func (s *stream) keepSeen() {
	if s.unread() > 0 && !s.other && (!isGzip(s.mark.Path) || s.size == s.mark.Packed.size) {
		s.cut = max(s.cut, s.size)
	}
}

// passing is what was seen of a file behind a cut, or of another one at its path, and was cut off or replaced in its turn while the
// pipeline kept the turn that reads what was there first.
type passing struct {
	began bool   // something was cut off or replaced
	seen  int64  // if none of it is of the text that the turn reads
	cut   int64  // if all of it is
	file  uint64 // that has the place now: its inode, or its birth time
}

// isOneText notes that the file is still the one that was read, whatever was cut off: a turn has its bytes.
func (s *stream) isOneText() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mark.Offset > 0 && !s.other {
		s.passing.seen, s.passing.began = s.passing.cut, false
	}
}

// passBy notes that what was seen of the file, as far as it lies behind a place, is not there any more. It is called with the lock.
func (s *stream) passBy(kept int64) {
	s.passing.seen += s.size
	s.passing.cut += max(s.size-kept, 0)
}

// meet looks, when a file has changed or comes, whether it is another one. Of one that is known by its path that matters only if
// there are bytes that were not delivered.
func (t *tailer) meet(s *stream, path string, fi fs.FileInfo, comes bool) {
	byPath := s.key.path != ""
	s.mu.Lock()
	born := s.mark.Born
	ask := (!byPath || s.unread() > 0 || s.other) && (comes || fi.Size() != s.size || !fi.ModTime().Equal(s.modTime))
	if comes { // whatever it is
		s.keepSeen()
	}
	s.mu.Unlock()
	switch {
	case !ask:
	case byPath:
		if was, now := s.inode.Load(), keyOf(fi).ino; was != 0 && now != 0 && was != now {
			s.metOther(now)
		}
	default:
		if now := t.fs.Born(path); born != 0 && now != 0 && born != now && t.leads(path, s.key) {
			s.metOther(uint64(now)) //nolint:gosec // it is only compared
		}
	}
}

// metOther notes which other file has the place of the one that is read. Nothing is seen of it yet.
func (s *stream) metOther(file uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.other && s.passing.file == file {
		return
	}
	if s.other {
		s.passBy(0)
	} else {
		s.keepSeen()
	}
	s.other, s.size, s.passing.began, s.passing.file = true, 0, true, file
}

// cutOff gives the bytes that were seen and are not there any more, of a file that was rewritten to this size, or is another one;
// between are those of texts that came after it, and went before a turn read anything of them.
func (s *stream) cutOff(size int64, other bool) (n, between int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size < s.size {
		s.resize(size, time.Now())
	}
	if other {
		s.keepSeen() // unless a look has seen it
	}
	n = max(s.cut-max(s.mark.Offset, s.packedTo), 0) // a turn may have had some of it in its memory
	between, s.passing = s.passing.seen, passing{}
	s.cut, s.other, s.packedTo, s.behind = 0, false, 0, time.Time{}
	return n, between
}

// isAway says whether the file is gone, or another one has its place.
func (s *stream) isAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone || s.other
}

// leaving says whether the file is gone, or another one has its place, and has bytes that only its open handle can still give.
func (s *stream) leaving() bool { return s.leavingBehind(0) }

// leavingBehind says whether closing the file would lose bytes, when those before a place are in memory.
func (s *stream) leavingBehind(upTo int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaves(upTo)
}

// leaves is called with the lock. The size is that of the other file, if one has the place.
func (s *stream) leaves(upTo int64) bool {
	if s.other {
		return s.cut > max(upTo, s.mark.Offset, s.packedTo)
	}
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
	if packed := t.awaited(now); packed.has(&m) {
		s.mu.Lock()
		s.missing = true
		s.mu.Unlock()
		return
	}
	t.vanished(ctx, &m)
}

// wentOn notes that a packed file goes on where the stream was, and that it holds so many bytes: what was seen of the stream is
// not lost if it is among them.
func (s *stream) wentOn(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packedTo = max(s.packedTo, size)
	s.missing = s.missing && size < s.size
	s.revision++
}

// vanished counts a file that went away while the collector did not run.
func (t *tailer) vanished(ctx context.Context, m *mark) {
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
	m, _ := s.get()
	waits := false
	if s.leaving() {
		packed := t.awaited(now)
		waits = packed.has(&m)
	}
	s.mu.Lock()
	left, n, missing := s.left, s.unread(), s.missing
	if !left.IsZero() && (now.Sub(left) < lostAfter || !searched.After(left) || n > 0 && waits) {
		s.mu.Unlock()
		return false
	}
	s.left, s.stalled, s.missing = time.Time{}, false, false
	if !left.IsZero() && n > 0 { // nor after a restart
		s.size = s.mark.Offset
		s.revision++
	}
	s.mu.Unlock()
	if missing {
		t.vanished(ctx, &m)
	}
	if left.IsZero() || n == 0 {
		return true
	}
	t.lose(ctx, n, m.Path, m.Offset, "A file went away before it was read to its end; keep files until they are")
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
