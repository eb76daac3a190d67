package trainview

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// shape is a kind of curve; right is the verdict that a person would give, "" when none of both directions is right.
type shape struct {
	name  string
	n     int
	at    func(i int, noise func(scale float64) float64) float64
	right string
}

var shapes = []shape{
	{"pure noise, 12 epochs", 12, func(_ int, noise func(float64) float64) float64 { return 1 + noise(0.1) }, ""},
	{"pure noise, 100 epochs", 100, func(_ int, noise func(float64) float64) float64 { return 1 + noise(0.1) }, ""},
	{"nine clean epochs", 9, func(i int, noise func(float64) float64) float64 {
		return 2*math.Exp(-float64(i)/5) + 0.2 + noise(0.005)
	}, Improving},
	{"a curve in decay", 40, func(i int, noise func(float64) float64) float64 {
		return 3*math.Exp(-float64(i)/20) + 0.1 + noise(0.01)
	}, Improving},
	{"a U-turn", 24, func(i int, noise func(float64) float64) float64 {
		return 0.5 + math.Abs(float64(i)-16)*0.05 + noise(0.01)
	}, Worsening},
	{"slow and noisy", 60, func(i int, noise func(float64) float64) float64 { return 2 - float64(i)*0.02 + noise(0.05) }, Improving},
}

// halfMeans is the rule that a tracker uses: the mean of the second half of the last points against that of the first, with 5 %.
func halfMeans(points []xy, goal string) string {
	last := points[len(points)-window(len(points)):]
	mean := func(part []xy) (m float64) {
		for _, p := range part {
			m += p.y / float64(len(part))
		}
		return m
	}
	first, second := mean(last[:len(last)/2]), mean(last[len(last)/2:])
	change := (second - first) / math.Abs(first)
	switch {
	case math.Abs(change) < 0.05:
		return Flat
	case (change < 0) == (goal == trainrun.ModeMin):
		return Improving
	default:
		return Worsening
	}
}

// TestRatesOfTrends simulates with a fixed seed: how often a direction is told where there is none, and how often the right one
// is told where there is one, next to the rule of half means.
func TestRatesOfTrends(t *testing.T) {
	t.Parallel()
	const runs = 400
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(scale float64) float64 { return scale * random.NormFloat64() }
	for _, s := range shapes {
		var ours, theirs int
		for range runs {
			values := make([]float64, s.n)
			for i := range values {
				values[i] = s.at(i, noise)
			}
			points := series(values...)
			count := func(verdict string, n *int) {
				if s.right == "" && (verdict == Improving || verdict == Worsening) || s.right != "" && verdict == s.right {
					*n++
				}
			}
			count(trendOf(points, trainrun.ModeMin, true).Verdict, &ours)
			count(halfMeans(points, trainrun.ModeMin), &theirs)
		}
		a, b := 100*float64(ours)/runs, 100*float64(theirs)/runs
		if s.right == "" {
			t.Logf("%-24s false alarms: ours %5.1f %%, half means %5.1f %%", s.name, a, b)
			assert.Less(t, a, 12.0, s.name)
			assert.LessOrEqual(t, a, b+5, s.name)
			continue
		}
		t.Logf("%-24s right:        ours %5.1f %%, half means %5.1f %%", s.name, a, b)
		assert.GreaterOrEqual(t, a, b-1, s.name)
		assert.Greater(t, a, 90.0, s.name)
	}
}
