package trainrun

import (
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// rowKey numbers the keys of a body that rows are read for.
type rowKey int

const (
	rowEpoch rowKey = iota
	rowStep
	rowPlannedEpochs
	rowPlannedSteps
	rowProgress
	rowMeasurements
	rowRates
	rowDurations
	rowObjective
	rowKeys
)

// rowKeyOf gives the number of a key, rowKeys for one that rows are not read for.
func rowKeyOf(name string) rowKey {
	switch name {
	case trainrecord.BodyEpoch:
		return rowEpoch
	case trainrecord.BodyStep:
		return rowStep
	case trainrecord.BodyPlannedEpochs:
		return rowPlannedEpochs
	case trainrecord.BodyPlannedSteps:
		return rowPlannedSteps
	case trainrecord.BodyEpochProgress:
		return rowProgress
	case trainrecord.BodyMeasurements:
		return rowMeasurements
	case trainrecord.BodyLearningRate:
		return rowRates
	case trainrecord.BodyDurations:
		return rowDurations
	case trainrecord.BodyObjective:
		return rowObjective
	default:
		return rowKeys
	}
}

// find looks once for what a row is read for. Of a doubled key the first counts.
func (r *reducer) find() {
	for name, v := range r.body.All() {
		if k := rowKeyOf(name); k < rowKeys && r.fields[k] == (pcommon.Value{}) {
			r.fields[k] = v
		}
	}
}

// field gives the value of a key that find found; null is none.
func (r *reducer) field(k rowKey) (pcommon.Value, bool) {
	v := r.fields[k]
	return v, v != (pcommon.Value{}) && v.Type() != pcommon.ValueTypeEmpty
}

// inside is field for an object; a value that is none is left out and counted.
func (r *reducer) inside(k rowKey) (pcommon.Map, bool) {
	v, ok := r.field(k)
	if !ok {
		return pcommon.Map{}, false
	}
	if v.Type() != pcommon.ValueTypeMap {
		r.e.Cut++
		return pcommon.Map{}, false
	}
	return v.Map(), true
}

// count is field for an integer in its range; any other value is left out and counted.
func (r *reducer) count(k rowKey, name string) Int {
	v, ok := r.field(k)
	if !ok {
		return Int{}
	}
	n, ok := trainrecord.BodyInteger(name, v)
	if !ok {
		r.e.Cut++
		return Int{}
	}
	return Int{V: n, Set: true}
}

func (r *reducer) coordinates() {
	r.e.Epoch, r.e.Step = r.count(rowEpoch, trainrecord.BodyEpoch), r.count(rowStep, trainrecord.BodyStep)
	r.e.PlannedEpochs = r.count(rowPlannedEpochs, trainrecord.BodyPlannedEpochs)
	r.e.PlannedSteps = r.count(rowPlannedSteps, trainrecord.BodyPlannedSteps)
	if v, ok := r.field(rowProgress); ok {
		if p, ok := trainrecord.BodyNumber(trainrecord.BodyEpochProgress, v); ok {
			r.e.Progress = p
		} else {
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
	m, measured := r.inside(rowMeasurements)
	rates, rated := r.inside(rowRates)
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
	m, ok := r.inside(rowDurations)
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
