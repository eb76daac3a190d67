package trainview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Where an objective comes from.
const (
	fromFlag     = "flag"
	fromRecord   = "record"
	fromProfile  = "profile"
	fromInferred = "inferred"
)

// chooseObjective decides what is best: the flag, the record, the framework's habit, else the only candidate.
func (v *view) chooseObjective() {
	if v.o.Objective != nil {
		v.objective = &Objective{Metric: v.o.Objective.Metric, Goal: v.o.Objective.Goal, From: fromFlag}
		return
	}
	o := v.st.Objective
	if v.part != nil {
		o = v.part.Objective
	}
	if o != nil {
		from := map[string]string{trainrun.ObjectiveRecord: fromRecord, trainrun.ObjectiveReported: fromProfile}[o.From]
		v.objective = &Objective{Metric: o.Metric, Goal: o.Mode, From: cmp.Or(from, fromInferred)}
		return
	}
	candidates, validations := 0, 0
	for i := range v.st.Series {
		s := &v.st.Series[i]
		if s.Part != v.partName || s.Shared || !strings.HasPrefix(s.Name, valPrefix) {
			continue
		}
		validations++
		if _, ok := trainrun.Goal(s.Name); ok {
			candidates++
		}
	}
	switch {
	case !v.trail.progress:
		v.why("objective", whyNotStarted)
	case candidates > 1:
		v.why("objective", whySeveral)
	case validations > 0 && candidates == 0:
		v.why("objective", whyNoGoal)
	default:
		v.why("objective", whyNoValMetric)
	}
}

// best finds the best point of the objective and its checkpoint.
func (v *view) best() {
	o := v.objective
	if o == nil {
		v.why("best", whyNoObjective)
		return
	}
	v.doc.Objective = &Objective{Metric: Safe(o.Metric, maxName), Goal: o.Goal, From: o.From}
	code := whyNoFinite
	if o.From == fromFlag && !v.isMeasured(o.Metric) { // what a record names may still come
		code = whyAbsent
	}
	for i := range v.curves {
		c := &v.curves[i]
		if c.Name != o.Metric || c.Part != v.partName || len(c.points) == 0 {
			continue
		}
		at := bestOf(c.points, o.Goal)
		x := int64(c.points[at].x)
		b := &Best{Metric: v.doc.Objective.Metric, Part: Safe(v.partName, maxName), Goal: o.Goal, Value: Number(c.points[at].y)}
		switch c.Axis {
		case trainrun.AxisEpoch:
			b.Epoch = &x
		case trainrun.AxisStep:
			b.Step = &x
		default: // the place in the order is neither
		}
		v.doc.Best = b
		v.checkpoint(c, trainrun.Point{X: x, V: c.points[at].y, Time: c.times[at]})
		return
	}
	v.why("best", v.orNotStarted(code))
}

func (v *view) isMeasured(name string) bool {
	return slices.ContainsFunc(v.curves, func(c curve) bool { return c.Name == name && c.Part == v.partName })
}

// measured names what there is, where what was asked for is not: no curve is the objective, or none is shown that was wanted.
func (v *view) measured() {
	known := v.objective != nil && v.isMeasured(v.objective.Metric) || v.doc.Why["objective"] == whySeveral
	if known && (len(v.o.Metrics) == 0 || len(v.doc.Metrics) > 0) {
		return
	}
	var names []string
	for i := range v.curves {
		if c := &v.curves[i]; c.Part == v.partName && !strings.HasPrefix(c.Name, trainrun.RatePrefix) && !c.empty() {
			names = append(names, Safe(c.Name, maxName))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	v.doc.Measured, v.doc.MeasuredOmitted = names[:min(len(names), maxMeasured)], max(len(names)-maxMeasured, 0)
}

// checkpoint names the file of the best point, as the fold finds it.
func (v *view) checkpoint(c *curve, p trainrun.Point) {
	saved := v.fold.CheckpointAt(c.Series, p)
	if saved == nil || saved.Path == "" {
		code := whyNoCheckpoint
		if v.st.Checkpoints.Count > 0 {
			code = whyNoneAtBest
		}
		v.why("best.checkpoint", code)
		return
	}
	out := &Checkpoint{Path: Safe(saved.Path, maxPath)}
	if saved.Kind != "" {
		out.Kind = ptr(Safe(saved.Kind, maxName))
	}
	v.doc.Best.Checkpoint = out
	found := FoundOutside
	if v.ev.Look != nil {
		found = v.ev.Look(saved.Path)
	}
	switch found {
	case FoundOutside, FoundHidden:
		v.why("best.checkpoint.exists", whyOutside)
	case FoundMissing:
		out.Exists = ptr(false)
		v.warn(Warning{Code: warnMissing})
	case FoundEmpty:
		out.Exists = ptr(true)
		v.warn(Warning{Code: warnEmpty})
	case FoundThere:
		out.Exists = ptr(true)
	}
}
