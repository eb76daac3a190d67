package trainview

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func series(values ...float64) []xy {
	out := make([]xy, len(values))
	for i, v := range values {
		out[i] = xy{float64(i), v}
	}
	return out
}

func TestTrends(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []float64
		goal   string
		want   string
	}{
		"three":               {[]float64{3, 2, 1}, "min", TooFewPoints},
		"four fall":           {[]float64{4, 3, 2, 1}, "min", Improving},
		"four fall, max":      {[]float64{4, 3, 2, 1}, "max", Worsening},
		"four fall, no goal":  {[]float64{4, 3, 2, 1}, "", Falling},
		"four rise, no goal":  {[]float64{1, 2, 3, 4}, "", Rising},
		"one of four rises":   {[]float64{4, 3, 2, 2.5}, "min", Noisy},
		"constant":            {[]float64{1, 1, 1, 1, 1, 1, 1, 1}, "min", Flat},
		"zeros":               {[]float64{0, 0, 0, 0, 0}, "min", Flat},
		"less than 1 %":       {[]float64{1, .9999, .9998, .9997, .9996, .9995, .9994, .9993}, "min", Flat},
		"noise":               {[]float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, "min", Noisy},
		"V, four after best":  {[]float64{9, 8, 7, 6, 5, 5.1, 5.2, 5.3, 5.4}, "min", Worsening},
		"V, three after best": {[]float64{9, 8, 7, 6, 5, 5.1, 5.2, 5.3}, "min", Improving},
	} {
		assert.Equal(t, c.want, trendOf(series(c.values...), c.goal, true).Verdict, name)
	}
	assert.Equal(t, NonFinite, trendOf(series(4, 3, 2, 1), "min", false).Verdict)
}

func TestTrendArithmetic(t *testing.T) {
	t.Parallel()
	points := series(2.05, 1.6, 1.35, 1.18, 1.06, .97, .9, .85, .81, .78, .76, .74)
	f := trendOf(points, trainrun.ModeMin, true).Facts
	assert.Equal(t, -28, f.S)
	assert.InDelta(t, -3.34, float64(f.Z), 0.005)
	assert.InDelta(t, -0.34578, float64(f.Change), 1e-5)
	assert.Equal(t, 8, f.Window)
	s, z := mannKendall(series(1, 1, 1, 2))
	assert.Equal(t, 3, s)
	assert.InDelta(t, 2/math.Sqrt((4*3*13-3*2*11)/18.0), z, 1e-9, "ties are corrected")
}

func TestTheCostOfATrendIsBounded(t *testing.T) {
	t.Parallel()
	values := make([]float64, 100_000)
	for i := range values {
		values[i] = 10 - math.Log(float64(i+1))
	}
	got := trendOf(series(values...), trainrun.ModeMin, true)
	assert.Equal(t, 25_000, got.Facts.Window)
	assert.Equal(t, windowBins, got.Facts.Used)
	assert.Equal(t, Improving, got.Verdict)
}

func TestLossWarnings(t *testing.T) {
	t.Parallel()
	n, at := spikes(series(1, 1, 1, 1, 1, 1.15, 1, 1.17, 9, 1))
	assert.EqualValues(t, 2, n)
	assert.EqualValues(t, 8, at)
	n, _ = spikes(series(1, 2, 1.5, 1.2, 1.8, 3, 2))
	assert.Zero(t, n, "the noise before counts")
	since, ok := diverging(series(3, 2, 1, 1, 1, 2, 2.5, 3), trainrun.ModeMin)
	assert.True(t, ok)
	assert.EqualValues(t, 5, since)
	_, ok = diverging(series(3, 2, 1, 1, 1, 1.9, 2.5, 3), trainrun.ModeMin)
	assert.False(t, ok)
	_, ok = diverging(series(.1, .8, .8, .8, .4, .39, .2), trainrun.ModeMax)
	assert.True(t, ok)
	_, ok = diverging(series(1, 1, 5, 5, 5), trainrun.ModeMin)
	assert.True(t, ok, "the best three may share points with the last")
	for n := range 4 {
		_, ok = diverging(series(1, 5, 5)[:min(n, 3)], trainrun.ModeMin)
		assert.False(t, ok)
	}
	_, ok = diverging(series(0, 0, 0, 0, 0, 0), trainrun.ModeMin)
	assert.False(t, ok)
}

func TestOverfittingNeedsABestThatIsOld(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{8: true, 6: false} {
		r := newRun(t)
		val := []float64{9, 8, 7, 6, 5, 5.2, 5.4, 5.6, 5.8, 6}
		if n == 6 { // the best is the one before the last but one, and the window rises all the same
			val = []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 0.9, 1.7, 1.8}
		}
		for i, v := range val {
			r.line(start.Add(time.Duration(i+1)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%g,"train/loss":%g}`, i, v, 9-float64(i)*0.8))
		}
		d := r.after(time.Second)
		require.Equal(t, Worsening, d.Metrics[0].Trend, n)
		assert.Equal(t, want, slices.Contains(codesOf(d), warnOverfitting), n)
	}
}
