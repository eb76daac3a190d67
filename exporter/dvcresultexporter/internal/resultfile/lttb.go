package resultfile

import "slices"

// Point is one value of a series at a place of its axis.
type Point struct {
	Step  int64
	Value float64
}

// decimate keeps at most limit of the points, which are finite and sorted by step: the largest triangles, the first and
// last, and those of the given indexes. The choice depends on the points alone; products are rounded before they are
// added, so that no machine fuses the two and picks another point.
func decimate(points []Point, limit int, forced ...int) []Point {
	if len(points) <= limit {
		return points
	}
	keep := triangles(points, max(limit-len(forced), 3))
	for _, i := range forced {
		if at, found := slices.BinarySearch(keep, i); !found {
			keep = slices.Insert(keep, at, i)
		}
	}
	out := make([]Point, len(keep))
	for i, k := range keep {
		out[i] = points[k]
	}
	return out
}

// triangles is the largest-triangle-three-buckets selection: n indexes in order, first and last included, n >= 3.
func triangles(points []Point, n int) []int {
	keep := make([]int, 1, n)
	buckets := n - 2
	inner := len(points) - 2
	start := func(bucket int) int { return 1 + bucket*inner/buckets }
	for bucket := range buckets {
		next := points[min(start(bucket+1), len(points)-1):min(start(bucket+2), len(points))]
		if bucket == buckets-1 {
			next = points[len(points)-1:]
		}
		keep = append(keep, largest(points, start(bucket), start(bucket+1), points[keep[len(keep)-1]], mean(next)))
	}
	return append(keep, len(points)-1)
}

// center is the mean of a bucket.
type center struct{ step, value float64 }

func mean(points []Point) center {
	var c center
	for _, p := range points {
		c.step += float64(p.Step)
		c.value += p.Value
	}
	n := float64(len(points))
	return center{c.step / n, c.value / n}
}

// largest gives the index in [from, to) whose triangle with the previous point and the next bucket's center is largest;
// of equal ones the lowest.
func largest(points []Point, from, to int, previous Point, next center) int {
	best, area := from, -1.0
	for i := from; i < to; i++ {
		width := float64(float64(previous.Step)-next.step) * float64(points[i].Value-previous.Value)
		height := float64(float64(previous.Step)-float64(points[i].Step)) * float64(next.value-previous.Value)
		a := float64(width) - float64(height)
		if a = max(a, -a); a > area {
			best, area = i, a
		}
	}
	return best
}
