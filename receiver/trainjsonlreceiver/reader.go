package trainjsonlreceiver

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	turnBytes  = 256 << 10 // read of one file before the next has its turn
	probeReads = 4         // of turnBytes each, in search of the end of a long line
)

// next says what to do with a file after its turn.
type next int

const (
	nextWait  next = iota // until the poll sees a change
	nextAgain             // there is more
	nextSpace             // when other files' bytes are accepted
)

// turn reads a bounded part of a file, delivers its whole lines and moves the offset. A file has one turn at a time.
func (t *tailer) turn(ctx context.Context, s *stream, p *permit) next {
	s.mu.Lock()
	path, gone := s.mark.Path, s.gone
	s.mu.Unlock()
	f, err := t.handles.take(s, path, gone)
	if err != nil {
		return t.unreadable(ctx, s, path, err)
	}
	before, tailBefore := s.get()
	after, err := t.readUnpacked(ctx, s, f, p)
	s.head = nil
	later := errors.Is(err, errLater)
	if err != nil && !errors.Is(err, errStopped) && !later {
		t.handles.drop(s)
		return t.unreadable(ctx, s, path, err)
	}
	m, tl := s.get()
	t.handles.give(s, m != before || tl != tailBefore)
	if after == nextWait && !later && s.swapped() { // the old file is at its end
		t.handles.drop(s)
		return nextAgain
	}
	return after
}

// readUnpacked reads a file, and a packed one as what is in it.
func (t *tailer) readUnpacked(ctx context.Context, s *stream, f openFile, p *permit) (next, error) {
	g, ok := f.(*gzipFile)
	if !ok {
		return t.read(ctx, s, f, p)
	}
	ready, after, err := t.unpack(ctx, s, g, p)
	if ready {
		after, err = t.read(ctx, s, f, p)
	}
	t.unpacked(s, after)
	return after, err
}

// read is the part of a turn that has the file open.
func (t *tailer) read(ctx context.Context, s *stream, f openFile, p *permit) (next, error) {
	fi, err := f.Stat()
	if err != nil {
		return nextWait, err
	}
	size := fi.Size()
	m, _ := s.get()
	t.number(ctx, s, m)
	if size < m.Offset {
		return t.restart(ctx, s, f, rewriteShorter), nil
	}
	why, err := s.verifyHead(f)
	if err != nil {
		return nextWait, err
	}
	if why != "" {
		return t.restart(ctx, s, f, why), nil
	}
	if err := t.tellRenamed(ctx, s, f, size); err != nil {
		return nextWait, err
	}
	m, tl := s.get()
	if tl, err = s.standing(f, fi, m, tl); err != nil {
		return nextWait, err
	}
	need := min(t.turnSize, size-m.Offset)
	if grown := size > m.Offset+tl.scanned; tl.scanned > t.turnSize/16 || tl.scanned > 0 && !grown { // else it is read anew
		if same, err := m.stands(f); err != nil {
			return nextWait, err
		} else if !same { // though what is behind the offset goes on as it was
			return t.restart(ctx, s, f, rewriteChanged), nil
		}
		found, end, err := t.probe(s, f, m, &tl, size)
		if err != nil {
			return nextWait, err
		}
		if !found {
			return t.atEnd(ctx, s, f, size, p)
		}
		if tl.hole() > 0 {
			return t.passHole(ctx, s, f, m, tl, p)
		}
		if tl.length() > int64(t.cfg.MaxLineSize) {
			return t.overlong(ctx, s, f, m, tl, end, p)
		}
		need = max(need, end-m.Offset)
	}
	if !t.budget.take(need) {
		return nextSpace, nil
	}
	defer t.giveBack(need)
	switch ok, err := s.load(&t.buffers, f, m, need); {
	case err != nil:
		return nextWait, err
	case !ok:
		return t.restart(ctx, s, f, rewriteChanged), nil
	}
	defer s.unload(&t.buffers)
	return t.deliverWindow(ctx, s, f, m, size, p)
}

// standing gives the tail, an empty one if the unterminated line itself was rewritten.
func (s *stream) standing(f openFile, fi fs.FileInfo, m mark, tl tail) (tail, error) {
	end, size := m.Offset+tl.scanned, fi.Size()
	stands := size >= end && (size > end || fi.ModTime().Equal(s.lookedTime))
	s.lookedTime, s.lookedSize = fi.ModTime(), size
	if tl.scanned == 0 {
		return tl, nil
	}
	if stands && size > end {
		var err error
		if stands, err = tl.stands(f, m.Offset); err != nil {
			return tl, err
		}
	}
	if !stands {
		tl = tail{}
		s.setTail(tl)
	}
	return tl, nil
}

