package trainrun

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// reducer reads the body of one record into its entry.
type reducer struct {
	*Reducer
	e     *Entry
	body  pcommon.Map
	phase string
	event string // as the trainer wrote it, where it is off the list
	long  int64  // attributes that were cut

	fields  [rowKeys]pcommon.Value // of the body, as far as it has them
	secrets secret.Walker
}

func (r *reducer) read() {
	r.find()
	switch r.e.Event {
	case EventRunStart:
		r.start()
		r.coordinates()
	case EventEpochEnd:
		r.progress()
		r.epochDetail()
	case EventPhaseEnd:
		r.progress()
		if m, ok := r.object(r.body, trainrecord.BodyBest); ok { // some frameworks tell their best in the row of an evaluation
			if o := r.objective(m); o != nil {
				r.detail().Best = o
			}
		}
		r.habit()
	case EventStepEnd:
		r.progress()
		r.habit()
	case EventPhaseStart:
		r.progress()
	case EventCheckpointSave:
		r.coordinates()
		r.e.Detail = &Detail{Checkpoint: r.checkpoint(r.body)}
	case EventArtifact:
		r.e.Detail = &Detail{Artifacts: []Artifact{r.artifact(r.body)}}
	case EventRunFailure:
		r.coordinates()
		r.e.Detail = &Detail{
			ErrorType: r.clean(r.body, trainrecord.BodyErrorType, maxLabel),
			Message:   r.clean(r.body, trainrecord.BodyMessage, MaxText),
			Stack:     r.clean(r.body, trainrecord.BodyStack, MaxText),
		}
	case EventRunEnd:
		r.progress()
		r.end()
	case EventLog:
		r.told()
	default: // heartbeat only counts
	}
}

func (r *reducer) epochDetail() {
	if m, ok := r.object(r.body, trainrecord.BodyCheckpoint); ok {
		r.detail().Checkpoint = r.checkpoint(m)
	}
	if m, ok := r.object(r.body, trainrecord.BodyBest); ok {
		if o := r.objective(m); o != nil {
			r.detail().Best = o
		}
	}
	r.habit()
}

// detail is that of the entry, which most rows have none of.
func (r *reducer) detail() *Detail {
	if r.e.Detail == nil {
		r.e.Detail = &Detail{}
	}
	return r.e.Detail
}

// habit reads the objective that a framework has by itself; what a trainer calls its best goes before it.
func (r *reducer) habit() {
	m, ok := r.inside(rowObjective)
	if !ok {
		return
	}
	if o := r.objective(m); o != nil {
		r.detail().Habit = o
	}
}

// value gives the value of a key that is of one type, and counts one of another, which is left out.
func (r *reducer) value(m pcommon.Map, key string, want pcommon.ValueType) (pcommon.Value, bool) {
	v, ok := m.Get(key)
	if !ok || v.Type() == pcommon.ValueTypeEmpty {
		return pcommon.Value{}, false
	}
	if v.Type() != want {
		r.e.Cut++
		return pcommon.Value{}, false
	}
	return v, true
}

// object is value of an object.
func (r *reducer) object(m pcommon.Map, key string) (pcommon.Map, bool) {
	if v, ok := r.value(m, key, pcommon.ValueTypeMap); ok {
		return v.Map(), true
	}
	return pcommon.Map{}, false
}

// text gives the text of a key, and counts a value of another type, which is left out.
func (r *reducer) text(m pcommon.Map, key string, n int) string {
	if v, ok := m.Get(key); ok && v.Type() != pcommon.ValueTypeEmpty && !trainrecord.BodyText(key, v) {
		r.e.Cut++
	}
	return text(m, key, n)
}

// clean gives the text of a key without the secrets in it. One that is cut is counted, but for messages and the like, which often are.
func (r *reducer) clean(m pcommon.Map, key string, n int) string {
	s := r.secrets.Text(r.text(m, key, maxScanned))
	if len(s) > n {
		s = trainrecord.CutText([]byte(s), n)
		if n < MaxText {
			r.e.Cut++
		}
	}
	return s
}

func (r *reducer) end() {
	d := Detail{
		StopReason:      r.clean(r.body, trainrecord.BodyStopReason, maxLabel),
		EpochsCompleted: r.integer(r.body, trainrecord.BodyEpochsCompleted),
	}
	switch o := r.text(r.body, trainrecord.BodyOutcome, maxScanned); o {
	case trainrecord.OutcomeSuccess, trainrecord.OutcomeFailed, trainrecord.OutcomeAborted:
		d.Outcome = o
	default: // an end without a known outcome is an end all the same
		d.Outcome = trainrecord.OutcomeUnknown
		d.Said = label(r.secrets.Text(o), &r.e.Cut)
	}
	if v, ok := r.value(r.body, trainrecord.BodyArtifacts, pcommon.ValueTypeSlice); ok {
		for _, a := range v.Slice().All() {
			if a.Type() != pcommon.ValueTypeMap || len(d.Artifacts) == maxListed {
				r.e.Cut++
				continue
			}
			d.Artifacts = append(d.Artifacts, r.artifact(a.Map()))
		}
	}
	r.e.Detail = &d
}

func (r *reducer) objective(m pcommon.Map) *Objective {
	o := Objective{Metric: r.clean(m, trainrecord.BodyMetric, maxName), Mode: r.text(m, trainrecord.InnerMode, maxLabel)}
	if o.Metric == "" {
		return nil
	}
	if o.Mode != ModeMin && o.Mode != ModeMax {
		if o.Mode != "" {
			r.e.Cut++
		}
		o.Mode = ""
	}
	return &o
}

func (r *reducer) artifact(m pcommon.Map) Artifact {
	return Artifact{
		Role: r.clean(m, trainrecord.BodyRole, maxLabel), Path: r.clean(m, trainrecord.BodyPath, MaxText),
		SHA256: r.clean(m, trainrecord.BodySHA256, maxLabel), Size: pointer(r.integer(m, trainrecord.BodySize)),
	}
}

func (r *reducer) checkpoint(m pcommon.Map) *Checkpoint {
	c := Checkpoint{
		Path: r.clean(m, trainrecord.BodyPath, MaxText), Kind: r.text(m, trainrecord.BodyKind, maxLabel),
		SHA256: r.clean(m, trainrecord.BodySHA256, maxLabel), Size: pointer(r.integer(m, trainrecord.BodySize)),
		Metric: r.clean(m, trainrecord.BodyMetric, maxName),
	}
	c.Kind = trainrecord.Load().Bounded("checkpoint_kind", c.Kind)
	if v, ok := m.Get(trainrecord.BodyValue); ok {
		if x, ok := trainrecord.LargeNumber(v); ok {
			c.Value = &x
		} else if v.Type() != pcommon.ValueTypeEmpty {
			r.e.Cut++
		}
	}
	return &c
}

func pointer(n Int) *int64 {
	if !n.Set {
		return nil
	}
	return &n.V
}
