package trainview

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func TestASampleKeepsWhatMatters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(rt, "n")
		most := rapid.IntRange(4, 120).Draw(rt, "most")
		points := make([]trainrun.Point, n)
		bad := 0
		for i := range points {
			v := rapid.Float64Range(-5, 5).Draw(rt, "v")
			if rapid.IntRange(0, 60).Draw(rt, "bad") == 0 {
				v, bad = math.NaN(), bad+1
			}
			points[i] = trainrun.Point{X: int64(3 * i), V: v}
		}
		got := Sample(points, most)
		require.LessOrEqual(rt, len(got), max(most, 4))
		if n == 0 {
			return
		}
		require.Equal(rt, points[0].X, got[0].X)
		require.Equal(rt, points[n-1].X, got[len(got)-1].X)
		low, high, lost := math.Inf(1), math.Inf(-1), bad
		for i, p := range got {
			require.True(rt, i == 0 || p.X > got[i-1].X)
			if finite(p.V) {
				low, high = min(low, p.V), max(high, p.V)
			} else {
				lost--
			}
		}
		for _, p := range points {
			require.False(rt, finite(p.V) && (p.V < low || p.V > high))
		}
		require.True(rt, lost == 0 || bad > most/2-4)
	})
}

func TestASampleShowsASpike(t *testing.T) {
	t.Parallel()
	points := make([]trainrun.Point, 10_000)
	for i := range points {
		points[i] = trainrun.Point{X: int64(i), V: 1}
	}
	points[777].V, points[5000].V = 1.5, 9
	var seen []int64
	for _, p := range Sample(points, 50) {
		if p.V != 1 {
			seen = append(seen, p.X)
		}
	}
	assert.Equal(t, []int64{777, 5000}, seen)
}
