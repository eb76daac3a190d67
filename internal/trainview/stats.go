package trainview

import (
	"math"
	"slices"
)

// xy is a point of a curve.
type xy struct{ x, y float64 }

func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2 // never beyond the greatest float
}

func medianOf(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return median(sorted)
}

func ys(points []xy) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = p.y
	}
	return out
}

// deviation is the median absolute deviation, as that of a normal distribution.
func deviation(values []float64) float64 {
	m := medianOf(values)
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = math.Abs(v - m)
	}
	return madToSigma * medianOf(off)
}

// mannKendall gives S and z, corrected for ties and continuity.
func mannKendall(points []xy) (s int, z float64) {
	n := len(points)
	for i := range points {
		for j := i + 1; j < n; j++ {
			switch {
			case points[j].y > points[i].y:
				s++
			case points[j].y < points[i].y:
				s--
			}
		}
	}
	variance := float64(n * (n - 1) * (2*n + 5))
	sorted := ys(points)
	slices.Sort(sorted)
	for i := 0; i < n; {
		j := i
		for j < n && sorted[j] == sorted[i] {
			j++
		}
		t := j - i
		variance -= float64(t * (t - 1) * (2*t + 5))
		i = j
	}
	if variance <= 0 || s == 0 {
		return s, 0
	}
	shift := 1.0
	if s > 0 {
		shift = -1
	}
	return s, (float64(s) + shift) / math.Sqrt(variance/18)
}

// theilSen is the median of the slopes of all pairs.
func theilSen(points []xy) float64 {
	slopes := make([]float64, 0, len(points)*(len(points)-1)/2)
	for i := range points {
		for j := i + 1; j < len(points); j++ {
			if dx := points[j].x - points[i].x; dx > 0 {
				slopes = append(slopes, points[j].y/dx-points[i].y/dx)
			}
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	return median(slopes)
}

// binned makes at most n points of equal count each, by median.
func binned(points []xy, n int) []xy {
	if len(points) <= n {
		return points
	}
	out := make([]xy, 0, n)
	for i := range n {
		part := points[i*len(points)/n : (i+1)*len(points)/n]
		xs := make([]float64, len(part))
		for k, p := range part {
			xs[k] = p.x
		}
		out = append(out, xy{medianOf(xs), medianOf(ys(part))})
	}
	return out
}
