package resultfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun/trainplot"
)

const (
	maxDrawings   = 12
	maxDrawPoints = 400 // of a line: as many as a drawing can show
)

// drawing is a file of a report.
type drawing struct {
	name, title string
	members     []*metric
}

// listDrawings groups metrics that differ in their phase only, the objective's group first.
func listDrawings(list []*metric) []drawing {
	var out []drawing
	for _, m := range list {
		if m.series == nil || m.series.Count == 0 {
			continue
		}
		title := displayName(m.part, withoutPhase(m.plain))
		i := slices.IndexFunc(out, func(d drawing) bool {
			return d.title == title && d.members[0].series.Axis == m.series.Axis && len(d.members) < trainplot.MaxSeries
		})
		switch {
		case i >= 0:
			out[i].members = append(out[i].members, m)
		case len(out) < maxDrawings:
			out = append(out, drawing{ReportDir + "/" + m.path + ReportSuffix, title, []*metric{m}})
		}
	}
	return out
}

func withoutPhase(name string) string {
	for _, p := range []string{"train/", "val/", "test/"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" {
			return rest
		}
	}
	return name
}

func (d *drawing) svg() []byte {
	axis := d.members[0].series.Axis
	c := trainplot.Chart{Title: d.title, XLabel: axis.String()}
	if len(d.members) == 1 {
		c.Title = d.members[0].name
	}
	slices.SortFunc(d.members, func(a, b *metric) int { return strings.Compare(a.name, b.name) })
	for _, m := range d.members {
		s := trainplot.Series{Name: m.name}
		for _, p := range shownPoints(m) {
			s.Points = append(s.Points, trainplot.Point{X: float64(p.Step), Y: p.Value})
		}
		c.Series = append(c.Series, s)
		if m.best != nil {
			c.Marks = append(c.Marks, trainplot.Mark{X: float64(m.best.X), Y: m.best.Value, Label: "best"})
		}
	}
	return []byte(trainplot.SVG(c))
}

// shownPoints are those of a curve that a drawing has room for, with the places at which it was not finite.
func shownPoints(m *metric) []Point {
	points := seriesPoints(m)
	if len(points) > maxDrawPoints {
		points = decimate(points, maxDrawPoints, forcedIndexes(m, points)...)
	}
	holes := 0
	for _, p := range m.series.Points {
		if !isFinite(p.V) && holes < maxDrawPoints/4 {
			points = append(points, Point{p.X, p.V})
			holes++
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Step, b.Step) })
	return points
}

// reportFiles makes the page of a run and its drawings.
func reportFiles(r *result) []File {
	drawings := listDrawings(r.metrics)
	files := make([]File, 0, len(drawings)+1)
	for i := range drawings {
		files = append(files, File{drawings[i].name, drawings[i].svg()})
	}
	return append(files, File{ReportName, report(r, drawings)})
}
