package trainjsonlreceiver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Reasons why a file is read from its start again.
const (
	rewriteShorter  = "shorter"  // the file ends before the offset
	rewriteChanged  = "changed"  // the bytes before the offset are not those that were delivered
	rewriteReplaced = "replaced" // another file has the inode now
	rewriteRenamed  = "renamed"  // files are known by their paths, and it has another one now
)

// window is a stretch of a file: buf begins at the byte base.
type window struct {
	buf  []byte
	base int64
}

func (w window) end() int64 { return w.base + int64(len(w.buf)) }

// slice gives the bytes from one place of the file to another; they must be in the window.
func (w window) slice(from, to int64) []byte { return w.buf[from-w.base : to-w.base] }

// unload lets go of the window.
func (s *stream) unload(lent *buffers) {
	lent.give(s.window.buf)
	s.window = window{}
}

// load fills the window with the bytes before the offset and need bytes from it. It answers false if those before are not
// the ones that were delivered. One read gives both, so that a rewrite in between is seen.
func (s *stream) load(lent *buffers, f openFile, m mark, need int64) (bool, error) {
	lead := min(m.Offset, beforeBytes)
	s.window = window{buf: lent.take(int(lead + need)), base: m.Offset - lead}
	n, err := readAt(f, s.window.buf, s.window.base)
	s.window.buf = s.window.buf[:n]
	if err == nil && int64(n) >= lead && (lead == 0 || xxhash.Sum64(s.window.buf[:lead]) == m.Before) {
		s.isOneText()
		return true, nil
	}
	s.unload(lent)
	return false, err
}

