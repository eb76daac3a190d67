package render

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// hostile is a text that wants to be more than a text.
const hostile = "</script></style></pre><img src=x onerror=alert(1)>\x1b[2J\x1b]0;t\a\u202e|`code`| [a](http://x) @you &amp; <b> \n# h"

func summary(t *testing.T, text string, n int) *trainview.Summary {
	t.Helper()
	quoted := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "\x1b", `\u001b`), "\a", `\u0007`), `"`, `\"`)
	lines := []string{fmt.Sprintf(`{"ts":1790000000,"event":"run.start","run_id":"r","body":{"planned_epochs":99,"objective":{"metric":"%s","mode":"min"}}}`, quoted)}
	for i := range n {
		v := fmt.Sprint(10 - i)
		if i == 3 {
			v = "NaN"
		}
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r","body":{"epoch":%d,"measurements":{"%s":%s,"val/loss":%s,"train/loss":1}}}`, 1790000000+i, i, quoted, v, v),
			fmt.Sprintf(`{"ts":%d,"event":"checkpoint.save","run_id":"r","body":{"epoch":%d,"path":"%s","kind":"best"}}`, 1790000000+i, i, quoted))
	}
	lines = append(lines, fmt.Sprintf(`{"ts":1790000100,"event":"run.failure","run_id":"r","body":{"error_type":"%s","message":"%s"}}`, quoted, quoted))
	return fed(t, lines...)
}

// fed is the summary of a stream.
func fed(t *testing.T, lines ...string) *trainview.Summary {
	t.Helper()
	fold, trail := trainrun.New("r"), trainview.NewTrail()
	d := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	for i, l := range lines {
		lr := plog.NewLogRecord()
		require.Equal(t, trainrecord.LineRecord, d.Decode([]byte(l), lr).Kind, l)
		rec, _ := trainrecord.FromLog(pcommon.NewResource(), lr)
		var e trainrun.Entry
		require.True(t, new(trainrun.Reducer).At(&e, &rec, trainrecord.UID{RunID: "r", Offset: int64(i)}))
		fold.Apply(e)
		trail.Add(&rec, &e, trainview.Origin{})
	}
	return trainview.Summarize(fold, trail, trainview.Evidence{Now: time.Unix(1790000130, 0), Files: []trainview.File{{Path: hostile}}}, trainview.Options{})
}

func TestTextIsShortAndMovesNoCursor(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 100} {
		out := string(Text(summary(t, hostile, 9), Style{Width: width}))
		assert.LessOrEqual(t, strings.Count(out, "\n"), maxLines)
		for line := range strings.Lines(out) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), width+1)
		}
		for _, r := range out {
			assert.True(t, r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r), "%q", r)
		}
	}
	coloured := string(Text(summary(t, "r", 9), Style{Colour: true, Width: 100}))
	assert.Equal(t, 2, strings.Count(coloured, "\x1b["))
}

func TestMarkdownHasNoMarkupOfATrainer(t *testing.T) {
	t.Parallel()
	out := string(Markdown(summary(t, hostile, 9)))
	for _, bad := range []string{"<img", "<b>", "</script>", "http://", "@you", "[a]", "`"} {
		assert.NotContains(t, out, bad)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "|") {
			assert.Contains(t, []int{3, 8}, strings.Count(line, "|"), line)
		}
	}
}

// TestThePageLoadsNothing reads it as XML, which it is as well.
func TestThePageLoadsNothing(t *testing.T) {
	t.Parallel()
	text := string(HTML([]*trainview.Summary{summary(t, hostile, 9), summary(t, "second", 2)}, 0))
	assert.Contains(t, text, `content="default-src 'none'; style-src 'unsafe-inline'"`)
	text = strings.NewReplacer("<!doctype html>", "", `<meta charset="utf-8">`, "", "initial-scale=1\">", "initial-scale=1\"/>", "'unsafe-inline'\">", "'unsafe-inline'\"/>",
		"no-referrer\">", "no-referrer\"/>", "<br>", "<br/>").Replace(text)
	d := xml.NewDecoder(strings.NewReader(text))
	seen := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			seen[e.Name.Local]++
			for _, a := range e.Attr {
				if a.Name.Local == "id" {
					seen["id "+a.Value]++
					assert.Equal(t, 1, seen["id "+a.Value], "an id names one thing: %s", a.Value)
				}
				assert.NotContains(t, []string{"src", "href", "srcset", "action", "data", "style"}, a.Name.Local)
				assert.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
			}
		}
	}
	for _, bad := range []string{"script", "img", "link", "iframe", "b", "object", "form", "a"} {
		assert.Zero(t, seen[bad], bad)
	}
	assert.NotContains(t, text, "url(")
	assert.NotContains(t, text, "@import")
	assert.Equal(t, [2]int{1, 2}, [2]int{seen["main"], seen["article"]}, "a page has one main part, and in it an article for each run")
	assert.GreaterOrEqual(t, seen["svg"], 3)
	assert.GreaterOrEqual(t, seen["table"], 5, "each drawing has its table")
}

