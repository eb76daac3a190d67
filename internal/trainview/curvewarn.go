package trainview

import (
	"math"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// spikes counts losses far above those just before them, and says where the last one is.
func spikes(points []xy) (n, at int64) {
	var before [spikeBefore]float64
	for i := spikeBefore; i < len(points); i++ {
		for k := range before {
			before[k] = points[i-spikeBefore+k].y
		}
		slices.Sort(before[:])
		m := median(before[:])
		y := points[i].y
		if y <= m {
			continue
		}
		var off [spikeBefore]float64
		for k, b := range before {
			off[k] = math.Abs(b - m)
		}
		slices.Sort(off[:])
		if y > m+spikeFactor*math.Max(madToSigma*median(off[:]), spikeFloor*math.Abs(m)) {
			n, at = n+1, int64(points[i].x)
		}
	}
	return n, at
}

// diverging says that the last points are far worse than the best median of as many in a row was.
func diverging(points []xy, goal string) (sinceBest int64, ok bool) {
	n := len(points)
	if n <= divergingLast { // there is nothing before them
		return 0, false
	}
	best := math.NaN()
	for i := divergingLast; i <= n; i++ {
		var three [divergingLast]float64
		for k := range three {
			three[k] = points[i-divergingLast+k].y
		}
		slices.Sort(three[:])
		if m := median(three[:]); math.IsNaN(best) || better(m, best, goal) {
			best = m
		}
	}
	for _, p := range points[n-divergingLast:] {
		worse := p.y - best
		least := divergingMin * math.Abs(best)
		if goal == trainrun.ModeMax {
			worse, least = -worse, divergingMax*math.Abs(best)
		}
		if worse <= 0 || worse < least {
			return 0, false
		}
	}
	return int64(n - 1 - bestOf(points, goal)), true
}

// plateau says that a curve has not gained for long: the objective, and what is measured in validation.
func (v *view) plateau(c *curve) (since int64, ok bool) {
	n := len(c.points)
	objective := v.objective != nil && v.objective.Metric == c.Name
	if n < plateauPoints || !objective && !strings.HasPrefix(c.Name, valPrefix) || c.trend().Verdict != Flat {
		return 0, false
	}
	best, at := c.points[0].y, 0
	for i, p := range c.points {
		if gain := math.Abs(p.y - best); better(p.y, best, c.goal) && gain > gainLimit*math.Abs(best) {
			best, at = p.y, i
		}
	}
	return int64(n - 1 - at), n-1-at >= max(plateauLeast, n/plateauPart)
}

// overfitting: validation gets worse while training still gets better, and the best is some points old.
func (v *view) overfitting() {
	for i := range v.curves {
		val := &v.curves[i]
		name, ok := strings.CutPrefix(val.Name, valPrefix)
		if !ok || val.Shared || val.trend().Verdict != Worsening || len(val.points) == 0 {
			continue
		}
		train := v.improving(trainPrefix+name, val.Part)
		best := bestOf(val.points, val.goal)
		if train == nil || len(val.points)-1-best < overfitAge {
			continue
		}
		w := Warning{Code: warnOverfitting, Metric: Safe(val.name, maxName), Part: Safe(val.Part, maxName), Since: ptr(int64(val.points[best].x))}
		if t := train.points[len(train.points)-1].y; t != 0 {
			if gap := (val.points[len(val.points)-1].y - t) / math.Abs(t); finite(gap) {
				w.Gap = number(gap)
			}
		}
		v.warn(w)
	}
}

func (v *view) improving(name, part string) *curve {
	for i := range v.curves {
		if c := &v.curves[i]; c.Name == name && c.Part == part && c.trend().Verdict == Improving {
			return c
		}
	}
	return nil
}
