package cli

import (
	"context"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/condition"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// watcher looks at the streams again and again.
type watcher struct {
	*request
	session *follow.Session
	out     streams
	started time.Time
	grown   map[*follow.Run]time.Time // growth that was seen, by the wall clock of the moment
	looked  int
}

// look reads what came since and notes which runs grew. At the first look nothing is growth: it may be old.
func (w *watcher) look() {
	first := w.looked == 0
	w.looked++
	w.session.Look()
	for _, run := range w.session.Runs() {
		if run.Changed && !first {
			w.grown[run] = time.Now()
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// observe watches for growth before an answer.
func (w *watcher) observe(ctx context.Context) error {
	if w.flags.observe <= 0 {
		return nil
	}
	for _, run := range w.session.Runs() {
		run.Changed = false
	}
	w.looked = 1
	for end := w.started.Add(w.flags.observe); time.Now().Before(end) && len(w.grown) == 0; {
		if err := pause(ctx, min(time.Until(end), pollEvery/4)); err != nil {
			return err
		}
		w.look()
	}
	return nil
}

// due says when a document that does not change by records must be made anew: its state may change with time.
func due(d *trainview.Document, made time.Time) time.Time {
	next := made.Add(time.Minute)
	e := d.Evidence
	if e.SilentS != nil && e.StallAfterS != nil {
		left := float64(*e.StallAfterS) - float64(*e.SilentS)
		if left >= 0 && left < time.Minute.Seconds() {
			next = made.Add(time.Duration((left + 0.2) * float64(time.Second)))
		}
	}
	if e.Process == trainview.ProcessAlive || d.Provisional {
		next = made.Add(2 * pollEvery)
	}
	return next
}

// wait blocks until a condition holds, the run ends or is lost, or the time is up.
func (w *watcher) wait(ctx context.Context) (int, error) {
	var start *condition.Start
	var sum *trainview.Summary
	var run *follow.Run
	var next time.Time
	end := w.started.Add(w.timeout)
	for {
		w.look()
		one, err := w.only()
		if err != nil {
			return 0, err
		}
		if one == nil {
			start = &condition.Start{} // what a stream that comes later says, it did not say at the start
		}
		if one != nil && (one != run || one.Changed || !time.Now().Before(next)) {
			run, sum = one, w.ask(one)
			next = due(sum.Document, time.Now())
			if start == nil {
				first := condition.Of(sum.Document)
				start = &first
			}
			if code, over := w.over(sum.Document, *start); over {
				return w.finish(run, sum, code)
			}
		}
		left := time.Until(end)
		if left <= 0 {
			if sum == nil {
				return 0, w.nothing()
			}
			sum = w.ask(run)
			w.met(sum.Document, "", false)
			return w.finish(run, sum, exitTimeout)
		}
		if err := pause(ctx, min(left, pollEvery)); err != nil {
			return 0, err
		}
	}
}

// only gives the run that is waited for, nil while it is not there.
func (w *watcher) only() (*follow.Run, error) {
	var found []*follow.Run
	for _, r := range w.session.Runs() {
		if w.run == "" || r.Is(w.run) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, usage("name one stream, or a run with --run", "--wait-for waits for one run, here are %d", len(found))
	case len(w.session.Runs()) == 0 && len(w.session.Missing) == 0 && w.looked == 1:
		for _, st := range w.session.Streams() {
			if st.Err != nil {
				return nil, w.broken()
			}
		}
		for range w.session.Errors {
			return nil, w.broken()
		}
	}
	return nil, nil
}

func (w *watcher) met(d *trainview.Document, text string, met bool) {
	d.Wait = &trainview.Wait{Met: met, WaitedS: int64(time.Since(w.started) / time.Second)}
	if text != "" {
		d.Wait.Condition = &text
	}
}

// tellUnseen tells of roots of checkpoints that are not there while it waits: the exit code says how the wait ended.
func (w *watcher) tellUnseen() {
	for _, fault := range unseen(w.asker.ArtifactRoots) {
		report(w.out.err, fault, w.format == formatJSON)
	}
}

// over says whether the wait ends, and with which code.
func (w *watcher) over(d *trainview.Document, start condition.Start) (code int, over bool) {
	for i := range w.conditions {
		c := &w.conditions[i]
		if !c.Met(d, start) {
			continue
		}
		w.met(d, c.Text, true)
		if w.exitState {
			return exitOf(d), true
		}
		return exitOK, true
	}
	w.met(d, "", false)
	switch {
	case d.State == trainview.Finished:
		return exitTooSoon, true
	case condition.Ended(d), condition.Lost(d), d.State == trainview.Stalled && !w.throughStall:
		return exitOf(d), true
	default:
		d.Wait = nil
		return exitOK, false
	}
}

func (w *watcher) finish(run *follow.Run, sum *trainview.Summary, code int) (int, error) {
	w.tellUnseen()
	return code, w.write(run, sum)
}
