package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/condition"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// watched is what was written of a run last.
type watched struct {
	last  string
	ended bool
	next  time.Time
}

// watch writes a document of each run at the start and at each change, until all have ended.
func (w *watcher) watch(ctx context.Context) (int, error) {
	seen := map[*follow.Run]*watched{}
	code := exitOK
	for {
		w.look()
		runs, err := w.watchedRuns()
		if err != nil {
			return 0, err
		}
		over := len(runs) > 0
		for _, run := range runs {
			one := seen[run]
			if one == nil {
				one = &watched{}
				seen[run] = one
			}
			if run.Changed || !time.Now().Before(one.next) {
				if code, err = w.step(run, one); err != nil {
					return 0, err
				}
			}
			over = over && one.ended
		}
		if over {
			return code, nil
		}
		if err := pause(ctx, pollEvery); err != nil {
			if errors.Is(err, context.Canceled) {
				return exitOK, nil
			}
			return 0, err
		}
	}
}

func (w *watcher) watchedRuns() ([]*follow.Run, error) {
	if len(w.session.Runs()) == 0 && len(w.session.Missing) > 0 {
		return nil, nil
	}
	return w.runs()
}

// step writes a run when what is watched for changed.
func (w *watcher) step(run *follow.Run, one *watched) (int, error) {
	sum := w.ask(run)
	d := sum.Document
	one.next = due(d, time.Now())
	one.ended = (condition.Ended(d) || condition.Lost(d)) && !d.Provisional
	code := exitOK
	if w.exitState {
		code = exitOf(d)
	}
	now := w.mark(d)
	if now == one.last {
		return code, nil
	}
	one.last = now
	if w.out.terminal && w.format == formatText {
		if err := put(w.out.out, []byte("\x1b[H\x1b[2J")); err != nil {
			return 0, err
		}
	}
	return code, w.write(run, sum)
}

// mark is what a change is seen by.
func (w *watcher) mark(d *trainview.Document) string {
	switch w.on {
	case "record":
		return fmt.Sprint(d.Source.Records, d.State)
	case "epoch":
		return fmt.Sprint(deref(d.Progress.EpochsCompleted), d.State)
	default:
		return fmt.Sprint(condition.Of(d))
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}
