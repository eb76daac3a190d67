package trainrun

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// told reads what a line tells that is no run.start: parameters, and what is planned.
func (r *reducer) told() {
	r.e.PlannedEpochs = r.integer(r.body, trainrecord.BodyPlannedEpochs)
	r.e.PlannedSteps = r.integer(r.body, trainrecord.BodyPlannedSteps)
	p, said := r.params(), r.label(r.event)
	if p != nil || said != "" {
		r.e.Detail = &Detail{Params: p, Said: said}
	}
}

func (r *reducer) params() Tree {
	m, ok := r.object(r.body, trainrecord.BodyParams)
	if !ok {
		return nil
	}
	own := pcommon.NewMap() // the record is not ours to change
	m.CopyTo(own)
	r.secrets.URLs = secret.WholeURL
	r.secrets.Map(own)
	r.secrets.URLs = secret.UserInfo
	t := treeReader{}
	tree := t.object(own, 0)
	r.e.Cut += t.cut
	return tree
}

func (r *reducer) start() {
	d := Detail{Params: r.params()}
	if m, ok := r.object(r.body, trainrecord.BodyObjective); ok {
		d.Objective = r.objective(m)
	}
	if m, ok := r.object(r.body, trainrecord.BodyResumedFrom); ok {
		d.ResumedEpoch = r.integer(m, trainrecord.BodyEpoch)
	}
	if m, ok := r.object(r.body, trainrecord.BodyGit); ok {
		d.Git = &Git{Commit: r.clean(m, trainrecord.InnerCommit, maxLabel), Branch: r.clean(m, trainrecord.InnerBranch, maxLabel)}
		if v, ok := r.value(m, trainrecord.InnerDirty, pcommon.ValueTypeBool); ok {
			dirty := v.Bool()
			d.Git.Dirty = &dirty
		}
	}
	if v, ok := r.body.Get(trainrecord.BodyCommand); ok {
		r.secrets.URLs = secret.WholeURL
		d.Command = r.secrets.Command(v)
		r.secrets.URLs = secret.UserInfo
		if len(d.Command) > MaxText {
			d.Command = trainrecord.CutText([]byte(d.Command), MaxText)
		}
	}
	if m, ok := r.object(r.body, trainrecord.BodyVersions); ok {
		d.Versions = r.versions(m)
	}
	d.TaskFamily = trainrecord.Load().Bounded(trainrecord.BodyTaskFamily, r.text(r.body, trainrecord.BodyTaskFamily, maxLabel))
	r.e.Detail = &d
}

func (r *reducer) versions(m pcommon.Map) []Pair {
	out := make([]Pair, 0, min(m.Len(), maxVersions))
	for name, v := range m.All() {
		switch v.Type() {
		case pcommon.ValueTypeMap, pcommon.ValueTypeSlice, pcommon.ValueTypeEmpty:
			continue
		default:
			out = append(out, Pair{
				Name: label(r.secrets.Text(name), &r.e.Cut), Value: label(r.secrets.Named(name, v.AsString()), &r.e.Cut),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return cmp.Compare(a.Name, b.Name) })
	out = slices.CompactFunc(out, func(a, b Pair) bool { return a.Name == b.Name })
	if len(out) > maxVersions {
		r.e.Cut += int64(len(out) - maxVersions)
		out = out[:maxVersions]
	}
	return out
}