// Curves of which nobody knows which way is better are shown, and how to name one as the objective is said.
func TestCurvesWithoutADirectionAreShown(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 9 {
		var m []string
		for k := range 8 {
			m = append(m, fmt.Sprintf(`"val/elbo%d":%d`, k, i*i))
		}
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r","body":{"epoch":%d,"learning_rate":{"pg0":1},"measurements":{"train/loss":%d,%s}}}`, 1790000000+i, i, 9-i, strings.Join(m, ",")))
	}
	sum := fed(t, lines...)
	assert.Len(t, sum.Document.Metrics, 1, "the document shows them only when they are asked for")
	for name, c := range map[string]struct{ out, metric, measured string }{
		"text":     {string(Text(sum, Style{Width: 400})), `"val/elbo0"  ▁▁▁▁▂▃▄▆█                rising 64`, `measured: "train/loss" "val/elbo0"`},
		"markdown": {string(Markdown(sum)), "| " + code("val/elbo0") + " | ? | rising | 64 | ? | ? |", "measured: " + code("train/loss")},
		"page":     {string(HTML([]*trainview.Summary{sum}, 0)), `<bdi dir="auto">val/elbo0</bdi></td><td>rising</td>`, `measured: <bdi dir="auto">train/loss</bdi> <bdi`},
	} {
		for _, want := range []string{c.metric, "elbo4", "not known: no_objective, no_known_goal; --objective NAME:min or NAME:max names one; " + c.measured} {
			assert.Contains(t, c.out, want, name)
		}
		if name != "text" {
			assert.Contains(t, c.out, "3 more; --metrics", name)
		}
	}
	assert.Equal(t, 6, strings.Count(string(HTML([]*trainview.Summary{sum}, 0)), "<figure>"))
}

// A run that consists of parts has the same names several times: each is told with its part.
func TestNamesAreToldWithTheirPart(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 10 {
		v := fmt.Sprint(9 - i%5)
		if i == 2 {
			v = "NaN"
		}
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r","part":"fold<%d","body":{"epoch":%d,"measurements":{"val/loss":%s}}}`, 1790000000+i, i/5, i%5, v))
	}
	sum := fed(t, lines...)
	for name, c := range map[string]struct {
		out  string
		show func(string) string
	}{
		"text": {string(Text(sum, Style{Width: 400})), quote}, "markdown": {string(Markdown(sum)), code}, "page": {string(HTML([]*trainview.Summary{sum}, 0)), bdi},
	} {
		first, second := c.show("fold<0")+" "+c.show("val/loss"), c.show("fold<1")+" "+c.show("val/loss")
		for _, want := range []string{"non_finite " + first, second + " 5 (min) at epoch 4", "of the part " + c.show("fold<1")} {
			assert.Contains(t, c.out, want, name)
		}
		assert.Equal(t, 2, strings.Count(c.out, first), "%s: the metric and its warning", name)
		assert.Equal(t, 2, strings.Count(c.out, second), "%s: the metric and the best", name)
	}
}

