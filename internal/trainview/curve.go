package trainview

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// curve is a series with its verdict.
type curve struct {
	*trainrun.Series

	index     int
	name      string // as it is shown
	goal      string
	points    []xy // finite, without suspect ones
	times     []int64
	nonFinite int64
	lastBad   int64 // where the last value that is not finite is
	suspects  int64
	lastDoubt int64
	last      trainrun.Point // without suspect ones
	lastOK    bool
	judged    *Trend
}

// curves reads the series of a state.
func (v *view) readCurves() {
	for i := range v.st.Series {
		s := &v.st.Series[i]
		c := curve{Series: s, index: i, name: s.Name}
		if s.Shared {
			c.name += "_" + s.Axis.String()
		}
		c.goal = v.goal(s.Name)
		c.read(v.trail)
		v.curves = append(v.curves, c)
	}
}

// trend judges a curve, when something asks for it.
func (c *curve) trend() *Trend {
	if c.judged == nil {
		t := trendOf(c.points, c.goal, c.lastOK)
		c.judged = &t
	}
	return c.judged
}

// goal says which way a metric is better: by the objective, else by its name.
func (v *view) goal(name string) string {
	if o := v.objective; o != nil && o.Metric == name {
		return o.Goal
	}
	mode, _ := trainrun.Goal(name)
	return mode
}

func (c *curve) read(t *Trail) {
	c.points, c.times = make([]xy, 0, len(c.Points)), make([]int64, 0, len(c.Points))
	for _, p := range c.Points {
		bad := !finite(p.V)
		if bad {
			c.nonFinite, c.lastBad = c.nonFinite+1, p.X
		} else if _, doubtful := t.suspects[suspect{c.Part, c.Name, c.Axis, p.X, math.Float64bits(p.V)}]; doubtful {
			c.suspects, c.lastDoubt = c.suspects+1, p.X
			continue
		}
		c.last, c.lastOK = p, !bad
		if !bad {
			c.points, c.times = append(c.points, xy{float64(p.X), p.V}), append(c.times, p.Time)
		}
	}
	if c.Thinned { // what was left out is only known as a number
		c.nonFinite = max(c.nonFinite, c.NonFinite)
	}
}

// count is the number of finite points, those included that were left out to bound memory.
func (c *curve) count() int64 {
	if c.Thinned {
		return max(c.Count-c.suspects, int64(len(c.points)))
	}
	return int64(len(c.points))
}

func (c *curve) empty() bool { return len(c.points) == 0 && c.nonFinite == 0 }

// metric is the row of a curve.
func (c *curve) metric() Metric {
	trend := c.trend()
	m := Metric{
		Name: Safe(c.name, maxName), Part: Safe(c.Part, maxName), Trend: trend.Verdict, Last: number(c.last.V), At: ptr(c.last.X),
		Axis: c.Axis.String(), Points: c.count(), NonFinite: c.nonFinite, series: c.index,
	}
	if c.goal != "" {
		m.Goal = &c.goal
	}
	if n := len(c.points); n > 0 && c.goal != "" {
		best := bestOf(c.points, c.goal)
		m.Best, m.BestAt, m.SinceBest = number(c.points[best].y), ptr(int64(c.points[best].x)), ptr(int64(n-1-best))
	}
	if trend.Known {
		m.Change = &trend.Facts.Change
	}
	return m
}

// rank is the place of a curve in the list: the objective, val/loss, train/loss, other val/ ones, the rest.
func (v *view) rank(c *curve) int {
	switch {
	case v.objective != nil && c.Name == v.objective.Metric && !c.Shared:
		return 0
	case c.name == valPrefix+lossWord:
		return 1
	case c.name == trainPrefix+lossWord:
		return 2
	case strings.HasPrefix(c.name, valPrefix):
		return 3
	default:
		return 4
	}
}

// metrics chooses the curves that are shown.
func (v *view) metrics() {
	var shown []*curve
	total := 0
	for i := range v.curves {
		c := &v.curves[i]
		wanted := c.goal != "" && !c.Shared
		if len(v.o.Metrics) > 0 {
			wanted = matches(v.o.Metrics, c.name)
		}
		if c.empty() || !wanted && strings.HasPrefix(c.name, trainrun.RatePrefix) { // a schedule is no measurement
			continue
		}
		total++
		switch {
		case wanted:
			shown = append(shown, c)
		case len(v.o.Metrics) == 0 && c.goal == "" && !c.Shared:
			v.others = append(v.others, c)
		}
	}
	for _, list := range [][]*curve{shown, v.others} {
		slices.SortStableFunc(list, func(a, b *curve) int {
			return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(v.rank(a), v.rank(b)), cmp.Compare(a.name, b.name))
		})
	}
	most := MaxMetrics
	if v.o.MaxMetrics > 0 {
		most = v.o.MaxMetrics
	}
	v.doc.Metrics = []Metric{}
	for _, c := range shown[:min(len(shown), most)] {
		v.doc.Metrics = append(v.doc.Metrics, c.metric())
		if v.o.Explain && c.trend().Known {
			f := c.trend().Facts
			f.Name, f.Part = Safe(c.name, maxName), Safe(c.Part, maxName)
			v.explain.Metrics = append(v.explain.Metrics, f)
		}
	}
	v.doc.MetricsOmitted = total - len(v.doc.Metrics)
}
