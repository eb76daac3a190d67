package trainplot

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is a value at a place of the axis. One that is not finite breaks the line and is marked at the bottom.
type Point struct{ X, Y float64 }

// Series is a line.
type Series struct {
	Name   string
	Points []Point // by X
}

// Mark is a point with a word, such as the best epoch.
type Mark struct {
	X, Y  float64
	Label string
}

// Past is a line that does not count any more: thin and dotted, in the colour of the one that took its place.
type Past struct {
	Of     int // the place of that one in the chart
	Name   string
	Points []Point // by X
}

// Chart is a drawing of at most MaxSeries lines over one axis; further ones are left out.
type Chart struct {
	Title  string
	XLabel string
	Series []Series
	Past   []Past
	Marks  []Mark
	ID     string // begins the ids and classes, so that several drawings fit on one page; "" for one that stands alone
}

// MaxSeries is the number of lines that can be told apart.
const MaxSeries = 8

const (
	width, height = 640, 320
	left, right   = 64, 16
	top, bottom   = 40, 44
	maxText       = 80 // characters of a name
	maxID         = 16
)

// colours of the lines, by light and dark; each differs from its neighbours for colour-blind eyes too.
var colours = [MaxSeries][2]string{
	{"#0b62a4", "#6db3f2"}, {"#c4500c", "#ff9d5c"}, {"#1a7f37", "#57d77a"}, {"#8b3fa8", "#d59af0"},
	{"#a61e4d", "#ff8fb1"}, {"#5c5c00", "#d6d34a"}, {"#00707a", "#4fd6e0"}, {"#555555", "#c0c0c0"},
}

// SVG draws a chart.
func SVG(c Chart) string {
	series := c.Series[:min(len(c.Series), MaxSeries)]
	var b builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" width="640" height="320" role="img" aria-label="`)
	b.text(c.Title)
	b.WriteString(`" class="` + c.class("plot") + "\">\n")
	b.style(&c, len(series))
	b.WriteString(`<title>`)
	b.text(c.Title)
	b.WriteString("</title>\n<rect class=\"" + c.class("bg") + "\" width=\"640\" height=\"320\"/>\n")
	b.label(&c, width/2, 18, "middle", shorten(c.Title, maxTitle), "t")
	past := slices.DeleteFunc(slices.Clone(c.Past), func(p Past) bool { return p.Of < 0 || p.Of >= len(series) })
	f, ok := frameOf(series, past, c.Marks)
	if !ok {
		b.label(&c, width/2, height/2, "middle", "no values", "l")
		return b.end()
	}
	b.axes(&c, f)
	for _, p := range past {
		b.line(&c, f, p.Of, p.Points, "past")
	}
	for i := range series {
		b.line(&c, f, i, series[i].Points, "")
	}
	for _, m := range c.Marks {
		b.mark(&c, f, m)
	}
	b.legend(&c, series)
	return b.end()
}

// class gives a class name of the chart. The id is reduced to letters and digits.
func (c *Chart) class(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, c.ID)
	id = id[:min(len(id), maxID)]
	return "tp" + id + "-" + name
}

// frame maps values to the drawing.
type frame struct {
	x0, x1, y0, y1 float64
	xTicks, yTicks []float64
	left           float64 // where the axis begins
}

func frameOf(series []Series, past []Past, marks []Mark) (frame, bool) {
	f := frame{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1), nil, nil, left}
	seen := false
	lines := make([][]Point, 0, len(series)+len(past))
	for _, s := range series {
		lines = append(lines, s.Points)
	}
	for _, p := range past {
		lines = append(lines, p.Points)
	}
	for _, points := range lines {
		for _, p := range points {
			if !finite(p.X) {
				continue
			}
			f.x0, f.x1 = min(f.x0, p.X), max(f.x1, p.X)
			if finite(p.Y) {
				f.y0, f.y1 = min(f.y0, p.Y), max(f.y1, p.Y)
				seen = true
			}
		}
	}
	for _, m := range marks {
		if finite(m.X) && finite(m.Y) && seen {
			f.x0, f.x1, f.y0, f.y1 = min(f.x0, m.X), max(f.x1, m.X), min(f.y0, m.Y), max(f.y1, m.Y)
		}
	}
	if !seen {
		return f, false
	}
	f.x0, f.x1 = widen(f.x0, f.x1)
	f.y0, f.y1 = widen(f.y0, f.y1)
	f.yTicks = ticks(f.y0, f.y1, 5)
	f.left = max(left, float64(float64(widest(f.yTicks))*cell)+8)
	f.xTicks = apart(f.x0, f.x1, width-right-f.left)
	return f, true
}

// widen gives a range without extent one, inside what numbers there are.
func widen(a, b float64) (float64, float64) {
	if a != b {
		return a, b
	}
	d := math.Abs(a) / 10
	if d == 0 || a-d == a {
		d = max(0.5, math.Abs(a)/1e3)
	}
	return max(a-d, -math.MaxFloat64), min(b+d, math.MaxFloat64)
}

func (f *frame) x(v float64) float64 {
	return f.left + float64((width-f.left-right)*share(v, f.x0, f.x1))
}

func (f *frame) y(v float64) float64 {
	return height - bottom - float64((height-top-bottom)*share(v, f.y0, f.y1))
}

// share is the place of a value in a range, also in one that is wider than the greatest number.
func share(v, a, b float64) float64 {
	if d := b - a; finite(d) {
		return float64(v-a) / d
	}
	return float64(v/2-a/2) / float64(b/2-a/2)
}

// ticks are round values in a range, n at most.
func ticks(a, b float64, n int) []float64 {
	span := b/float64(n) - a/float64(n)
	step := math.Pow(10, math.Floor(math.Log10(span)))
	for _, m := range []float64{1, 2, 5, 10, 20} { // 20 for a logarithm that is a bit too small
		if float64(step*m) >= span {
			step = float64(step * m)
			break
		}
	}
	if !finite(step) || step <= 0 {
		return nil
	}
	var out []float64
	for i := math.Ceil(a / step); len(out) <= n && float64(i*step) <= b; i++ {
		out = append(out, float64(i*step))
		if i+1 == i { // beyond what a number can tell apart
			break
		}
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number writes a label of a tick: few digits, and no noise of binary fractions.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// coordinate writes a place in the drawing.
func coordinate(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if s == "-0.0" {
		return "0.0"
	}
	return s
}
