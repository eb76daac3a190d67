package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/condition"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/render"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// watched is what was told of a run last.
type watched struct {
	last  string
	sum   *trainview.Summary
	ended bool
	code  int
	next  time.Time
}

// watch tells of each run at the start and at each change, until all have ended: a document each time, or a screen that is drawn anew.
func (w *watcher) watch(ctx context.Context) (int, error) {
	w.tellUnseen()
	seen := map[*follow.Run]*watched{}
	draws := w.out.screen && w.format == formatText
	var size [2]int
	for {
		w.look()
		runs, err := w.watchedRuns()
		if err != nil {
			return 0, err
		}
		over, changed, code := len(runs) > 0, false, exitOK
		for _, run := range runs {
			one := seen[run]
			if one == nil {
				one = &watched{}
				seen[run] = one
			}
			if (run.Changed || !time.Now().Before(one.next)) && w.step(run, one) {
				changed = true
				if !draws {
					if err := w.write(run, one.sum); err != nil {
						return 0, err
					}
				}
			}
			over, code = over && one.ended, max(code, one.code)
		}
		width, height, _ := w.out.size()
		if now := [2]int{width, height}; draws && len(runs) > 0 && (changed || now != size) {
			size = now
			if err := put(w.out.out, render.Screen(w.screen(runs, seen), height)); err != nil {
				return 0, err
			}
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

// screen is what a terminal shows: a run, or the list of several.
func (w *watcher) screen(runs []*follow.Run, seen map[*follow.Run]*watched) []byte {
	if len(runs) == 1 || w.full {
		var all [][]byte
		for _, run := range runs {
			seen[run].sum.Document.Fit()
			all = append(all, render.Text(seen[run].sum, w.style()))
		}
		return bytes.Join(all, []byte("\n"))
	}
	entries := make([]trainview.Entry, len(runs))
	for i, run := range runs {
		entries[i] = answer.Entry(run, seen[run].sum)
	}
	return render.ListText(trainview.NewList(w.asker.Now(), entries, 0), w.style())
}

func (w *watcher) watchedRuns() ([]*follow.Run, error) {
	if len(w.session.Runs()) == 0 && len(w.session.Missing) > 0 {
		return nil, nil
	}
	return w.runs()
}

// step looks at a run, and says whether what is watched for changed.
func (w *watcher) step(run *follow.Run, one *watched) bool {
	one.sum = w.ask(run)
	d := one.sum.Document
	one.next = due(d, time.Now())
	one.ended = (condition.Ended(d) || condition.Lost(d)) && !d.Provisional
	if w.exitState {
		one.code = exitOf(d)
	}
	before := one.last
	one.last = w.mark(d)
	return one.last != before
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
