package trainjsonlreceiver

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// tellRenamed counts and logs, once, a file that is read from its start again because it has another path than before, and
// files are known by their paths. It had the name of one that is gone, or that was rewritten since.
func (t *tailer) tellRenamed(ctx context.Context, s *stream, f openFile, size int64) error {
	m, _ := s.get()
	if s.key.path == "" || s.known || size == 0 {
		return nil
	}
	s.known = true
	if m.HeadLen > 0 { // it goes on
		return nil
	}
	for _, before := range t.formerly(s) {
		if before.HeadLen == 0 || before.Offset > size || before.Path == m.Path {
			continue
		}
		same, err := holds(f, before)
		if err != nil {
			return err
		}
		if same {
			t.tel.Rewrites.Add(ctx, 1, t.tel.Reason(rewriteRenamed))
			t.warn("rewrite", "Read a file from its start again, it was renamed; identity: inode follows it where inodes are stable",
				zap.String("file", m.Path), zap.String("before", before.Path), zap.Int64("offset", before.Offset))
			return nil
		}
	}
	return nil
}

// formerly gives what a file may have been: those that had its inode and have it no more, and those that were rewritten.
func (t *tailer) formerly(s *stream) []mark {
	marks := t.rewritten.list(time.Now())
	device, inode := s.device.Load(), s.inode.Load()
	for _, other := range t.list() {
		if other == s || inode == 0 || other.inode.Load() != inode || other.device.Load() != device {
			continue
		}
		m, _ := other.get()
		if fi, err := t.fs.Stat(m.Path); err == nil && keyOf(fi) == (fileKey{dev: device, ino: inode}) {
			continue // it has two names
		}
		marks = append(marks, m)
	}
	return marks
}
