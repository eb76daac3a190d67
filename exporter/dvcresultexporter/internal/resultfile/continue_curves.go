package resultfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func (c *continuation) series() {
	st := &c.st
	st.Series, st.Finals = slices.Clone(st.Series), slices.Clone(st.Finals)
	c.share()
	own := listMetrics(&trainrun.State{Series: st.Series, Finals: st.Finals})
	for _, name := range slices.Sorted(maps.Keys(c.p.Metrics)) {
		old := c.p.Metrics[name]
		i := slices.IndexFunc(own, func(m *metric) bool { return m.name == name })
		if old.Final != nil && (i < 0 || own[i].final == nil) {
			part, plain := "", name
			if i >= 0 {
				part, plain = own[i].part, own[i].plain
			}
			st.Finals = append(st.Finals, trainrun.Final{Part: part, Name: plain, Value: float64(*old.Final)})
		}
		if old.Last == nil {
			continue
		}
		s := trainrun.Series{Name: name, Axis: axisOf(old.Axis)}
		if i >= 0 {
			s.Part, s.Name = own[i].part, own[i].plain
			s.Shared = own[i].series != nil && own[i].series.Axis < s.Axis // the state knows who owns the name, the disk did not
		}
		at := slices.IndexFunc(st.Series, func(o trainrun.Series) bool {
			return i >= 0 && o.Part == s.Part && o.Name == s.Name && o.Axis == s.Axis
		})
		if at >= 0 {
			s = st.Series[at]
		}
		c.extend(&s, name, &old)
		if at < 0 {
			st.Series = append(st.Series, s)
		} else {
			st.Series[at] = s
		}
	}
}

// share gives a curve the suffix of its axis when the disk knows one, of an axis that comes before, that owns the name.
func (c *continuation) share() {
	for i := range c.st.Series {
		s := &c.st.Series[i]
		old, ok := c.p.Metrics[strings.ToValidUTF8(displayName(s.Part, s.Name), "\uFFFD")]
		s.Shared = s.Shared || ok && old.Last != nil && axisOf(old.Axis) < s.Axis
	}
}

// extend puts the points of the disk before those of a series.
func (c *continuation) extend(s *trainrun.Series, name string, old *previousMetric) {
	added, unknown := int64(0), int64(0)
	byX, across := map[int64]trainrun.Point{}, old.across()
	for _, pt := range c.p.points(name, c.read) {
		if pt.X < c.cut(s.Axis) {
			byX[pt.X] = pt
		}
	}
	shown := int64(len(byX))
	s.NonFinite = c.p.NonFinite[name].Count
	for i, pt := range s.Points {
		_, known := byX[pt.X]
		byX[pt.X] = pt
		if delete(across, pt.X); s.Across != nil {
			across[pt.X] = s.Across[i]
		}
		if !known && isFinite(pt.V) {
			unknown++
		}
		switch isNew := pt.X > old.LastStep; {
		case isNew && isFinite(pt.V), shown == old.Points && !known && isFinite(pt.V):
			added++
		case isNew && !isFinite(pt.V):
			s.NonFinite++
		}
	}
	s.FirstNonFinite = cmp.Or(c.p.NonFinite[name].First, s.FirstNonFinite)
	s.Count = old.Points + added
	if c.cut(s.Axis) <= old.LastStep {
		s.Count = shown + unknown
	}
	s.Points = sortedPoints(byX)
	s.Across = placesOf(s.Points, across)
	s.Min, s.Max = nil, nil
	for i := range s.Points {
		pt := s.Points[i]
		if !isFinite(pt.V) {
			continue
		}
		if s.Min == nil || pt.V < s.Min.V {
			s.Min = &pt
		}
		if s.Max == nil || pt.V > s.Max.V {
			s.Max = &pt
		}
	}
	if n := len(s.Points); n > 0 {
		s.Last = s.Points[n-1]
	}
	if v := old.Last; old.LastStep > s.Last.X && old.LastStep < c.cut(s.Axis) || len(s.Points) == 0 { // one that no table has
		s.Last = trainrun.Point{X: old.LastStep, V: float64(*v)}
	}
	s.Sampled = s.Sampled || old.Sampled
}

// best finds the best point of the joined curve.
func (c *continuation) best() {
	st, ob := &c.st, c.st.Objective
	if ob == nil {
		return
	}
	for i := range st.Series {
		s := &st.Series[i]
		value := s.Min
		if ob.Mode == trainrun.ModeMax {
			value = s.Max
		}
		if s.Part != "" || s.Name != ob.Metric || s.Shared || value == nil {
			continue
		}
		own, old := st.Best, c.p.Best
		if own != nil && own.Metric == ob.Metric && own.Axis == s.Axis && own.X == value.X {
			return
		}
		st.Best = &trainrun.Best{Metric: ob.Metric, Mode: ob.Mode, Value: value.V, Axis: s.Axis, X: value.X}
		if old != nil && old.Step == value.X && old.Axis == s.Axis.String() {
			st.Best.Time = nanos(old.At)
			st.Best.Checkpoint = c.checkpoint(old.Path)
		}
		for _, saved := range []*trainrun.Checkpoint{st.Checkpoints.Last, st.Checkpoints.Best} {
			if saved != nil && savedAt(saved, s.Axis, value.X) {
				st.Best.Checkpoint = saved
			}
		}
		return
	}
}

func savedAt(c *trainrun.Checkpoint, axis trainrun.Axis, x int64) bool {
	place := c.Epoch
	if axis == trainrun.AxisStep {
		place = c.Step
	}
	return place != nil && *place == x
}

// checkpoint finds the checkpoint of a path among the files of the disk.
func (c *continuation) checkpoint(path string) *trainrun.Checkpoint {
	i := slices.IndexFunc(c.p.Artifacts, func(f previousFile) bool { return path != "" && f.Path == path })
	if i < 0 {
		return nil
	}
	return c.p.Artifacts[i].checkpoint()
}
