package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// pollEvery is how often a waiting command looks.
const pollEvery = time.Second

// answer reads the streams and writes what was asked for.
func (r *request) answer(ctx context.Context, s streams, args []string) (int, error) {
	session, err := openSession(args, r.profiles)
	if err != nil {
		return 0, err
	}
	w := &watcher{request: r, session: session, out: s, started: time.Now(), grown: map[*follow.Run]time.Time{}}
	switch {
	case r.waitFor != "":
		return w.wait(ctx)
	case r.watch:
		return w.watch(ctx)
	}
	session.Find()
	session.Read()
	if err := w.observe(ctx); err != nil {
		return 0, err
	}
	return w.once()
}

// once answers one time.
func (w *watcher) once() (int, error) {
	runs, err := w.runs()
	if err != nil {
		return 0, err
	}
	code := w.unread()
	if len(runs) == 1 {
		sum := w.ask(runs[0])
		if w.exitState && code == exitOK {
			code = exitOf(sum.Document)
		}
		return code, w.write(runs[0], sum)
	}
	if w.full && w.format != formatHTML && !w.exitState {
		return code, w.writeAll(runs)
	}
	entries := w.entries(runs)
	if w.exitState && code == exitOK {
		for _, e := range entries {
			code = max(code, exitOf(e.Document))
		}
	}
	switch {
	case w.format == formatHTML:
		return code, w.writePage(runs, entries)
	case w.full:
		return code, w.writeAll(runs)
	}
	return code, w.writeList(trainview.NewList(w.asker.Now(), entries, 0))
}

func (w *watcher) entries(runs []*follow.Run) []trainview.Entry {
	entries := make([]trainview.Entry, len(runs))
	for i, run := range runs {
		entries[i] = answer.Entry(run, w.ask(run))
	}
	return entries
}

func (w *watcher) ask(run *follow.Run) *trainview.Summary {
	sum := w.asker.Ask(run, w.grown[run])
	run.Changed = false
	return sum
}

// runs gives those that were asked for.
func (w *watcher) runs() ([]*follow.Run, error) {
	if err := w.broken(); err != nil {
		return nil, err
	}
	runs := w.session.Runs()
	if w.run == "" {
		return runs, nil
	}
	var found []*follow.Run
	for _, r := range runs {
		if r.Is(w.run) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, unreadable("run without --run to see which there are", "no run has the id %q", w.run)
	}
	return found, nil
}

// broken is an error when nothing can be answered.
func (w *watcher) broken() error {
	if len(w.session.Runs()) > 0 {
		return nil
	}
	for _, st := range w.session.Streams() {
		if st.Err != nil {
			return unreadable(hint(st.Err), "%s: %s", st.Ref.Path, plainError(st.Err))
		}
	}
	for arg, err := range w.session.Errors {
		return unreadable("check the path", "%s: %s", arg, err)
	}
	for _, arg := range w.session.Missing {
		return unreadable("check the path, or wait for it with --wait-for", "%s: no such stream", arg)
	}
	return unreadable("name the folder that holds *.jsonl files, or the files; a link that leads out of the folder is not followed, name what it leads to", "no stream was found")
}

// nothing is the error of a wait in which no run came.
func (w *watcher) nothing() error {
	err := w.broken()
	if len(w.session.Missing) == 0 || len(w.session.Errors) > 0 || len(w.session.Streams()) > 0 {
		return err
	}
	return &fault{
		Message: fmt.Sprintf("%s: no such stream came within %s", w.session.Missing[0], w.timeout), Code: "timeout",
		Hint: "wait on while the run may still begin, else check the path", exit: exitTimeout,
	}
}

func hint(err error) string {
	switch {
	case errors.Is(err, source.ErrOutside):
		return "it is a link; name the file that it leads to"
	case errors.Is(err, source.ErrNotRegular):
		return "name a file that a trainer writes"
	default:
		return "check the path and who may read it"
	}
}

func plainError(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// unread tells what could not be read while other things were answered.
func (w *watcher) unread() int {
	var faults []error
	for _, st := range w.session.Streams() {
		if st.Err != nil {
			faults = append(faults, unreadable(hint(st.Err), "%s: %s", st.Ref.Path, plainError(st.Err)))
		}
		if err := st.Broken(); err != nil {
			faults = append(faults, unreadable("pack it anew", "%s: what is packed cannot be read to its end: %s", st.Ref.Path, err))
		}
	}
	for _, arg := range w.session.Missing {
		faults = append(faults, unreadable("check the path", "%s: no such stream", arg))
	}
	for arg, err := range w.session.Errors {
		faults = append(faults, unreadable("check the path", "%s: %s", arg, err))
	}
	faults = append(faults, unseen(w.asker.ArtifactRoots)...)
	if n := w.session.Omitted; n > 0 {
		faults = append(faults, unreadable("name fewer files", "%d older files were left out, at most %d are read", n, source.MaxFiles))
	}
	slices.SortStableFunc(faults, func(a, b error) int { return compareText(a.Error(), b.Error()) })
	for i, f := range faults {
		if i == 20 {
			f = unreadable("", "and %d more", len(faults)-i)
		}
		report(w.out.err, f, w.format == formatJSON)
		if i == 20 {
			break
		}
	}
	if len(faults) > 0 {
		return exitPartly
	}
	return exitOK
}

// unseen tells of the roots of checkpoints that cannot be looked into.
func unseen(roots []string) (faults []error) {
	for _, dir := range roots {
		if err := source.CanLookInto(dir); err != nil {
			faults = append(faults, unreadable("name the folder that paths of checkpoints begin at; what may lie in it is told as not known",
				"--artifact-root %s: %s", dir, plainError(err)))
		}
	}
	return faults
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// write writes one document.
func (w *watcher) write(run *follow.Run, sum *trainview.Summary) error {
	b, err := w.render(run, sum)
	if err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return put(w.out.out, b)
}
