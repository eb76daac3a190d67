package resultfile

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// placed gives the curves of validations as they go on after a result, and notes: a curve is over steps when the result or the records
// since then know an epoch with two validations, or both of them one. What the result has over epochs then comes to the steps that it names.
func (p *previous) placed(st *trainrun.State, begins bool) ([]trainrun.Series, []trainrun.Note) {
	out := slices.Clone(st.Series)
	notes := append(slices.Clone(st.Notes), slices.DeleteFunc(p.Notes, func(n trainrun.Note) bool { return n.What != trainrun.NoteUnplaced })...)
	for i := range out {
		s := &out[i]
		name := strings.ToValidUTF8(displayName(s.Part, s.Name), "\uFFFD")
		old, ok := p.Metrics[name]
		if !ok || old.Last == nil || s.Across == nil || slices.ContainsFunc(st.Series, func(o trainrun.Series) bool {
			return o.Shared && o.Part == s.Part && o.Name == s.Name
		}) {
			continue
		}
		switch over := axisOf(old.Axis); {
		case over == trainrun.AxisStep && s.Axis == trainrun.AxisEpoch && !slices.Contains(s.Across, -1):
			turn(s, trainrun.AxisStep)
		case over != trainrun.AxisEpoch || s.Axis == trainrun.AxisEpoch && (begins || !old.again(s)): // as it is
		case !old.ascends(s): // steps begin anew in each epoch
			turn(s, trainrun.AxisEpoch)
			notes = append(notes, trainrun.Note{What: trainrun.NoteUnplaced, Value: s.Name})
		default:
			if turn(s, trainrun.AxisStep); p.toSteps(name) {
				notes = append(notes, trainrun.Note{What: trainrun.NoteUnplaced, Value: s.Name})
			}
		}
	}
	slices.SortFunc(notes, func(a, b trainrun.Note) int {
		return cmp.Or(strings.Compare(a.What, b.What), strings.Compare(a.Value, b.Value))
	})
	return out, slices.Compact(notes)
}

// turn puts a curve on its other axis. Of several values of a place there the last one counts.
func turn(s *trainrun.Series, axis trainrun.Axis) {
	if s.Axis == axis {
		return
	}
	points, across := map[int64]trainrun.Point{}, map[int64]int64{}
	for i, pt := range s.Points {
		if x := s.Across[i]; x >= 0 {
			points[x], across[x] = trainrun.Point{X: x, V: pt.V, Time: pt.Time}, pt.X
		}
	}
	s.Axis, s.Points = axis, sortedPoints(points)
	s.Across, s.FirstNonFinite = placesOf(s.Points, across), nil
	if first := slices.IndexFunc(s.Points, func(pt trainrun.Point) bool { return !isFinite(pt.V) }); first >= 0 {
		s.FirstNonFinite = &s.Points[first].X
	}
}

func sortedPoints(byX map[int64]trainrun.Point) []trainrun.Point {
	return slices.SortedFunc(maps.Values(byX), func(a, b trainrun.Point) int { return cmp.Compare(a.X, b.X) })
}

// placesOf lists the places of points on the other axis, nil when no point has one.
func placesOf(points []trainrun.Point, across map[int64]int64) []int64 {
	if len(across) == 0 {
		return nil
	}
	out := make([]int64, len(points))
	for i := range points {
		x, ok := across[points[i].X]
		if out[i] = x; !ok {
			out[i] = -1
		}
	}
	return out
}

// stepsOf gives the steps at which the last, the least and the greatest value of a curve over epochs were told.
func stepsOf(s *trainrun.Series) object {
	out := object{}
	if s.Axis != trainrun.AxisEpoch || s.Across == nil {
		return out
	}
	for key, pt := range map[string]*trainrun.Point{"last": &s.Last, "min": s.Min, "max": s.Max} {
		if pt == nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(s.Points, pt.X, func(o trainrun.Point, x int64) int { return cmp.Compare(o.X, x) })
		if ok && s.Across[i] >= 0 {
			out[key] = s.Across[i]
		}
	}
	return out
}

// across gives the steps that are known of a curve over epochs.
func (m *previousMetric) across() map[int64]int64 {
	out := map[int64]int64{}
	for _, at := range []struct {
		x    int64
		step *int64
	}{{m.MinStep, m.AtSteps.Min}, {m.MaxStep, m.AtSteps.Max}, {m.LastStep, m.AtSteps.Last}} {
		if at.step != nil {
			out[at.x] = *at.step
		}
	}
	return out
}

// again says that a curve goes on with a further validation of the epoch with which the result ended.
func (m *previousMetric) again(s *trainrun.Series) bool {
	i, ok := slices.BinarySearchFunc(s.Points, m.LastStep, func(o trainrun.Point, x int64) int { return cmp.Compare(o.X, x) })
	return ok && m.AtSteps.Last != nil && s.Across[i] > *m.AtSteps.Last && !slices.Contains(s.Across, -1)
}

// ascends says that the steps grow from epoch to epoch, in what is known of the result and in the curve that goes on.
func (m *previousMetric) ascends(s *trainrun.Series) bool {
	known := m.across()
	for i := range s.Points {
		epoch, step := s.Points[i].X, s.Across[i]
		if s.Axis == trainrun.AxisStep {
			epoch, step = step, epoch
		}
		if epoch >= 0 {
			known[epoch] = step // the last one of an epoch
		}
	}
	before := int64(math.MinInt64)
	for _, epoch := range slices.Sorted(maps.Keys(known)) {
		if known[epoch] <= before {
			return false
		}
		before = known[epoch]
	}
	return true
}

// toSteps puts a metric of the result on the axis of steps. It answers true when it has values whose steps it does not name.
func (p *previous) toSteps(name string) (unplaced bool) {
	m, nan := p.Metrics[name], p.NonFinite[name]
	told := m.Points + nan.Count
	if b := p.Best; b != nil && b.Metric == name && b.Axis == m.Axis {
		if step, ok := m.across()[b.Step]; ok {
			b.Step, b.Axis = step, trainrun.AxisStep.String()
		}
	}
	on := previousMetric{Axis: trainrun.AxisStep.String(), Final: m.Final, Sampled: m.Sampled, untabled: true, LastStep: -1}
	known := map[int64]bool{}
	for _, at := range []struct {
		v    *metricValue
		step *int64
	}{{m.Min, m.AtSteps.Min}, {m.Max, m.AtSteps.Max}, {m.Last, m.AtSteps.Last}} {
		if at.step == nil {
			continue
		}
		if finite := isFinite(float64(*at.v)); !known[*at.step] && finite {
			on.Points++
		}
		if known[*at.step] = true; *at.step >= on.LastStep {
			on.Last, on.LastStep = at.v, *at.step
		}
	}
	if m.AtSteps.Min != nil {
		on.Min, on.MinStep = m.Min, *m.AtSteps.Min
	}
	if m.AtSteps.Max != nil {
		on.Max, on.MaxStep = m.Max, *m.AtSteps.Max
	}
	p.Metrics[name] = on
	if nan.Count > 0 {
		p.NonFinite[name] = nonFinite{Count: nan.Count}
	}
	return told > int64(len(known))
}
