package trainjsonlreceiver

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.uber.org/zap"
)

const (
	maxUnpacking = 4               // packed files that are read at a time
	gzipSettle   = 2 * time.Second // for which a packed file must not have changed
)

// Reasons why a packed file is not read to its end.
const (
	gzipTruncated = "gzip_truncated"
	gzipCorrupt   = "gzip_corrupt"
)

// unpacking holds the packed files that are being read: each needs memory of its own and is read in one go if it can be.
type unpacking struct {
	mu     sync.Mutex
	active map[*stream]struct{}
}

// begin says whether a file may be read now. One that is kept waiting makes room.
func (u *unpacking) begin(s *stream) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.active[s]; ok {
		return true
	}
	if len(u.active) >= maxUnpacking {
		for other := range u.active {
			if other.isKept(time.Now()) {
				delete(u.active, other)
			}
		}
	}
	if len(u.active) >= maxUnpacking {
		return false
	}
	if u.active == nil {
		u.active = map[*stream]struct{}{}
	}
	u.active[s] = struct{}{}
	return true
}

func (u *unpacking) end(s *stream) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.active[s]
	delete(u.active, s)
	return ok
}

// unpack prepares a packed file for a turn: it finds out how much is in it, once. A false ready ends the turn.
func (t *tailer) unpack(ctx context.Context, s *stream, g *gzipFile, p *permit) (ready bool, after next, err error) {
	fi, err := g.openFile.Stat()
	if err != nil {
		return false, nextWait, err
	}
	g.alive = p.inside
	m, _ := s.get()
	of := versionOf(fi)
	if m.Packed.of == of && m.Offset == m.Packed.size { // read to its end before
		t.packed.set(s.key, m.Packed)
		s.lookedAt(m.Packed.size)
		return false, nextWait, nil
	}
	if age := time.Since(fi.ModTime()); age >= 0 && age < gzipSettle {
		return false, nextWait, nil
	}
	if waits, err := t.givenElsewhere(s, g); waits || err != nil {
		return false, nextWait, err
	}
	if !t.unpacking.begin(s) {
		return false, nextSpace, nil
	}
	if g.of != of {
		if err := t.measure(ctx, s, g, of, p); err != nil {
			return false, nextWait, err
		}
	}
	if m, err = t.placed(s, g); err != nil {
		return false, nextWait, err
	}
	g.hold, g.most = m.Offset-beforeBytes, int64(t.cfg.MaxLineSize)+2*turnBytes
	return true, nextAgain, nil
}

// measure notes how much is in a packed file, and counts what keeps it from being read to its end.
func (t *tailer) measure(ctx context.Context, s *stream, g *gzipFile, of version, p *permit) error {
	timer := time.AfterFunc(handOff, p.release)
	defer timer.Stop()
	flaw, err := g.measure(ctx, of)
	if err != nil {
		return err
	}
	u := unpackedSize{of: of, size: g.size}
	m, _ := s.get()
	if flaw != nil && m.Packed != u {
		reason := gzipCorrupt
		if errors.Is(flaw, io.ErrUnexpectedEOF) {
			reason = gzipTruncated
		}
		t.tel.ReadErrors.Add(ctx, 1, t.tel.Reason(reason))
		t.warn("gzip:"+m.Path, "A packed file is not whole, only what could be unpacked is read; pack it anew",
			zap.String("file", m.Path), zap.Int64("unpacked_bytes", g.size), zap.Error(flaw))
	}
	t.packed.set(s.key, u)
	return nil
}

// placed gives the mark from which a measured file is read: that of another stream if nothing of this one was delivered, be
// it new or rewritten.
func (t *tailer) placed(s *stream, g *gzipFile) (mark, error) {
	m, _ := s.get()
	u := unpackedSize{of: g.of, size: g.size}
	if m.HeadLen > 0 && m.Packed == u {
		return m, nil
	}
	if m.HeadLen == 0 {
		var err error
		if m, err = t.inherit(s, g, m); err != nil {
			return m, err
		}
	}
	m.Packed = u
	s.set(m)
	return m, nil
}

// inherit finds the stream that a packed file was before, by its name and by the bytes that were delivered of it, and goes on
// where that one was. Otherwise a rotated stream would be delivered twice, if under the same uids.
func (t *tailer) inherit(s *stream, g *gzipFile, m mark) (mark, error) {
	best := m
	marks := t.rewritten.list(time.Now())
	was := make([]*stream, len(marks))
	for _, other := range t.list() {
		if om, _ := other.get(); other != s {
			marks, was = append(marks, om), append(was, other)
		}
	}
	for i, om := range marks {
		if om.HeadLen == 0 || om.Offset <= best.Offset || om.Offset > g.size || !rotated(om, m.Path) {
			continue
		}
		same, err := holds(g, om)
		if err != nil {
			return m, err
		}
		if same {
			best = om
			best.Torn, best.Born, best.Packed, best.Unread = noTorn, m.Born, m.Packed, 0
			switch {
			case was[i] == nil:
				t.given(om, max(om.Offset+om.Unread-g.size, 0))
			case !t.holds(was[i]):
				was[i].wentOn(g.size)
			}
		}
	}
	if best.Offset == 0 {
		t.givenUnread(marks, was, m.Path, g.size)
	}
	return best, nil
}

// givenUnread notes what a packed file gives of files of which nothing was delivered: it is read from its start, and that it is
// theirs, its name alone can say.
func (t *tailer) givenUnread(marks []mark, was []*stream, path string, size int64) {
	for i, om := range marks {
		switch {
		case om.HeadLen > 0 || !rotated(om, path):
		case was[i] == nil:
			t.given(om, max(om.Unread-size, 0))
		case was[i].isAway() && !t.holds(was[i]):
			was[i].wentOn(size)
		}
	}
}

// rotated says whether a packed file's name may be that of a stream after rotation: the same folder, and its name in front, but
// for the number or date of a rotation before.
func rotated(m mark, path string) bool {
	for _, was := range []string{m.Path, m.Origin} {
		stem := strings.TrimRight(strings.TrimSuffix(filepath.Base(was), gzipSuffix), "0123456789-.")
		if filepath.Dir(was) == filepath.Dir(path) && stem != "" && strings.HasPrefix(filepath.Base(path), stem) {
			return true
		}
	}
	return false
}

// holds says whether a file has the bytes that a mark speaks of.
func holds(f openFile, m mark) (bool, error) {
	head := make([]byte, m.HeadLen)
	if n, err := readAt(f, head, 0); err != nil || n < len(head) || xxhash.Sum64(head) != m.Head {
		return false, err
	}
	return m.stands(f)
}

// unpacked ends a turn of a packed file: when nothing more is to be read, another one may be.
func (t *tailer) unpacked(s *stream, after next) {
	if after == nextWait && t.unpacking.end(s) {
		t.giveBack(0)
	}
}

// isKept says whether the pipeline or the file system keeps the stream waiting.
func (s *stream) isKept(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keptWaiting(now) || s.hanging
}
