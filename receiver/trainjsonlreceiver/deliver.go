package trainjsonlreceiver

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// handOff is how long a call may last before its turn goes to another file.
const handOff = 100 * time.Millisecond

// errStopped says that the receiver stops; what was not acknowledged is read again after the next start.
var errStopped = errors.New("the receiver stops")

// part is lines of a batch that are sent together, and the place up to which the file is delivered then.
type part struct {
	lines []line
	upTo  int64
	built *batch // of these lines, for the first attempt; nil = to be built
	apart bool   // nothing behind the place up to which the file is delivered before was accepted
}

// deliver sends lines, all of one run, and calls acknowledge with every place up to which they are accepted. It
// returns nil, errStopped or errRefused. What the pipeline refuses for good is halved until a record is refused alone.
func (t *tailer) deliver(ctx context.Context, s *stream, src source, whole part, p *permit, acknowledge func(upTo int64)) error {
	todo := []part{whole}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		refused, err := t.send(ctx, s, src, next, p)
		switch {
		case errors.Is(err, errStopped), errors.Is(err, errRefused):
			return err
		case len(refused) == 0:
			acknowledge(next.upTo)
		case len(refused) == 1:
			t.refuse(ctx, src, refused[0], err)
			acknowledge(next.upTo)
		default:
			half := len(refused) / 2
			todo = append(todo, part{lines: refused[half:], upTo: next.upTo, apart: next.apart},
				part{lines: refused[:half], upTo: refused[half-1].end, apart: next.apart})
		}
	}
	return nil
}

func (t *tailer) refuse(ctx context.Context, src source, l line, err error) {
	t.tel.RefusedRecords.Add(ctx, 1, t.tel.Self())
	t.warn("refused", "Passed over a record that the pipeline refuses for good",
		zap.String("file", src.path), zap.Int64("offset", l.offset), zap.Error(err))
}

// send hands lines to the pipeline, until it accepts them or refuses them for good; it gives the lines refused. What is refused
// as a whole and may be taken later is for insist. If a part was accepted, or some behind it, the lines wait here. Each attempt
// builds the batch anew, because a processor may have changed the last one before it was refused.
func (t *tailer) send(ctx context.Context, s *stream, src source, some part, p *permit) (refused []line, err error) {
	lines, count := some.lines, len(some.lines)
	opCtx := t.obs.StartLogsOp(ctx)
	defer func() { t.sent(opCtx, s, count, refused, err) }()
	for b := some.built; ; b = nil {
		if ctx.Err() != nil {
			return lines, errStopped
		}
		if b == nil {
			b = t.builders.build(src, lines).batches[0]
		}
		if err = t.call(opCtx, s, b, p); err == nil {
			t.count(ctx, src, b)
			return nil, nil
		}
		if ctx.Err() != nil {
			return lines, errStopped
		}
		v := judge(err)
		if !v.retry {
			return lines, err
		}
		rest := v.keep(lines, src)
		if len(rest) < len(lines) {
			t.count(ctx, src, t.builders.build(src, without(lines, rest)).batches[0])
		}
		lines = rest
		s.stall(true)
		s.patience.attempts++
		t.tel.Retries.Add(ctx, 1, t.tel.Self())
		t.warn("retry", "The pipeline refuses records, they are offered again until it takes them",
			zap.String("file", src.path), zap.Int64("offset", lines[0].offset), zap.Int("attempt", s.patience.attempts), zap.Error(err))
		p.release()
		if some.apart && len(lines) == count {
			return lines, errRefused
		}
		b.letGo()
		if err := t.waitApart(ctx, s, p); err != nil {
			return lines, err
		}
	}
}

// call hands the batch on. A call that lasts gives its turn to another file.
func (t *tailer) call(ctx context.Context, s *stream, b *batch, p *permit) error {
	if b.run != "" {
		ctx = client.NewContext(ctx, client.Info{Metadata: client.NewMetadata(
			map[string][]string{trainrecord.MetadataRunID: {b.run}})})
	}
	timer := time.AfterFunc(handOff, p.release)
	defer timer.Stop()
	s.call(time.Now())
	defer s.call(time.Time{})
	return t.next.ConsumeLogs(ctx, b.logs)
}

// keep gives the lines that the verdict asks for. A part that names none of them stands for all.
func (v verdict) keep(lines []line, src source) []line {
	if v.only == nil {
		return lines
	}
	rest := make([]line, 0, len(v.only))
	for i := range lines {
		if _, ok := v.only[uidOf(lines[i].run, src.file, &lines[i]).String()]; ok {
			rest = append(rest, lines[i])
		}
	}
	if len(rest) != len(v.only) {
		return lines
	}
	return slices.Clip(rest)
}

// without gives the lines that are not among the rest, both in the order of the file.
func without(lines, rest []line) []line {
	var out []line
	for i := range lines {
		if len(rest) > 0 && rest[0].offset == lines[i].offset {
			rest = rest[1:]
			continue
		}
		out = append(out, lines[i])
	}
	return out
}

// call notes when a call of the pipeline began, or that it is over.
func (s *stream) call(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calling = since
}

func (s *stream) stall(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = on
}
