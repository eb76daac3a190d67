package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainrun/trainplot"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// charts draws metrics; those of training and validation that have one name share a drawing, as far as they
// share an axis.
func charts(sum *trainview.Summary, list []trainview.Metric, number int) []trainplot.Chart {
	var out []trainplot.Chart
	done := make([]bool, len(list))
	for i := range list {
		m := &list[i]
		if done[i] {
			continue
		}
		c := trainplot.Chart{Title: title(m), XLabel: m.Axis, ID: fmt.Sprintf("r%dc%d", number, len(out))}
		for k := i; k < len(list); k++ {
			o := &list[k]
			if k != i && (o.Axis != m.Axis || o.Part != m.Part || plainName(o.Name) != plainName(m.Name)) {
				continue
			}
			done[k] = true
			addSeries(&c, sum, o)
		}
		markAttempts(&c, sum)
		out = append(out, c)
	}
	return out
}

func title(m *trainview.Metric) string {
	if m.Part != "" {
		return m.Part + " " + m.Name
	}
	return m.Name
}

// plainName is the name without its phase.
func plainName(name string) string {
	for _, p := range []string{"train/", "val/"} {
		name = strings.TrimPrefix(name, p)
	}
	return name
}

func addSeries(c *trainplot.Chart, sum *trainview.Summary, m *trainview.Metric) {
	s := sum.Curve(m)
	if s == nil {
		return
	}
	all := sum.Superseded(s)
	for _, past := range all[max(len(all)-maxPast, 0):] {
		name := fmt.Sprintf("%s, superseded of attempt %d", m.Name, past.Attempt)
		c.Past = append(c.Past, trainplot.Past{Of: len(c.Series), Name: name, Points: drawn(past.Points)})
	}
	c.Series = append(c.Series, trainplot.Series{Name: m.Name, Points: drawn(s.Points)})
	if m.Best != nil && m.BestAt != nil {
		mark := trainplot.Mark{X: float64(*m.BestAt), Y: float64(*m.Best)}
		if len(c.Marks) == 0 { // lines of one name end side by side: their words would cover each other
			mark.Label = "best " + m.Best.String()
		}
		c.Marks = append(c.Marks, mark)
	}
}

func drawn(points []trainrun.Point) (out []trainplot.Point) {
	for _, p := range trainview.Sample(points, maxDrawn) {
		out = append(out, trainplot.Point{X: float64(p.X), Y: p.V})
	}
	return out
}

// attemptWord begins what stands at the beginning of a later attempt.
const attemptWord = "attempt "

// markAttempts marks where later attempts began on the first line.
func markAttempts(c *trainplot.Chart, sum *trainview.Summary) {
	if len(c.Series) == 0 {
		return
	}
	for _, a := range sum.State.Attempts[min(1, len(sum.State.Attempts)):] {
		from := a.FirstEpoch
		if c.XLabel == trainrun.AxisStep.String() {
			from = a.FirstStep
		}
		if from == nil {
			continue
		}
		points := c.Series[0].Points
		i := slices.IndexFunc(points, func(p trainplot.Point) bool { return p.X >= float64(*from) })
		if i >= 0 {
			c.Marks = append(c.Marks, trainplot.Mark{X: points[i].X, Y: points[i].Y, Label: fmt.Sprint(attemptWord, a.Number)})
		}
	}
}

// thin gives about n points in equal distances, the last one always.
func thin(points []trainplot.Point, n int) []trainplot.Point {
	if len(points) <= n {
		return points
	}
	out := make([]trainplot.Point, 0, n)
	for i := range n - 1 {
		out = append(out, points[i*len(points)/(n-1)])
	}
	return append(out, points[len(points)-1])
}

func sortFloats(list []float64) { slices.Sort(list) }