// A drawing is readable on a phone: its name wraps, the words of two lines that end side by side do not cover each other, and the caption says
// what there is.
func TestADrawingIsReadable(t *testing.T) {
	t.Parallel()
	const long = "val/a_rather_long_name_of_a_detector_head_mean_average_precision"
	var lines []string
	for i := range 4 {
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r","body":{"epoch":%d,"measurements":{"val/loss":%d,"train/loss":%[2]d,"%[4]s":0.%[2]d}}}`, 1790000000+i, i, 9-i, long))
	}
	out := string(HTML([]*trainview.Summary{fed(t, lines...)}, 0))
	assert.Contains(t, out, `<h3><bdi dir="auto">`+long+`</bdi></h3>`)
	assert.Equal(t, 2, strings.Count(out, ">best "), "one a drawing")
	assert.Contains(t, out, "<figcaption>Lines in their order: solid, dashed. A dot marks the best of a line.</figcaption>")
	assert.Contains(t, out, "<figcaption>A dot marks the best of a line.</figcaption>")
	assert.Contains(t, out, "at epoch 3, no_checkpoint_record</dd>")
}

func TestSparklines(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for want, values := range map[string][]float64{
		"": nil, "▁": {1}, "▁█": {1, 2}, "█×▁": {3, nan, 1}, "▁▄█": {0, 1, 2}, "×": {math.Inf(1)}, "▁█▁": {-1e308, 1e308, -1e308},
	} {
		assert.Equal(t, want, sparkline(values))
	}
	long := make([]float64, 1000)
	for i := range long {
		long[i] = float64(i)
	}
	assert.Equal(t, cells, utf8.RuneCountInString(sparkline(long)))
}

func TestThePageShowsWhatALaterAttemptTookOver(t *testing.T) {
	t.Parallel()
	assert.NotContains(t, string(HTML([]*trainview.Summary{fed(t)}, 0)), "superseded")
	var lines []string
	for attempt, from := range []int{0, 3, 3} {
		for e := from; e < 7; e++ {
			lines = append(lines, fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r","attempt":%d,"body":{"epoch":%d,"measurements":{"val/loss":%d}}}`,
				1790000000+100*attempt+e, attempt+1, e, 10*attempt+9-e))
		}
	}
	page := string(HTML([]*trainview.Summary{fed(t, lines...)}, 0))
	assert.Equal(t, 2, strings.Count(page, `tpr0c0-s0 tpr0c0-past"`), "a line for each attempt")
	assert.Contains(t, page, "thin and dotted")
	assert.Contains(t, page, `val/loss, superseded of attempt 1</bdi></th>`, "the table tells it too")
	assert.Contains(t, page, `val/loss, superseded of attempt 2</bdi></th>`)
}

func TestWidthsAreThoseOfATerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "ü": 1, "e\u0301": 1, "损失": 4, "🚀": 2, "▁█×…": 4} {
		assert.Equal(t, want, across(text), text)
	}
	s := Style{Width: 5}
	for text, want := range map[string]string{"abcde": "abcde", "abcdef": "abcd…", "损失ab": "损失…", "损失a": "损失a", "a\u0301bcdef": "a\u0301bcd…"} {
		assert.Equal(t, want, s.cut(text), text)
	}
}

func TestACutLeavesNoPartOfAnEscape(t *testing.T) {
	t.Parallel()
	for _, escape := range []string{`\u202E`, `\U000E0001`, `\"`} {
		line := "run" + escape + escape + "z" // an escape is cut, or left out, at any width
		for width := 1; width <= len(line); width++ {
			got, whole := Style{Width: width}.cut(line), line[:3]
			for strings.HasPrefix(line, whole+escape) && len(whole+escape) < width {
				whole += escape
			}
			switch {
			case width >= len(line):
				whole = line
			case width <= 3:
				whole = line[:width-1] + "…"
			default:
				whole += "…"
			}
			assert.Equal(t, whole, got, "%s in %d cells", escape, width)
		}
	}
	assert.Equal(t, `C:\us…`, Style{Width: 6}.cut(`C:\users`), "what is none")
}

func TestAScreenNeverScrolls(t *testing.T) {
	t.Parallel()
	text := []byte("a\nb\nc\n")
	for height, want := range map[int]int{0: 3, 1: 3, 2: 1, 3: 2, 4: 3, 50: 3} {
		assert.Equal(t, want, strings.Count(string(Screen(text, height)), "\n"), height)
	}
	assert.Equal(t, "\x1b[H\x1b[Ka\n\x1b[Kb\n\x1b[Kc\n\x1b[J", string(Screen(text, 9)))
}
