package cli

import (
	"slices"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/render"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// render makes the text of one document.
func (w *watcher) render(_ *follow.Run, sum *trainview.Summary) ([]byte, error) {
	sum.Document.Fit()
	switch w.format {
	case formatText:
		return render.Text(sum, w.style()), nil
	case formatMarkdown:
		return render.Markdown(sum), nil
	case formatHTML:
		return render.HTML([]*trainview.Summary{sum}, 0), nil
	default:
		return trainview.Encode(sum.Document)
	}
}

func (w *watcher) style() render.Style {
	width, _, _ := w.out.size()
	return render.Style{Colour: w.out.colour, Width: width}
}

// writePage writes a page of the runs that need attention first, and counts those that it leaves out.
func (w *watcher) writePage(runs []*follow.Run, entries []trainview.Entry) error {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return trainview.CompareAttention(entries[a], entries[b]) })
	var all []*trainview.Summary
	for _, i := range order[:min(len(order), trainview.MaxListed)] {
		sum := w.ask(runs[i])
		sum.Document.Fit()
		all = append(all, sum)
	}
	return put(w.out.out, render.HTML(all, len(runs)-len(all)))
}

// writeAll writes every document.
func (w *watcher) writeAll(runs []*follow.Run) error {
	for i, run := range runs {
		if i > 0 && w.format != formatJSON {
			if err := put(w.out.out, []byte("\n")); err != nil {
				return err
			}
		}
		if err := w.write(run, w.ask(run)); err != nil {
			return err
		}
	}
	return nil
}

// writeList writes a list.
func (w *watcher) writeList(l *trainview.List) error {
	switch w.format {
	case formatText:
		return put(w.out.out, render.ListText(l, w.style()))
	case formatMarkdown:
		return put(w.out.out, render.ListMarkdown(l))
	default:
		return write(w.out.out, l)
	}
}
