package trainview

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Verdicts on a curve.
const (
	Improving    = "improving"
	Worsening    = "worsening"
	Rising       = "rising"
	Falling      = "falling"
	Flat         = "flat"
	Noisy        = "noisy"
	NonFinite    = "non_finite"
	TooFewPoints = "too_few_points"
)

// Trend is the verdict on a curve, with its arithmetic.
type Trend struct {
	Verdict string
	Facts   TrendFacts
	Known   bool // there were points enough for Facts
}

// trendOf judges the finite points of a curve, by x. goal is min, max or "".
func trendOf(points []xy, goal string, lastFinite bool) Trend {
	t := Trend{Verdict: NonFinite}
	if len(points) >= trendPoints {
		t.Facts, t.Known = examine(points, window(len(points)), spread(points)), true
	}
	if !lastFinite {
		return t
	}
	if !t.Known {
		t.Verdict = TooFewPoints
		return t
	}
	if turned, ok := turn(points, goal); ok {
		t.Facts, t.Verdict = turned, Worsening
		return t
	}
	t.Verdict = t.Facts.verdict(goal)
	return t
}

// window is how many points a trend is of: the last quarter.
func window(n int) int { return min(max(n/windowPart, windowLeast), n) }

// spread is the range of the values.
func spread(points []xy) float64 {
	low, high := points[0].y, points[0].y
	for _, p := range points {
		low, high = min(low, p.y), max(high, p.y)
	}
	return high - low
}

func examine(points []xy, n int, spread float64) TrendFacts {
	used := binned(points[len(points)-n:], windowBins)
	f := TrendFacts{Window: n, Used: len(used)}
	var z float64
	f.S, z = mannKendall(used)
	slope := theilSen(used)
	values := ys(used)
	scale := math.Max(math.Abs(medianOf(values)), scaleOfRange*spread)
	f.Z, f.Slope, f.Scale = Number(z), Number(slope), Number(scale)
	if scale > 0 && finite(scale) {
		rest := make([]float64, len(used))
		for i, p := range used {
			rest[i] = p.y - slope*p.x
		}
		f.Change = Number(slope * (used[len(used)-1].x - used[0].x) / scale)
		f.Noise = Number(deviation(rest) / scale)
	}
	return f
}

func (f *TrendFacts) significant() bool {
	return math.Abs(float64(f.Z)) >= zLimit && math.Abs(float64(f.Change)) >= changeLimit
}

func (f *TrendFacts) verdict(goal string) string {
	switch {
	case f.significant() && goal == "" && f.Change > 0:
		return Rising
	case f.significant() && goal == "":
		return Falling
	case f.significant() && (f.Change < 0) == (goal == trainrun.ModeMin):
		return Improving
	case f.significant():
		return Worsening
	case f.Noise >= noiseLimit:
		return Noisy
	default:
		return Flat
	}
}

// turn looks at the points after the best one, when that lies in the window.
func turn(points []xy, goal string) (TrendFacts, bool) {
	if goal == "" {
		return TrendFacts{}, false
	}
	after := len(points) - 1 - bestOf(points, goal)
	if after < trendPoints || after >= window(len(points)) {
		return TrendFacts{}, false
	}
	f := examine(points, after, spread(points))
	f.Turned = true
	return f, f.significant() && f.verdict(goal) == Worsening
}

// bestOf is the place of the earliest of the best values.
func bestOf(points []xy, goal string) int {
	best := 0
	for i, p := range points {
		if better(p.y, points[best].y, goal) {
			best = i
		}
	}
	return best
}

func better(a, b float64, goal string) bool {
	if goal == trainrun.ModeMax {
		return a > b
	}
	return a < b
}
