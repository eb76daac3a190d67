package render

import (
	"fmt"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// maxLines is the height of a run as text.
const maxLines = 12

// colours of states, as SGR numbers.
var colours = map[string]string{
	trainview.Running: "32", trainview.Finished: "32", trainview.Starting: "36", trainview.Stalled: "33", trainview.Unknown: "33",
	trainview.Failed: "31", trainview.Aborted: "31",
}

func (s Style) paint(state, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[1;" + colours[state] + "m" + text + "\x1b[0m"
}

// Text writes a run in at most 12 lines.
func Text(sum *trainview.Summary, s Style) []byte {
	d := sum.Document
	title := quoted(d.Run.ID) + " " + text(d.Run.Framework)
	if d.Run.Attempt > 1 {
		title += fmt.Sprintf(" attempt %d", d.Run.Attempt)
	}
	lines := []string{s.cut(title)}
	state := s.cut(stateLine(d))
	lines = append(lines, s.paint(d.State, state[:len(d.State)])+state[len(d.State):], s.cut(progressLine(d, quote)))
	tail := []string{s.cut("best: " + bestLine(d))}
	if stop := stopLine(d); stop != "" {
		tail = append(tail, s.cut("stop: "+stop))
	}
	tail = append(tail, warningLines(d, s)...)
	room := maxLines - len(lines) - len(tail)
	wide := 0
	list := shown(sum)
	list = list[:min(len(list), room)]
	for i := range list {
		wide = max(wide, across(ofPart(list[i].Part, list[i].Name, quote)))
	}
	if s.Width > 0 {
		wide = min(wide, max(s.Width/3, 8)) // a long name leaves room for what it is about
	}
	for i := range list {
		lines = append(lines, s.cut(metricLine(sum, &list[i], wide)))
	}
	return []byte(strings.Join(append(lines, tail...), "\n") + "\n")
}

func metricLine(sum *trainview.Summary, m *trainview.Metric, wide int) string {
	line := fmt.Sprintf("%s %-*s %s %s", pad(Style{Width: wide}.cut(ofPart(m.Part, m.Name, quote)), wide), cells, sparkline(points(sum, m)), m.Trend, value(m.Last))
	if m.Best != nil {
		line += fmt.Sprintf(" best %s at %s %s", m.Best, m.Axis, integer(m.BestAt))
	}
	return line
}

func warningLines(d *trainview.Document, s Style) []string {
	const most = 3
	var lines []string
	for i := range d.Warnings {
		if i == most {
			break
		}
		lines = append(lines, s.cut("warning: "+warningText(&d.Warnings[i])))
	}
	if more := len(d.Warnings) + d.WarningsOmitted - len(lines); more > 0 && len(lines) > 0 {
		last := &lines[len(lines)-1]
		*last = s.cut(fmt.Sprintf("%s, and %d more", *last, more))
	}
	return lines
}

// ListText writes a list, one run a line.
func ListText(l *trainview.List, s Style) []byte {
	rows := [][]string{{"RUN", "STATE", "DONE", "METRIC", "LAST", "TREND", "BEST", "AT", "WARN"}}
	for i := range l.Runs {
		rows = append(rows, row(&l.Runs[i]))
	}
	wide := make([]int, len(rows[0]))
	for _, r := range rows {
		for k, c := range r {
			wide[k] = max(wide[k], across(c))
		}
	}
	var b strings.Builder
	for i, r := range rows {
		var line strings.Builder
		for k, c := range r {
			line.WriteString(pad(c, wide[k]+1))
		}
		text := strings.TrimRight(s.cut(strings.TrimRight(line.String(), " ")), " ")
		if i > 0 {
			state := l.Runs[i-1].State
			if at := strings.Index(text, " "+state+" "); at >= 0 {
				text = text[:at+1] + s.paint(state, state) + text[at+1+len(state):]
			}
		}
		b.WriteString(text + "\n")
	}
	if l.Omitted > 0 {
		fmt.Fprintf(&b, "and %d more\n", l.Omitted)
	}
	return []byte(b.String())
}

func row(r *trainview.Row) []string {
	name := quoted(r.ID)
	if r.Ref != "" {
		name = quote(r.Ref)
	}
	done := integer(r.Done)
	if r.Of != nil {
		done += "/" + integer(r.Of)
	}
	if r.Metric == nil {
		return []string{name, r.State, done, "-", "-", "-", "-", "-", fmt.Sprint(r.Warn)}
	}
	return []string{name, r.State, done, quote(*r.Metric), value(r.Last), text(r.Trend), value(r.Best), integer(r.BestAt), fmt.Sprint(r.Warn)}
}
