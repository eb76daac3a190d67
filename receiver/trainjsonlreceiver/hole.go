package trainjsonlreceiver

import (
	"context"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// passHole passes over the NUL bytes before a line whose end is known, and reports them: a file that was truncated under a
// writer that does not append has gigabytes of them.
func (t *tailer) passHole(ctx context.Context, s *stream, f openFile, m mark, tl tail, p *permit) (next, error) {
	end := m.Offset + tl.skipped()
	before := make([]byte, min(end, beforeBytes))
	n, err := readAt(f, before, end-int64(len(before)))
	if nuls := before[int64(len(before))-min(tl.hole(), int64(len(before))):]; err != nil || n < len(before) || leadingNULs(nuls) < len(nuls) {
		return nextAgain, err // it is being rewritten
	}
	l := line{offset: m.Offset + tl.mark, end: end, crc: tl.holeCRC, reason: trainrecord.ReasonNULBytes}
	after, err := t.report(ctx, s, f, m, l, p, func(m mark) { s.acknowledgeWith(m, end, before) })
	if done, _ := s.get(); done.Offset == end {
		s.setTail(tail{})
		after = nextAgain
	}
	return after, err
}
