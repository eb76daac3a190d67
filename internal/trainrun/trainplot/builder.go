package trainplot

import (
	"fmt"
	"strings"
	"unicode"
)

// builder writes a drawing. Everything that is not of this package goes through text.
type builder struct{ strings.Builder }

func (b *builder) end() string {
	b.WriteString("</svg>\n")
	return b.String()
}

// text writes a name as character data: no markup, no control characters, no endless line.
func (b *builder) text(s string) {
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n++; n > maxText {
			b.WriteString("…")
			return
		}
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\'':
			b.WriteString("&#39;")
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), r >= 0xfffe && r <= 0xffff:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
}

func (b *builder) style(c *Chart, lines int) {
	rule := func(dark int, bg, ink, grid string) {
		fmt.Fprintf(b, ".%s{fill:%s}.%s,.%s{fill:%s}.%s{stroke:%s}", c.class("bg"), bg, c.class("t"), c.class("l"), ink, c.class("g"), grid)
		for i := range lines {
			fmt.Fprintf(b, ".%[1]s{stroke:%[2]s}.%[3]s{fill:%[2]s}", c.class(fmt.Sprint("s", i)), colours[i][dark], c.class(fmt.Sprint("f", i)))
		}
	}
	fmt.Fprintf(b, "<style>.%s text{font-family:system-ui,sans-serif}.%s{font-size:15px;font-weight:600}.%s{font-size:12px}.%s{fill:none;stroke-width:2}",
		c.class("plot"), c.class("t"), c.class("l"), c.class("line"))
	if len(c.Past) > 0 {
		fmt.Fprintf(b, ".%s{stroke-width:1.2;stroke-dasharray:1.5 3}", c.class("past"))
	}
	rule(0, "#ffffff", "#1f2328", "#d1d9e0")
	b.WriteString("@media(prefers-color-scheme:dark){")
	rule(1, "#0d1117", "#e6edf3", "#3d444d")
	b.WriteString("}</style>\n")
}

func (b *builder) label(c *Chart, x, y float64, anchor, text, class string) {
	fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" text-anchor="%s">`, c.class(class), coordinate(x), coordinate(y), anchor)
	b.text(text)
	b.WriteString("</text>\n")
}

func (b *builder) axes(c *Chart, f frame) {
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(b, "<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>\n", c.class("g"), coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2))
	}
	for _, v := range f.yTicks {
		line(f.left, f.y(v), width-right, f.y(v))
		b.label(c, f.left-6, f.y(v)+4, "end", number(v), "l")
	}
	for _, v := range f.xTicks {
		line(f.x(v), height-bottom, f.x(v), height-bottom+4)
		text := number(v)
		end := width - float64(float64(len(text))*cell/2) // a label at the end of the axis stays inside
		b.label(c, min(f.x(v), end), height-bottom+18, "middle", text, "l")
	}
	line(f.left, height-bottom, width-right, height-bottom)
	b.label(c, width-right, height-8, "end", c.XLabel, "l")
}

// line draws the line of a series, or one of its past; a point with no neighbour is a dot, one that is not finite a cross at the
// bottom.
func (b *builder) line(c *Chart, f frame, i int, points []Point, kind string) {
	var path, dots, crosses strings.Builder
	run := 0
	for j, p := range points {
		if !finite(p.X) {
			continue
		}
		x := coordinate(f.x(p.X))
		if !finite(p.Y) {
			run = 0
			fmt.Fprintf(&crosses, "M%[1]s %[2]dm-3 -3l6 6m0 -6l-6 6", x, height-bottom-6)
			continue
		}
		y := coordinate(f.y(p.Y))
		if run++; run == 1 {
			path.WriteString("M" + x + " " + y)
			if j+1 == len(points) || !finite(points[j+1].Y) {
				fmt.Fprintf(&dots, "<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"3\"/>\n", c.class(fmt.Sprint("f", i)), x, y)
			}
			continue
		}
		path.WriteString("L" + x + " " + y)
	}
	class := c.class("line") + " " + c.class(fmt.Sprint("s", i))
	if kind != "" {
		class += " " + c.class(kind)
	}
	for _, d := range []string{path.String(), crosses.String()} {
		if d != "" {
			fmt.Fprintf(b, "<path class=\"%s\" d=\"%s\"/>\n", class, d)
		}
	}
	b.WriteString(dots.String())
}

func (b *builder) mark(c *Chart, f frame, m Mark) {
	if !finite(m.X) || !finite(m.Y) {
		return
	}
	x, y := f.x(m.X), f.y(m.Y)
	fmt.Fprintf(b, "<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"4\"/>\n", c.class("l"), coordinate(x), coordinate(y))
	anchor, dx := "start", 7.0
	if x > width/2 {
		anchor, dx = "end", -7
	}
	dy := -7.0
	if y < top+20 {
		dy = 16
	}
	b.label(c, x+dx, y+dy, anchor, m.Label, "l")
}

// legend names the lines, when there are several, in one row below the axis that each share alike. Up to three have room for large letters.
func (b *builder) legend(c *Chart, series []Series) {
	if len(series) < 2 {
		return
	}
	const y = height - 8
	letter := largeCell
	if len(series) > 3 {
		letter = cell
	}
	share := float64(width-left-right-80) / float64(len(series))
	for i, s := range series {
		x := left + float64(share*float64(i))
		fmt.Fprintf(b, "<rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"12\" height=\"4\"/>\n", c.class(fmt.Sprint("f", i)), coordinate(x), y-6)
		b.label(c, x+16, y, "start", shorten(s.Name, int(float64(share-20)/letter)), "l")
	}
}
