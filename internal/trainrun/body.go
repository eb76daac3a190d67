package trainrun

import (
	"math"
	"slices"
	"strings"

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

	secrets secret.Walker
}

func (r *reducer) read() {
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

func (r *reducer) coordinates() {
	r.e.Epoch = r.integer(r.body, trainrecord.BodyEpoch)
	r.e.Step = r.integer(r.body, trainrecord.BodyStep)
	r.e.PlannedEpochs = r.integer(r.body, trainrecord.BodyPlannedEpochs)
	r.e.PlannedSteps = r.integer(r.body, trainrecord.BodyPlannedSteps)
	if v, ok := r.body.Get(trainrecord.BodyEpochProgress); ok {
		if p, ok := trainrecord.BodyNumber(trainrecord.BodyEpochProgress, v); ok {
			r.e.Progress = p
		} else if v.Type() != pcommon.ValueTypeEmpty {
			r.e.Cut++
		}
	}
}

func (r *reducer) progress() {
	r.coordinates()
	r.measurements()
	r.durations()
}

func (r *reducer) measurements() {
	m, measured := r.object(r.body, trainrecord.BodyMeasurements)
	rates, rated := r.object(r.body, trainrecord.BodyLearningRate)
	masked := r.secrets.Masked
	if rated && (r.e.Event == EventEpochEnd || r.e.Event == EventStepEnd) {
		r.values(rates, true)
	}
	if measured {
		r.values(m, false)
	}
	told := len(r.e.Values)
	r.e.Values = sortValues(r.e.Values)
	if r.secrets.Masked > masked {
		r.e.Cut += int64(told - len(r.e.Values)) // names that differed in a secret
	}
}

// RatePrefix begins the names of learning rates; the parameter group follows.
const RatePrefix = "lr/"

// values reads numbers by name, which may be those of learning rates. Of equal names the last counts.
func (r *reducer) values(m pcommon.Map, rates bool) {
	r.e.Values = slices.Grow(r.e.Values, min(m.Len(), maxValues))
	most := maxName
	if rates {
		most -= len(RatePrefix)
	}
	for name, v := range m.All() {
		x, ok := trainrecord.LargeNumber(v)
		if !ok || name == "" || len(name) > most || len(r.e.Values) == maxValues {
			r.e.Cut++
			continue
		}
		if rates {
			name = r.rateName(name)
		}
		r.e.Values = append(r.e.Values, Value{Name: r.secrets.Text(name), V: x})
	}
}

func (r *reducer) durations() {
	m, ok := r.object(r.body, trainrecord.BodyDurations)
	if !ok {
		return
	}
	var sums [len(phaseNames)]int64
	for key, v := range m.All() {
		name, isDuration := strings.CutSuffix(key, durationSuffix)
		if key == durationPhase {
			name = r.phaseName()
		}
		i, known := phaseIndex(name)
		if !known || !isDuration || v.Type() == pcommon.ValueTypeEmpty {
			continue
		}
		seconds, ok := trainrecord.LargeNumber(v)
		if !ok || !(seconds >= 0 && seconds <= maxSeconds) {
			r.e.Cut++ // no time takes that long
			continue
		}
		sums[i] = int64(math.Round(seconds * nanosPerSec))
	}
	for i, n := range sums {
		if n > 0 {
			r.e.Durations = append(r.e.Durations, Duration{Phase: phaseNames[i], Nanos: n})
		}
	}
}

// phaseName is the phase that phase_s belongs to.
func (r *reducer) phaseName() string {
	if _, ok := phaseIndex(r.phase); ok && r.phase != phaseRun {
		return r.phase
	}
	return phaseOther
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
	m, ok := r.object(r.body, trainrecord.BodyObjective)
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