// deliverWindow delivers the whole lines of the window.
func (t *tailer) deliverWindow(ctx context.Context, s *stream, f openFile, m mark, size int64, p *permit) (next, error) {
	chunk := s.window.slice(m.Offset, s.window.end())
	if m.Offset == 0 && len(chunk) < len(bom) && bytes.HasPrefix(bom, chunk) {
		t.lose(ctx, s.lookedAt(size), m.Path, m.Offset, lostCut) // a byte order mark, or nothing, so far
		return nextWait, nil
	}
	var end int64
	if err := t.insist(ctx, s, p, func() (err error) {
		end, err = t.deliverLines(ctx, s, m, p)
		return err
	}); err != nil {
		return nextWait, err
	}
	if done, _ := s.get(); done.Offset < end { // blank lines at the end
		s.acknowledge(done, end)
	}
	var tl tail
	if rest := s.window.slice(end, s.window.end()); len(rest) > 0 {
		tl.add(rest, end)
	}
	s.setTail(tl)
	if !t.handles.has(s) { // it made room for another while the pipeline kept it waiting
		return nextAgain, nil
	}
	fi, err := f.Stat() // that may have been long ago
	if err != nil || fi.Size() < end {
		return nextAgain, err
	}
	return t.atEnd(ctx, s, f, fi.Size(), p)
}

// deliverLines delivers the whole lines of the window that are not delivered, some at a time, and run by run; it gives the
// place behind them. They were read where was says: by now another file may be there, and another run's may have the inode.
func (t *tailer) deliverLines(ctx context.Context, s *stream, was mark, p *permit) (end int64, err error) {
	if n := bytes.LastIndexByte(s.window.slice(was.Offset, s.window.end()), '\n'); n >= 0 {
		s.begin(was, was.Offset+int64(n)+1)
	}
	m, _ := s.get()
	m.Path, m.Origin = was.Path, was.Origin
	end = m.Offset
	for bytes.IndexByte(s.window.slice(end, s.window.end()), '\n') >= 0 {
		if end, err = t.deliverNext(ctx, s, &m, end, p); err != nil {
			return end, err
		}
	}
	return end, nil
}

// deliverNext delivers as many lines as a call may carry; it gives the place behind them.
func (t *tailer) deliverNext(ctx context.Context, s *stream, m *mark, from int64, p *permit) (end int64, err error) {
	if err := t.beginCall(ctx, s, p); err != nil {
		return from, err
	}
	defer t.endCall(s)
	lines := t.buffers.takeLines()
	defer func() { t.buffers.giveLines(lines) }()
	lines, consumed := cut(lines, s.window.slice(from, s.window.end()), from, int(t.cfg.MaxLineSize), s.most())
	end = from + int64(consumed)
	if len(lines) == 0 {
		return end, nil
	}
	some, err := t.fit(ctx, s, lines, p)
	if err != nil {
		return from, err
	}
	if len(some) < len(lines) {
		lines = some
		end = lines[len(lines)-1].end
	}
	if i := slices.IndexFunc(lines, func(l line) bool { return !l.isHole() }); i >= 0 && !m.HasFile {
		m.FileID, m.HasFile = trainrecord.FileID(head(lines[i].data)), true
	}
	*m, err = t.deliverSome(ctx, s, *m, lines, p)
	return end, err
}

// deliverSome delivers lines; it gives the mark behind them, but for their bytes.
func (t *tailer) deliverSome(ctx context.Context, s *stream, m mark, rest []line, p *permit) (mark, error) {
	for len(rest) > 0 {
		src := t.source(s, m)
		b := t.builders.build(src, rest)
		for n, one := range b.batches {
			limit := b.upTo(n)
			some := part{lines: one.lines, upTo: limit, built: one, apart: b.apart(n)}
			if err := t.deliver(ctx, s, src, some, p, func(upTo int64) {
				upTo = min(upTo, limit)
				s.acknowledge(b.at(m, upTo), upTo)
			}); err != nil {
				return m, err
			}
		}
		rest, m = b.rest, b.at(m, b.lines[len(b.lines)-1].end)
	}
	return m, nil
}

// atEnd ends a turn that has nothing more to deliver now.
func (t *tailer) atEnd(ctx context.Context, s *stream, f openFile, size int64, p *permit) (next, error) {
	m, tl := s.get()
	if m.Offset+tl.scanned < size {
		return nextAgain, nil
	}
	t.lose(ctx, s.lookedAt(size), m.Path, m.Offset, lostCut)
	s.mu.Lock()
	due := s.tornDue(time.Now(), t.cfg.TornAfter)
	s.mu.Unlock()
	if !due {
		return nextWait, nil
	}
	return t.torn(ctx, s, f, m, tl, p)
}

// head cuts a first line to the part that identifies a stream.
func head(data []byte) []byte { return data[:min(len(data), trainrecord.MaxRaw)] }
