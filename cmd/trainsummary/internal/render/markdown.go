package render

import (
	"fmt"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// code writes a text of a trainer as a span of code in a cell of a table: no markup, link, mention or cell comes of it.
func code(s string) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "@", "&#64;", "#", "&#35;", "\\", "&#92;",
		"*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "!", "&#33;", "~", "&#126;", ":", "&#58;", "/", "&#47;", "$", "&#36;").Replace(s)
	return "<code>" + s + "</code>"
}

func codeOf(s *string) string {
	if s == nil {
		return "?"
	}
	return code(*s)
}

// Markdown writes a run as tables, for a comment.
func Markdown(sum *trainview.Summary) []byte {
	d := sum.Document
	var b strings.Builder
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	row("run", codeOf(d.Run.ID))
	row("---", "---")
	row("state", stateLine(d))
	row("progress", progressLine(d, code))
	row("best", bestCell(d))
	if s := d.Stop; s != nil {
		row("stop", stopCell(s))
	}
	for i := range d.Warnings {
		row("warning", warningCell(&d.Warnings[i]))
	}
	if d.WarningsOmitted > 0 {
		row("warnings", fmt.Sprintf("%d more", d.WarningsOmitted))
	}
	if list := shown(sum); len(list) > 0 {
		b.WriteString("\n")
		row("metric", "goal", "trend", "last", "best", "at", "curve")
		row("---", "---", "---", "---", "---", "---", "---")
		for i := range list {
			m := &list[i]
			row(ofPart(m.Part, m.Name, code), text(m.Goal), m.Trend, value(m.Last), value(m.Best), bestAt(m), sparkline(points(sum, m)))
		}
		if more := unshown(d, list); more != "" {
			b.WriteString("\n" + more + "\n")
		}
	}
	fmt.Fprintf(&b, "\n%s at %s\n", trainview.SchemaDocument, d.Now)
	return []byte(b.String())
}

func bestCell(d *trainview.Document) string {
	if d.Best == nil {
		return noBest(d, code)
	}
	out := ofPart(d.Best.Part, d.Best.Metric, code) + " " + d.Best.Value.String() + " (" + d.Best.Goal + ")"
	if d.Best.Epoch != nil {
		out += " at epoch " + integer(d.Best.Epoch)
	}
	if d.Best.Step != nil {
		out += " at step " + integer(d.Best.Step)
	}
	return out + ", " + checkpoint(d, code)
}

func stopCell(s *trainview.Stop) string {
	out := s.Reason + " (" + s.Evidence + ")"
	if s.At != nil {
		out += " at " + *s.At
	}
	if s.Reported != "" {
		out += ", reported " + code(s.Reported)
	}
	if s.Error != nil {
		out += ", " + codeOf(s.Error.Type) + " " + codeOf(s.Error.Message)
	}
	return out
}

func warningCell(w *trainview.Warning) string {
	plain := *w
	plain.Metric, plain.First = "", ""
	out := warningText(&plain)
	if w.First != "" {
		out += " first=" + code(w.First)
	}
	if w.Metric != "" {
		out = w.Code + " " + ofPart(w.Part, w.Metric, code) + strings.TrimPrefix(out, w.Code)
	}
	return out
}

// ListMarkdown writes a list as a table.
func ListMarkdown(l *trainview.List) []byte {
	var b strings.Builder
	b.WriteString("| run | state | done | metric | last | trend | best | at | warnings |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range l.Runs {
		r := &l.Runs[i]
		name := codeOf(r.ID)
		if r.Ref != "" {
			name = code(r.Ref)
		}
		done := integer(r.Done)
		if r.Of != nil {
			done += "/" + integer(r.Of)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %d |\n",
			name, r.State, done, codeOf(r.Metric), value(r.Last), text(r.Trend), value(r.Best), integer(r.BestAt), r.Warn)
	}
	fmt.Fprintf(&b, "\n%s at %s, %d of %d runs\n", trainview.SchemaList, l.Now, len(l.Runs), l.Total)
	return []byte(b.String())
}
