package trainjsonlreceiver

import (
	"context"
	"errors"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// maxStalled is how many turns wait, with what they have read, for a pipeline that refuses. Each costs memory beside its
// bytes, here and in the pipeline, to which all come back again and again.
const maxStalled = 256

// errLater says that too many turns wait already: this one ends, and its lines are read again later.
var errLater = errors.New("the pipeline refuses too many files")

// waiting is a turn's wait for a pipeline that refuses.
type waiting struct {
	tailer *tailer
	on     bool
	pause  componentkit.BackOff
}

// begin asks to wait. A turn of whose lines some are accepted always may: read again, they would be delivered again.
func (w *waiting) begin(whole bool) bool {
	switch {
	case w.on:
		return true
	case w.tailer.stalled.Add(1) > maxStalled && whole:
		w.tailer.stalled.Add(-1)
		return false
	default:
		w.on = true
		return true
	}
}

func (w *waiting) end() {
	if w.on {
		w.tailer.stalled.Add(-1)
	}
}

// sent ends an operation. What is offered again later is not counted yet, nor is what is halved.
func (t *tailer) sent(opCtx context.Context, s *stream, count int, refused []line, err error) {
	later := errors.Is(err, errLater)
	if later || errors.Is(err, errStopped) || len(refused) > 1 {
		count = 0
	}
	t.obs.EndLogsOp(opCtx, formatName, count, err)
	if !later { // else it is stalled still
		s.stall(false)
		s.pause.Reset()
	}
}
