package trainplot

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// extent is what a text of a drawing takes of its width, by what a character takes.
type extent struct {
	text     string
	from, to float64
	y        float64
}

// extents reads the texts of a drawing. Titles are larger than labels.
func extents(t *testing.T, svg string, label float64) (out []extent) {
	t.Helper()
	var d struct {
		Texts []struct {
			Class  string  `xml:"class,attr"`
			X      float64 `xml:"x,attr"`
			Y      float64 `xml:"y,attr"`
			Anchor string  `xml:"text-anchor,attr"`
			Text   string  `xml:",chardata"`
		} `xml:"text"`
	}
	require.NoError(t, xml.Unmarshal([]byte(svg), &d))
	for _, e := range d.Texts {
		letter := label
		if strings.HasSuffix(e.Class, "-t") {
			if label != cell { // a page has a heading in its place
				continue
			}
			letter = titleCell
		}
		wide := float64(cells(e.Text)) * letter
		from := map[string]float64{"start": e.X, "middle": e.X - wide/2, "end": e.X - wide}[e.Anchor]
		out = append(out, extent{e.Text, from, from + wide, e.Y})
	}
	return out
}

// TestTextsOfADrawingAreNotCut, as it is, which is how a report shows it, and in a window of 360 pixels, where the page of trainsummary makes the
// letters larger: it leaves 57 units to the left of a drawing and 32 to the right. Words side by side do not cover each other.
func TestTextsOfADrawingAreNotCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("accuracy_of_everything/", 6)
	charts := map[string]Chart{}
	for name, y := range map[string][]float64{
		"usual": {2, 1, 0.5}, "large": {1.00002e6, 1.00005e6}, "tiny": {-1.00002e-300, -1.00005e-300}, "all": {-math.MaxFloat64, math.MaxFloat64}, "flat": {1234567, 1234567},
	} {
		for at, to := range map[string]float64{"few": 3, "epochs": 100, "steps": 100_000, "many": 1_000_000, "more": 123_456_789, "late": 1_000_100} {
			c := Chart{Title: long, XLabel: "epoch"}
			begin := 0.0
			if at == "late" {
				begin = 1_000_000
			}
			points := []Point{{begin, y[0]}, {to, y[len(y)-1]}}
			for n := range MaxSeries {
				c.Series = append(c.Series, Series{Name: fmt.Sprint([]string{"train/", "val/", "損失損失損失"}[n%3], long, n), Points: points})
				charts[fmt.Sprint(name, at, n+1)] = c
				c.Series = c.Series[: n+1 : n+1]
			}
		}
	}
	for name, c := range charts {
		svg := SVG(c)
		for letter, room := range map[float64][2]float64{cell: {0, width}, largeCell: {-57, width + 32}} {
			if letter == largeCell && len(c.Series) > 3 {
				continue // on a page there are no more
			}
			list := extents(t, svg, letter)
			for i, e := range list {
				assert.GreaterOrEqual(t, e.from, room[0], "%s: %q at %v", name, e.text, letter)
				assert.LessOrEqual(t, e.to, room[1], "%s: %q at %v", name, e.text, letter)
				for _, o := range list[:i] {
					assert.False(t, e.y == o.y && e.from < o.to && o.from < e.to, "%s: %q covers %q at %v", name, e.text, o.text, letter)
				}
			}
		}
	}
}

// TestNamesAreShortenedInTheMiddle: what begins them tells training from validation.
func TestNamesAreShortenedInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		room int
		want string
	}{
		{"val/loss", 8, "val/loss"}, {"val/losses", 8, "val…ses"}, {"val/losses", 3, "v…"}, {"損失損失", 8, "損失損失"}, {"損失損失", 7, "損…失"}, {"\xffabc", 4, "\uFFFD…"},
	} {
		got := shorten(c.name, c.room)
		assert.Equal(t, c.want, got, strconv.Quote(c.name))
		assert.LessOrEqual(t, cells(got), c.room)
	}
}
