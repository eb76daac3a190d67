package trainjsonlreceiver

import (
	"context"
	"errors"
	"time"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// maxStalled is how many turns wait, with what they have read, for a pipeline that refuses. Each costs memory beside its
// bytes, here and in the pipeline, to which all come back again and again.
const maxStalled = 256

var (
	// errRefused says that the pipeline took nothing of what was offered, and may take it later.
	errRefused = errors.New("the pipeline refuses records")
	// errLater says that too many turns wait already: this one ends, and its lines are read again later.
	errLater = errors.New("the pipeline refuses too many files")
)

// patience is a stream's with a pipeline that refuses.
type patience struct {
	pause    componentkit.BackOff // between two attempts
	attempts int                  // that were refused one after the other
	waits    bool                 // its turn is one of those that wait
}

// insist hands a turn's lines on, again and again if they are refused: as the bytes that were read, of which everything else
// is made anew. However long it takes, others may have the turn's file.
func (t *tailer) insist(ctx context.Context, s *stream, p *permit, once func() error) error {
	if !p.outside() {
		return errStopped
	}
	t.handles.lend(s, s.window.end())
	defer func() {
		t.endWait(s)
		t.handles.regain(s)
		p.inside()
	}()
	for {
		err := once()
		if !errors.Is(err, errRefused) {
			return err
		}
		if !t.mayWait(s, true) {
			s.tryAgain(time.Now().Add(s.patience.pause.Next()))
			return errLater
		}
		if t.wait(ctx, s.patience.pause.Next()) != nil {
			return errStopped
		}
	}
}

// mayWait asks to wait. A turn of whose lines some are accepted always may: read again, they would be delivered again.
func (t *tailer) mayWait(s *stream, whole bool) bool {
	switch {
	case s.patience.waits:
		return true
	case t.stalled.Add(1) > maxStalled && whole:
		t.stalled.Add(-1)
		return false
	default:
		s.patience.waits = true
		return true
	}
}

// waitApart waits with lines that cannot be read again, for they are among others that were accepted. Others may call the
// pipeline meanwhile.
func (t *tailer) waitApart(ctx context.Context, s *stream, p *permit) error {
	made, room := s.made, s.room
	t.endCall(s)
	t.mayWait(s, false)
	if t.wait(ctx, s.patience.pause.Next()) != nil {
		return errStopped
	}
	if err := t.beginCall(ctx, s, p); err != nil {
		return err
	}
	if room != nil {
		return t.makeRoom(ctx, s, room.n, p)
	}
	t.take(s, made)
	return nil
}

func (t *tailer) endWait(s *stream) {
	if s.patience.waits {
		s.patience.waits = false
		t.stalled.Add(-1)
	}
}

// sent ends an operation. What is offered again is not counted yet, nor is what is halved.
func (t *tailer) sent(opCtx context.Context, s *stream, count int, refused []line, err error) {
	again := errors.Is(err, errRefused)
	if again || errors.Is(err, errStopped) || len(refused) > 1 {
		count = 0
	}
	t.obs.EndLogsOp(opCtx, formatName, count, err)
	if !again { // else it is stalled still
		s.stall(false)
		s.patience.pause.Reset()
		s.patience.attempts = 0
	}
}
