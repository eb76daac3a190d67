package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun/trainplot"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

const (
	maxDrawn = 500 // points of a curve
	maxPast  = 8   // superseded parts of it, the newest
	maxTold  = 50  // rows of the table below it
)

// style needs nothing besides itself. The lines of a drawing differ by dashes too. A heading, which wraps, stands for the title of a drawing;
// a long number of its axis may stand out to the left of it, and words on a line have an edge of their own.
const style = `:root{color-scheme:light dark;--bg:#fff;--ink:#1f2328;--dim:#59636e;--edge:#d1d9e0;--soft:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--ink:#e6edf3;--dim:#9198a1;--edge:#3d444d;--soft:#151b23}}
*{box-sizing:border-box}body{margin:0 auto;padding:1rem;max-width:60rem;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem;overflow-wrap:anywhere}
.state{display:inline-block;padding:.1rem .6rem;border:2px solid var(--ink);border-radius:1rem;font-weight:600}
dl{display:grid;grid-template-columns:minmax(6rem,auto) 1fr;gap:.3rem 1rem}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
h3{font-size:1rem;margin:0;overflow-wrap:anywhere}figure{margin:2rem 0}svg{display:block;max-width:100%;height:auto;overflow:visible}
svg [class$="-t"]{display:none}svg text{paint-order:stroke;stroke:var(--bg);stroke-width:4px;stroke-linejoin:round}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}th,td{border:1px solid var(--edge);padding:.2rem .5rem;text-align:left}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}bdi,code{font-family:ui-monospace,monospace;font-size:.9em}
details{margin:.5rem 0}summary{cursor:pointer;padding:.4rem 0}pre{background:var(--soft);padding:.8rem;overflow-x:auto;font-size:.8rem}
progress{width:100%;max-width:24rem;height:1rem}
figcaption{color:var(--dim);font-size:.85rem}time{white-space:nowrap}
@media(max-width:36rem){figure svg text{font-size:18px!important}svg{margin-left:.75rem;max-width:calc(100% - .75rem)}
table{font-size:.75rem}th,td{padding:.2rem .3rem}td:first-child bdi{display:inline-block;min-width:6rem;overflow-wrap:anywhere}}
[class$="-s1"]{stroke-dasharray:7 4}[class$="-s2"]{stroke-dasharray:2 3}[class$="-s3"]{stroke-dasharray:9 3 2 3}`

// page is an HTML document in the making. Only text and raw write to it: text escapes.
type page struct{ bytes.Buffer }

func (p *page) raw(s string) { p.WriteString(s) }

func (p *page) text(s string) { p.WriteString(html.EscapeString(s)) }

// trainer shows a trainer's text as such: apart from the words around it in every direction of writing.
func (p *page) trainer(s *string) {
	if s == nil {
		p.raw("not known")
		return
	}
	p.raw(bdi(*s))
}

func bdi(s string) string { return `<bdi dir="auto">` + html.EscapeString(s) + "</bdi>" }

