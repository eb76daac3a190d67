package trainview

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Sample brings a curve to a number of points that show its form (largest triangle, three buckets). The first, the last, the least
// and the greatest stay, and values that are not finite as far as they fit.
func Sample(points []trainrun.Point, most int) []trainrun.Point {
	most = max(most, 4)
	if len(points) <= most {
		return points
	}
	keep := make([]bool, len(points))
	kept := 0
	mark := func(i int) {
		if i >= 0 && !keep[i] && kept < most {
			keep[i] = true
			kept++
		}
	}
	mark(0)
	mark(len(points) - 1)
	low, high := -1, -1
	for i, p := range points {
		if finite(p.V) && (low < 0 || p.V < points[low].V) {
			low = i
		}
		if finite(p.V) && (high < 0 || p.V > points[high].V) {
			high = i
		}
	}
	mark(low)
	mark(high)
	for i, p := range points {
		if !finite(p.V) && kept < most/2 {
			mark(i)
		}
	}
	triangles(points, most-kept, mark)
	out := make([]trainrun.Point, 0, kept)
	for i, p := range points {
		if keep[i] {
			out = append(out, p)
		}
	}
	return out
}

// triangles marks in each of n buckets the point that spans the largest triangle with the one chosen before and the middle of
// the next bucket.
func triangles(points []trainrun.Point, n int, mark func(int)) {
	if n <= 0 {
		return
	}
	before := points[0]
	bucket := func(i int) []trainrun.Point {
		return points[1+i*(len(points)-2)/n : 1+(i+1)*(len(points)-2)/n]
	}
	for i := range n {
		next := points[len(points)-1:]
		if i+1 < n {
			next = bucket(i + 1)
		}
		mx, my, count := 0.0, 0.0, 0.0
		for _, p := range next {
			if finite(p.V) {
				mx, my, count = mx+float64(p.X), my+p.V, count+1
			}
		}
		if count > 0 {
			mx, my = mx/count, my/count
		}
		best, area := -1, -1.0
		for k, p := range bucket(i) {
			if !finite(p.V) {
				continue
			}
			a := math.Abs((float64(before.X)-mx)*(p.V-before.V) - (float64(before.X)-float64(p.X))*(my-before.V))
			if a > area || best < 0 {
				best, area = k, a
			}
		}
		if best >= 0 {
			before = bucket(i)[best]
			mark(1 + i*(len(points)-2)/n + best)
		}
	}
}
