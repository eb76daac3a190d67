// Package render writes documents for people: as text for a terminal, as markdown for a comment, as a page of its own.
package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Style says how text is written.
type Style struct {
	Colour bool
	Width  int
}

// cells is the width of a sparkline.
const cells = 24

const bars = "▁▂▃▄▅▆▇█"

// sparkline draws values in cells of equal count by median; what is not finite is a ×, and no value a blank.
func sparkline(values []float64) string {
	groups := make([][]float64, min(len(values), cells))
	low, high := math.Inf(1), math.Inf(-1)
	for i := range groups {
		part := slices.Clone(values[i*len(values)/len(groups) : (i+1)*len(values)/len(groups)])
		part = slices.DeleteFunc(part, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		slices.Sort(part)
		groups[i] = part
		if len(part) > 0 {
			m := part[len(part)/2]
			low, high = min(low, m), max(high, m)
		}
	}
	var b strings.Builder
	levels := []rune(bars)
	for _, g := range groups {
		if len(g) == 0 {
			b.WriteRune('×')
			continue
		}
		level := 0
		if high > low {
			level = int((g[len(g)/2]/2 - low/2) / (high/2 - low/2) * float64(len(levels)-1))
		}
		b.WriteRune(levels[min(max(level, 0), len(levels)-1)])
	}
	return b.String()
}

func points(sum *trainview.Summary, m *trainview.Metric) []float64 {
	s := sum.Curve(m)
	if s == nil {
		return nil
	}
	out := make([]float64, len(s.Points))
	for i, p := range s.Points {
		out[i] = p.V
	}
	return out
}

// quoted shows a trainer's text as such: a text of the document is safe already, so that no cursor moves.
func quoted(s *string) string {
	if s == nil {
		return "?"
	}
	return quote(*s)
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// ofPart shows a name with the part of the run in front that it is of; show writes a name of a trainer.
func ofPart(part, name string, show func(string) string) string {
	if part == "" {
		return show(name)
	}
	return show(part) + " " + show(name)
}

func integer(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

func bestAt(m *trainview.Metric) string {
	if m.BestAt == nil {
		return "?"
	}
	return m.Axis + " " + integer(m.BestAt)
}

func value(n *trainview.Number) string {
	if n == nil {
		return "?"
	}
	return n.String()
}

func span(seconds int64) string { return (time.Duration(min(seconds, 1<<32)) * time.Second).String() }

func text(s *string) string {
	if s == nil {
		return "?"
	}
	return *s
}

// stateLine says the state and what it rests on.
func stateLine(d *trainview.Document) string {
	var b strings.Builder
	b.WriteString(d.State)
	switch {
	case d.Alive == nil:
		b.WriteString(", alive or not is not known")
	case *d.Alive:
		b.WriteString(", alive")
	default:
		b.WriteString(", not alive")
	}
	if d.Provisional {
		b.WriteString(" (provisional)")
	}
	if e := d.Evidence; e.SilentS != nil {
		fmt.Fprintf(&b, ", silent %s", span(*e.SilentS))
		if e.StallAfterS != nil {
			fmt.Fprintf(&b, " of %s (%s)", span(int64(*e.StallAfterS)), *e.StallBasis)
		}
	}
	if p := d.Evidence.Process; p != trainview.ProcessNotChecked {
		b.WriteString(", process " + p)
	}
	if code := d.Why["state"]; code != "" {
		b.WriteString(", " + code)
	}
	return b.String()
}

// progressLine has a bar in front.
func progressLine(d *trainview.Document, show func(string) string) string {
	bar := ""
	if f := d.Progress.Fraction; f != nil {
		const width = 20
		full := int(math.Round(math.Min(math.Max(float64(*f), 0), 1) * width))
		bar = "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "] "
	}
	return bar + progressWords(d, show)
}

func progressWords(d *trainview.Document, show func(string) string) string {
	p := d.Progress
	var b strings.Builder
	switch {
	case p.EpochsCompleted != nil && p.EpochsPlanned != nil:
		fmt.Fprintf(&b, "%d of %d epochs", *p.EpochsCompleted, *p.EpochsPlanned)
	case p.EpochsCompleted != nil:
		fmt.Fprintf(&b, "%d epochs", *p.EpochsCompleted)
	case p.Step == nil:
		b.WriteString("no epoch, no step")
	}
	if p.Step != nil {
		fmt.Fprintf(&b, " step %d", *p.Step)
		if p.StepsPlanned != nil {
			fmt.Fprintf(&b, " of %d", *p.StepsPlanned)
		}
	}
	if p.EpochS != nil {
		fmt.Fprintf(&b, ", %s s an epoch", p.EpochS)
	}
	if p.EtaS != nil {
		fmt.Fprintf(&b, ", %s left by %s", span(*p.EtaS), *p.EtaMethod)
	}
	if p.Part != "" {
		b.WriteString(", of the part " + show(p.Part))
	}
	return strings.TrimSpace(b.String())
}

// shown are the metrics of a document, and in the room that they leave those of which nobody knows which way is better.
func shown(sum *trainview.Summary) []trainview.Metric {
	d := sum.Document
	return slices.Concat(d.Metrics, sum.Others(trainview.MaxMetrics-len(d.Metrics)))
}

// unshown says how many curves a list of metrics leaves out, "" for none.
func unshown(d *trainview.Document, list []trainview.Metric) string {
	if n := d.MetricsOmitted - (len(list) - len(d.Metrics)); n > 0 {
		return fmt.Sprintf("%d more; --metrics NAME shows one, --max-metrics N more of them", n)
	}
	return ""
}

// noBest says why the best is not known and what makes it known; show writes a name of a trainer.
func noBest(d *trainview.Document, show func(string) string) string {
	out := "not known: " + d.Why["best"]
	if code := d.Why["objective"]; code != "" && code != d.Why["best"] {
		out += ", " + code
	}
	if o := d.Objective; o != nil {
		out += ", " + show(o.Metric)
	}
	if d.Objective == nil && (len(d.Measured) > 0 || len(d.Metrics) > 0) {
		out += "; --objective NAME:min or NAME:max names one"
	}
	if len(d.Measured) > 0 {
		names := make([]string, len(d.Measured))
		for i, name := range d.Measured {
			names[i] = show(name)
		}
		out += "; measured: " + strings.Join(names, " ")
		if n := d.MeasuredOmitted; n > 0 {
			out += fmt.Sprintf(" and %d more", n)
		}
	}
	return out
}

func bestLine(d *trainview.Document) string {
	b := d.Best
	if b == nil {
		return noBest(d, quote)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s (%s)", ofPart(b.Part, b.Metric, quote), b.Value, b.Goal)
	if b.Epoch != nil {
		fmt.Fprintf(&s, " at epoch %d", *b.Epoch)
	}
	if b.Step != nil {
		fmt.Fprintf(&s, " at step %d", *b.Step)
	}
	return s.String() + ", " + checkpoint(d, quote)
}

// checkpoint tells of the file of the best, or why none is known; show writes a name of a trainer.
func checkpoint(d *trainview.Document, show func(string) string) string {
	c := d.Best.Checkpoint
	if c == nil {
		return d.Why["best.checkpoint"]
	}
	exists := "not looked at"
	if c.Exists != nil {
		exists = map[bool]string{true: "there", false: "missing"}[*c.Exists]
	}
	return show(c.Path) + " (" + exists + ")"
}

func stopLine(d *trainview.Document) string {
	s := d.Stop
	if s == nil {
		return ""
	}
	out := s.Reason + " (" + s.Evidence + ")"
	if s.At != nil {
		out += " at " + *s.At
	}
	if s.Reported != "" {
		out += ", reported " + quote(s.Reported)
	}
	if s.Error != nil {
		out += ", " + quoted(s.Error.Type) + " " + quoted(s.Error.Message)
	}
	return out
}