// HTML writes runs as one page that loads nothing and runs nothing. It says how many were left out.
func HTML(all []*trainview.Summary, omitted int) []byte {
	var p page
	p.raw(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>Training summary</title><style>` + style + `</style></head><body>
<main>
`)
	for i, sum := range all {
		p.run(sum, i)
	}
	if omitted > 0 {
		p.raw(fmt.Sprintf("<p>%d more runs are not on this page. Name fewer streams, or ask for a list.</p>\n", omitted))
	}
	p.raw("</main>\n</body></html>\n")
	return p.Bytes()
}

func (p *page) run(sum *trainview.Summary, number int) {
	d := sum.Document
	p.raw("<article>\n<h1>Run ")
	p.trainer(d.Run.ID)
	p.raw(`</h1>` + "\n" + `<p><span class="state">` + d.State + `</span> as of <time datetime="` + d.Now + `">` + d.Now + "</time></p>\n")
	p.facts(d)
	list := shown(sum)
	p.metrics(d, list)
	for i, chart := range charts(sum, list, number) {
		p.figure(d, chart, i)
	}
	p.warnings(d)
	p.raw("<details><summary>The document</summary><pre>")
	if b, err := trainview.Encode(d); err == nil {
		var indented bytes.Buffer
		if json.Indent(&indented, b, "", "  ") == nil {
			p.text(indented.String())
		}
	}
	p.raw("</pre></details>\n</article>\n")
}

func (p *page) fact(name string, tell func()) {
	p.raw("<dt>" + name + "</dt><dd>")
	tell()
	p.raw("</dd>\n")
}

func (p *page) facts(d *trainview.Document) {
	p.raw("<dl>\n")
	alive := "not known"
	if d.Alive != nil {
		alive = map[bool]string{true: "yes", false: "no"}[*d.Alive]
	}
	p.fact("Alive", func() { p.text(alive) })
	p.fact("State", func() { p.text(stateLine(d)) })
	p.fact("Framework", func() { p.trainer(d.Run.Framework) })
	p.fact("Attempt", func() { p.text(strconv.FormatInt(d.Run.Attempt, 10)) })
	p.fact("Progress", func() {
		if f := d.Progress.Fraction; f != nil {
			p.raw(fmt.Sprintf(`<progress max="1" value="%s" aria-label="progress"></progress><br>`, min(max(*f, 0), 1)))
		}
		p.raw(progressWords(d, bdi)) // numbers, and a name in bdi
	})
	p.fact("Best", func() { p.best(d) })
	if d.Stop != nil {
		p.fact("Stopped", func() { p.stop(d.Stop) })
	}
	p.raw("</dl>\n")
}

func (p *page) best(d *trainview.Document) {
	b := d.Best
	if b == nil {
		p.raw(noBest(d, bdi)) // codes, and names in bdi
		return
	}
	p.raw(ofPart(b.Part, b.Metric, bdi))
	p.text(" " + b.Value.String() + " (" + b.Goal + ")")
	if b.Epoch != nil {
		p.text(" at epoch " + integer(b.Epoch))
	}
	if b.Step != nil {
		p.text(" at step " + integer(b.Step))
	}
	p.raw(", " + checkpoint(d, bdi))
}

func (p *page) stop(s *trainview.Stop) {
	p.text(s.Reason + " (" + s.Evidence + ")")
	if s.At != nil {
		p.text(" at " + *s.At)
	}
	if s.Reported != "" {
		p.raw(", reported ")
		p.trainer(&s.Reported)
	}
	if s.Error != nil {
		p.raw("<br>")
		p.trainer(s.Error.Type)
		p.raw(": ")
		p.trainer(s.Error.Message)
	}
}

func (p *page) metrics(d *trainview.Document, list []trainview.Metric) {
	if len(list) == 0 {
		return
	}
	p.raw("<h2>Metrics</h2>\n<div class=\"wide\"><table><thead><tr><th>Metric</th><th>Trend</th><th>Last</th><th>Best</th><th>At</th></tr></thead><tbody>\n")
	for i := range list {
		m := &list[i]
		p.raw("<tr><td>")
		p.raw(ofPart(m.Part, m.Name, bdi))
		p.raw("</td><td>" + m.Trend + `</td><td class="n">` + value(m.Last) + `</td><td class="n">` + value(m.Best) + `</td><td class="n">` + bestAt(m) + "</td></tr>\n")
	}
	p.raw("</tbody></table></div>\n")
	if more := unshown(d, list); more != "" {
		p.raw("<p>" + more + "</p>\n")
	}
}

func (p *page) warnings(d *trainview.Document) {
	if len(d.Warnings) == 0 {
		return
	}
	p.raw("<h2>Warnings</h2>\n<ul>\n")
	for i := range d.Warnings {
		w := d.Warnings[i]
		name, part := w.Metric, w.Part
		w.Metric = ""
		p.raw("<li>")
		p.text(w.Code + " ")
		if name != "" {
			p.raw(ofPart(part, name, bdi))
		}
		p.text(strings.TrimPrefix(warningText(&w), w.Code))
		p.raw("</li>\n")
	}
	p.raw("</ul>\n")
}

// figure draws curves and tells the same in a table.
func (p *page) figure(d *trainview.Document, c trainplot.Chart, _ int) {
	p.raw("<figure><h3>")
	p.trainer(&c.Title)
	p.raw("</h3>")
	p.raw(trainplot.SVG(c)) // escapes what is not of its own
	p.raw("<figcaption>" + caption(d, &c) + "</figcaption>\n<details><summary>Values</summary><div class=\"wide\"><table><thead><tr><th>")
	p.text(c.XLabel)
	p.raw("</th>")
	for _, l := range columns(&c) {
		p.raw("<th>")
		p.trainer(&l.Name)
		p.raw("</th>")
	}
	p.raw("</tr></thead><tbody>\n")
	for _, row := range rows(&c) {
		p.raw("<tr>")
		for _, cell := range row {
			p.raw(`<td class="n">` + cell + "</td>")
		}
		p.raw("</tr>\n")
	}
	p.raw("</tbody></table></div></details></figure>\n")
}

// caption says what the drawing marks.
func caption(d *trainview.Document, c *trainplot.Chart) string {
	var out []string
	if n := len(c.Series); n > 1 {
		out = append(out, "Lines in their order: "+strings.Join([]string{"solid", "dashed", "dotted", "dashed and dotted"}[:min(n, 4)], ", ")+".")
	}
	if slices.ContainsFunc(c.Marks, func(m trainplot.Mark) bool { return !strings.HasPrefix(m.Label, attemptWord) }) {
		out = append(out, "A dot marks the best of a line.")
	}
	if slices.ContainsFunc(columns(c), func(s trainplot.Series) bool {
		return slices.ContainsFunc(s.Points, func(p trainplot.Point) bool { return math.IsNaN(p.Y) || math.IsInf(p.Y, 0) })
	}) {
		out = append(out, "A cross below marks a value that is not finite.")
	}
	if d.Run.Attempt > 1 {
		out = append(out, fmt.Sprintf("The curve is that of the model that exists after %d attempts.", d.Run.Attempt))
	}
	if len(c.Past) > 0 {
		out = append(out, "What a later attempt took over is thin and dotted.")
	}
	return strings.Join(out, " ")
}

// columns are the lines of a chart, those first that count.
func columns(c *trainplot.Chart) []trainplot.Series {
	out := slices.Clone(c.Series)
	for _, p := range c.Past {
		out = append(out, trainplot.Series{Name: p.Name, Points: p.Points})
	}
	return out
}

// rows are the values of a chart by x, thinned alike.
func rows(c *trainplot.Chart) [][]string {
	at := map[float64][]string{}
	var order []float64
	lines := columns(c)
	for i, s := range lines {
		for _, pt := range thin(s.Points, maxTold) {
			if at[pt.X] == nil {
				at[pt.X] = make([]string, len(lines)+1)
				at[pt.X][0] = trainview.Number(pt.X).String()
				order = append(order, pt.X)
			}
			at[pt.X][i+1] = trainview.Number(pt.Y).String()
		}
	}
	sortFloats(order)
	out := make([][]string, 0, len(order))
	for _, x := range order {
		out = append(out, at[x])
	}
	return out
}
