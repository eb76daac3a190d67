package render

import (
	"fmt"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// warningText names a warning with its numbers.
func warningText(w *trainview.Warning) string {
	out := w.Code
	if w.Metric != "" {
		out += " " + ofPart(w.Part, w.Metric, quote)
	}
	if w.What != "" {
		out += " " + w.What
	}
	for name, n := range fields(w) {
		out += fmt.Sprintf(" %s=%d", name, n)
	}
	if w.Gap != nil {
		out += " gap=" + w.Gap.String()
	}
	if w.Recovered != nil {
		out += fmt.Sprintf(" recovered=%t", *w.Recovered)
	}
	if w.First != "" {
		out += " first=" + quote(w.First)
	}
	return out
}

func fields(w *trainview.Warning) func(yield func(string, int64) bool) {
	return func(yield func(string, int64) bool) {
		for _, f := range []struct {
			name string
			n    *int64
		}{
			{"n", w.N}, {"last_at", w.LastAt}, {"since_best", w.SinceBest}, {"since_improvement", w.SinceImprovement}, {"since", w.Since},
			{"bytes", w.Bytes}, {"seconds", w.Seconds}, {"reported_epoch", w.ReportedEpoch},
		} {
			if f.n != nil && !yield(f.name, *f.n) {
				return
			}
		}
	}
}
