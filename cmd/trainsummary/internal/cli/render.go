package cli

import (
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
		return render.HTML([]*trainview.Summary{sum}), nil
	default:
		return trainview.Encode(sum.Document)
	}
}

func (w *watcher) style() render.Style {
	width, _, _ := w.out.size()
	return render.Style{Colour: w.out.colour, Width: width}
}

// writeAll writes every document.
func (w *watcher) writeAll(runs []*follow.Run) error {
	if w.format == formatHTML {
		var all []*trainview.Summary
		for _, run := range runs[:min(len(runs), trainview.MaxListed)] {
			sum := w.ask(run)
			sum.Document.Fit()
			all = append(all, sum)
		}
		return put(w.out.out, render.HTML(all))
	}
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