// readAt reads until the buffer is full or the file ends.
func readAt(f io.ReaderAt, buf []byte, at int64) (int, error) {
	n, err := f.ReadAt(buf, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// acknowledge moves the offset to a place in the window.
func (s *stream) acknowledge(m mark, upTo int64) {
	s.acknowledgeWith(m, upTo, s.window.slice(upTo-min(upTo, beforeBytes), upTo))
}

// acknowledgeWith moves the offset; before are the bytes in front of it.
func (s *stream) acknowledgeWith(m mark, upTo int64, before []byte) {
	m.Offset, m.Begun, m.Begin = upTo, 0, 0
	m.Before = xxhash.Sum64(before)
	if to := min(upTo, headBytes); to > s.headLen {
		_, _ = s.head.Write(s.window.slice(s.headLen, to)) // a hash never fails
		s.headLen = to
	}
	m.HeadLen, m.Head = int(s.headLen), s.head.Sum64()
	s.set(m)
}

// verifyHead compares the start of the file with what the mark says, and tells why it is another one.
func (s *stream) verifyHead(f openFile) (why string, err error) {
	m, _ := s.get()
	birth := f.Born()
	if s.key.path != "" {
		birth = 0 // what is at the path is the file, whatever it is made of
	}
	if m.Born != 0 && birth != 0 && m.Born != birth {
		return rewriteReplaced, nil
	}
	sum := xxhash.New()
	if m.HeadLen > 0 {
		buf := make([]byte, m.HeadLen)
		n, err := readAt(f, buf, 0)
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(buf[:n]) // a hash never fails
	}
	if m.HeadLen > 0 && sum.Sum64() != m.Head {
		return rewriteChanged, nil
	}
	if why, err := s.verifyBegin(f, &m); why != "" || err != nil {
		return why, err
	}
	s.head, s.headLen = sum, int64(m.HeadLen)
	m.Born = birth
	s.set(m)
	return "", nil
}

// restart reads a file from its start again.
func (t *tailer) restart(ctx context.Context, s *stream, f openFile, why string) next {
	m, _ := s.get()
	var between int64
	if fi, err := f.Stat(); err == nil {
		m.Unread, between = s.cutOff(fi.Size(), why == rewriteReplaced)
	}
	t.tel.Rewrites.Add(ctx, 1, t.tel.Reason(why))
	t.warn("rewrite", "Read a file from its start again, it was rewritten",
		zap.String("file", m.Path), zap.Int64("offset", m.Offset), zap.String("reason", why))
	t.departed.add(s, m, time.Now())
	again := t.nextText(s, m)
	t.leaveRewritten(ctx, mark{Path: m.Path, Origin: m.Origin, Unread: between}, time.Now())
	again.Was = t.leaveRewritten(ctx, m, time.Now())
	if s.key.path == "" {
		again.Born = f.Born()
	}
	s.setTail(tail{})
	s.head, s.headLen = xxhash.New(), 0
	s.reset(again)
	s.numbered = false
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newText(s)
	return nextAgain
}

// pathID is what the path at which reading began says. That of a packed file says what that of the stream would.
func (t *tailer) pathID(m mark) pathID {
	return newPathID(t.pathRegex, strings.TrimSuffix(m.Origin, gzipSuffix))
}

// source is what the records of a turn share.
func (t *tailer) source(s *stream, m mark) source {
	if s.id == nil || s.idOrigin != m.Origin {
		id := t.pathID(m)
		s.id, s.idOrigin = &id, m.Origin
	}
	return source{
		path: validText(m.Path), origin: m.Origin, nameless: !t.cfg.IncludeFilePath, named: t.cfg.IncludeFileName,
		id: *s.id, file: m.FileID, text: m.Text, replaces: m.Text - m.From, run: m.Run, written: s.lookedTime, size: s.lookedSize,
	}
}

// stands says whether the bytes before the offset are those that were delivered.
func (m mark) stands(f openFile) (bool, error) {
	before := make([]byte, min(m.Offset, beforeBytes))
	n, err := readAt(f, before, m.Offset-int64(len(before)))
	return err == nil && n == len(before) && (n == 0 || xxhash.Sum64(before) == m.Before), err
}

// stands says whether the tail's last bytes are still those that were looked at.
func (t *tail) stands(f openFile, offset int64) (bool, error) {
	var buf [nearBytes]byte
	n := int(min(t.scanned, nearBytes))
	got, err := readAt(f, buf[:n], offset+t.scanned-int64(n))
	return got == n && bytes.Equal(buf[:n], t.near[nearBytes-n:]), err
}

// probe looks for the end of a line of which tl has the part looked at before; end is the place after its newline.
func (t *tailer) probe(s *stream, f openFile, m mark, tl *tail, size int64) (found bool, end int64, err error) {
	buf := t.buffers.take(turnBytes)
	defer t.buffers.give(buf)
	for range probeReads {
		at := m.Offset + tl.scanned
		if at >= size {
			break
		}
		n, err := readAt(f, buf[:min(t.turnSize, size-at)], at)
		if err != nil {
			return false, 0, err
		}
		if n == 0 {
			break
		}
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			tl.add(buf[:i], m.Offset)
			return true, at + int64(i) + 1, nil
		}
		tl.add(buf[:n], m.Offset)
		s.setTail(*tl)
	}
	return false, 0, nil
}

// overlong passes over a line that is too long to be held, and reports its first bytes.
func (t *tailer) overlong(ctx context.Context, s *stream, f openFile, m mark, tl tail, end int64, p *permit) (next, error) {
	before := make([]byte, min(end, beforeBytes))
	if n, err := readAt(f, before, end-int64(len(before))); err != nil || n < len(before) || before[n-1] != '\n' {
		return nextAgain, err // it is being rewritten
	}
	l := line{offset: m.Offset + tl.skipped(), end: end, crc: tl.sum(), reason: trainrecord.ReasonTooLong}
	after, err := t.report(ctx, s, f, m, l, p, func(m mark) { s.acknowledgeWith(m, end, before) })
	if done, _ := s.get(); done.Offset == end {
		s.setTail(tail{})
		after = nextAgain
	}
	return after, err
}

// torn reports a line that has no newline. The offset stays: should the newline come, the line is delivered whole. Its uid is
// another then, also if nothing but the newline was missing: who drops what was seen would drop the record.
func (t *tailer) torn(ctx context.Context, s *stream, f openFile, m mark, tl tail, p *permit) (next, error) {
	l := line{offset: m.Offset + tl.skipped(), end: m.Offset + tl.scanned, crc: ^tl.sum(), reason: trainrecord.ReasonTorn}
	return t.report(ctx, s, f, m, l, p, func(now mark) {
		now.FileID, now.HasFile, now.Torn = m.FileID, m.HasFile, m.Offset
		s.set(now)
	})
}

// report delivers a line that is not decoded, with its first bytes.
func (t *tailer) report(
	ctx context.Context, s *stream, f openFile, m mark, l line, p *permit, acknowledge func(m mark),
) (next, error) {
	need := min(l.end, l.offset+trainrecord.MaxRaw+1) - m.Offset
	if !t.budget.take(need) {
		return nextSpace, nil
	}
	defer t.giveBack(need)
	ok, err := s.load(&t.buffers, f, m, need)
	if err != nil {
		return nextWait, err
	}
	if !ok {
		return t.restart(ctx, s, f, rewriteChanged), nil
	}
	defer s.unload(&t.buffers)
	if s.window.end() <= l.offset {
		return nextAgain, nil // it is being rewritten
	}
	l.data, _, _ = bytes.Cut(s.window.slice(l.offset, s.window.end()), []byte{'\n'})
	l.data = head(bytes.TrimSuffix(l.data, []byte{'\r'})) // one in the middle of the line stays, as in cut
	if l.isHole() {
		l.data = nil
	}
	if !m.HasFile && !l.isHole() {
		m.FileID, m.HasFile = trainrecord.FileID(l.data), true
	}
	m = s.begin(m, min(l.end, s.window.end()))
	src := t.source(s, m)
	return nextWait, t.insist(ctx, s, p, func() error {
		if err := t.beginCall(ctx, s, p); err != nil {
			return err
		}
		defer t.endCall(s)
		return t.deliver(ctx, s, src, part{lines: []line{l}, upTo: l.end, apart: true}, p, func(int64) { acknowledge(m) })
	})
}
