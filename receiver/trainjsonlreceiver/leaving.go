package trainjsonlreceiver

import (
	"compress/gzip"
	"io"

	"github.com/cespare/xxhash/v2"
)

// givenElsewhere says whether another stream still delivers what a packed file has: one that was rotated while the pipeline kept it
// waiting, and of which the rest is read from its open file, or is in the memory of its turn. The packed file waits, and goes on
// where that stream ended. The name alone decides for a stream of which the pipeline was offered nothing.
func (t *tailer) givenElsewhere(s *stream, g *gzipFile) (bool, error) {
	m, _ := s.get()
	if m.HeadLen > 0 { // it goes on itself
		return false, nil
	}
	var head []byte
	for _, other := range t.list() {
		om, _ := other.get()
		if other == s || !rotated(om, m.Path) || !t.delivers(other) || !t.isElsewhere(other, om.Path) {
			continue
		}
		if head == nil {
			var err error
			if head, err = g.head(); err != nil {
				return false, err
			}
		}
		if om.mayBegin(head) {
			return true, nil
		}
	}
	return false, nil
}

// delivers says whether bytes of a stream are on their way: a turn has them at the pipeline, or may read them from the open file.
func (t *tailer) delivers(s *stream) bool {
	if !t.holds(s) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unread() > 0 || s.leaves(0) || s.stalled || !s.calling.IsZero()
}

// isElsewhere says whether what a stream reads is not what its path leads to: that is gone, cut, or another file.
func (t *tailer) isElsewhere(s *stream, path string) bool {
	s.mu.Lock()
	moved, size := s.gone || s.other || s.swap || s.passing.began, s.size
	s.mu.Unlock()
	if moved {
		return true
	}
	fi, err := t.fs.Stat(path)
	was := s.inode.Load()
	return err != nil && isMissing(err) || err == nil && (fi.Size() < size || was != 0 && keyOf(fi).ino != was)
}

// head gives the first bytes of what is in a packed file, as far as they can be unpacked; none of one that is damaged.
func (g *gzipFile) head() ([]byte, error) {
	src := g.packedBytes()
	buf := make([]byte, headBytes)
	n := 0
	reader, err := gzip.NewReader(src)
	if err == nil {
		n, _ = io.ReadFull(reader, buf) // damage is told when all is read
	}
	return buf[:n], src.err
}

// mayBegin says whether a file that begins so may be the one that a mark speaks of.
func (m *mark) mayBegin(head []byte) bool {
	switch {
	case m.HeadLen > 0:
		return m.HeadLen <= len(head) && xxhash.Sum64(head[:m.HeadLen]) == m.Head
	case m.Begun > 0:
		return m.Begun <= len(head) && xxhash.Sum64(head[:m.Begun]) == m.Begin
	default:
		return true
	}
}
