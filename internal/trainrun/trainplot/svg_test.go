package trainplot

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden drawing anew")

func curve(name string, values ...float64) Series {
	s := Series{Name: name}
	for i, v := range values {
		s.Points = append(s.Points, Point{float64(i), v})
	}
	return s
}

// wellFormed reads a drawing and gives its texts.
func wellFormed(t require.TestingT, svg string) (texts []string) {
	d := xml.NewDecoder(strings.NewReader(svg))
	in := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err, svg)
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			require.Contains(t, []string{"svg", "style", "title", "rect", "text", "line", "path", "circle"}, in)
			for _, a := range e.Attr {
				require.NotContains(t, a.Value, "NaN")
				require.NotContains(t, a.Value, "Inf")
				require.False(t, strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href", a.Name.Local)
			}
		case xml.CharData:
			if in == "text" && strings.TrimSpace(string(e)) != "" {
				texts = append(texts, string(e))
			}
		}
	}
}

func TestDrawingIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	got := SVG(Chart{
		Title: "loss", XLabel: "epoch",
		Series: []Series{curve("train/loss", 2, 1, 0.75, math.NaN(), 0.5), curve("val/loss", 2.25, 1.5, 1, 1.125, 1.25)},
		Marks:  []Mark{{2, 1, "best"}},
	})
	if *update {
		require.NoError(t, os.WriteFile("testdata/loss.svg", []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/loss.svg")
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
	texts := wellFormed(t, got)
	for _, word := range []string{"loss", "train/loss", "val/loss", "best", "epoch", "0", "4", "1.5"} {
		assert.Contains(t, texts, word)
	}
	assert.Contains(t, got, "prefers-color-scheme:dark")
}

func TestDrawingWithoutValues(t *testing.T) {
	t.Parallel()
	for _, c := range []Chart{{}, {Series: []Series{curve("a")}}, {Series: []Series{curve("a", math.NaN(), math.Inf(1))}, Marks: []Mark{{1, 1, "x"}}}} {
		assert.Contains(t, wellFormed(t, SVG(c)), "no values")
	}
}

func TestAPointAloneIsSeen(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1, strings.Count(SVG(Chart{Series: []Series{curve("a", 1)}}), "<circle"))
	assert.Equal(t, 2, strings.Count(SVG(Chart{Series: []Series{curve("a", 1, math.NaN(), 2)}}), "<circle"))
}

func TestTicksAreRound(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []float64{0, 20, 40, 60, 80, 100}, ticks(0, 100, 5))
	assert.InDeltaSlice(t, []float64{0.1, 0.15, 0.2, 0.25, 0.3, 0.35}, ticks(0.1, 0.35, 5), 1e-9)
	assert.Equal(t, []float64{-2, 0, 2}, ticks(-3, 3, 3))
}

// A logarithm is not exact: a range one bit above a power of ten has ticks to its end as well.
func TestTicksReachTheEnd(t *testing.T) {
	t.Parallel()
	for k := -300; k <= 300; k++ {
		for _, m := range []float64{1, 2, 5} {
			exact := 5 * m * math.Pow(10, float64(k))
			for _, b := range []float64{math.Nextafter(exact, 0), exact, math.Nextafter(exact, math.MaxFloat64)} {
				got := ticks(0, b, 5)
				require.GreaterOrEqual(t, len(got), 3, b)
				require.Less(t, b-got[len(got)-1], got[1]-got[0], b)
			}
		}
	}
}

// Whatever the names and numbers are, the drawing is well-formed, holds nothing but shapes and texts, and is of bounded size.
func TestEveryDrawingIsSafe(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		`</text><script>alert(1)</script>`, `"><image href="x"/>`, "]]>", "&amp;", "\x00\x1b\xff", "\u202egnp", strings.Repeat("long ", 1000), "<!--", `javascript:`,
	}))
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}))
	rapid.Check(t, func(t *rapid.T) {
		c := Chart{Title: text.Draw(t, "title"), XLabel: text.Draw(t, "x"), ID: text.Draw(t, "id")}
		for range rapid.IntRange(0, MaxSeries+3).Draw(t, "series") {
			c.Series = append(c.Series, curve(text.Draw(t, "name"), rapid.SliceOfN(number, 0, 5).Draw(t, "values")...))
		}
		c.Marks = []Mark{{number.Draw(t, "mark x"), number.Draw(t, "mark y"), text.Draw(t, "mark")}}
		svg := SVG(c)
		wellFormed(t, svg)
		require.Equal(t, svg, SVG(c))
		require.Less(t, len(svg), 30_000)
	})
}

func TestWhatIsPastIsThinAndDotted(t *testing.T) {
	t.Parallel()
	c := Chart{Title: "loss", Series: []Series{curve("loss", 3, 2, 1)}}
	without := SVG(c)
	assert.NotContains(t, without, "past")
	c.Past = []Past{{Of: 0, Name: "first", Points: curve("", 3, 9).Points}, {Of: 1, Points: curve("", 99, 99).Points}}
	svg := SVG(c)
	wellFormed(t, svg)
	assert.Equal(t, 1, strings.Count(svg, `class="tp-line tp-s0 tp-past"`), "a line of none is left out")
	assert.Contains(t, svg, ".tp-past{")
	assert.Contains(t, svg, ">8<", "the axis has room for it")
	assert.NotContains(t, svg, ">90<")
}

func TestTheGreatestNumbersHaveAPlace(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{math.MaxFloat64, -math.MaxFloat64} {
		svg := SVG(Chart{Series: []Series{curve("loss", v, v)}})
		wellFormed(t, svg)
		assert.NotContains(t, svg, "NaN")
		assert.NotContains(t, svg, "Inf")
	}
}
