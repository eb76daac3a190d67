package trainrun

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// Sighting is the reduced form of a record that the Live layer needs: what it tells of the course of its run, and nothing of
// what was learned. It may be stored: its texts are without secrets.
type Sighting struct {
	RunID     string
	Event     Event
	ID        ID
	Attempt   int64 // >= 1, as the record has it
	Rank      int64
	Seq       int64
	Part      string
	Framework string // of the registry's list, "" when the record has none
	Phase     string // as a derived metric spells it, "" when the record has none
	Time      int64  // event time, else the time at which it was observed, in Unix nanoseconds
	Arrived   Moment

	Epoch, Step, Samples, Planned, Completed Int
	Progress                                 float64 // finished epochs; negative = none

	// Durations in seconds; negative = none.
	EpochS, TrainS, ValidationS, PhaseS, BatchS, DataWaitS, RunS float64

	Trace  pcommon.TraceID
	Span   pcommon.SpanID
	Source *Source
	Detail *SightDetail // of starts, ends and failures
}

// Moment is a point in time: by the wall clock, and by one that never goes back.
type Moment struct{ Wall, Mono int64 }

// Source is the resource of records. It is shared: do not change it.
type Source struct{ Attributes pcommon.Map }

// SourceOf copies a resource without the secrets in it, and says how many there were.
func SourceOf(attrs pcommon.Map) (s *Source, secrets int64) {
	s = &Source{Attributes: pcommon.NewMap()}
	attrs.CopyTo(s.Attributes)
	w := secret.Walker{URLs: secret.UserInfo}
	w.Map(s.Attributes)
	return s, w.Masked
}

// Replaced counts the values of a record that are not kept as they came: secrets, and what is not on a closed list.
type Replaced struct{ Secrets, OffList int64 }

// SightDetail is what starts, ends and failures tell besides.
type SightDetail struct {
	Family              string // task family
	Emits               Emits
	Extra               []string // values of parameters, in the order they were asked for
	Outcome, StopReason string
	ErrorType, Message  string
}

// Emits says which signals a trainer sends by itself.
type Emits uint8

// Signals that a trainer may send by itself.
const (
	EmitsMetrics Emits = 1 << iota
	EmitsTraces
)

// EmitsOf reads a list of signals; a word off the list means none.
func EmitsOf(words []string) Emits {
	var e Emits
	for _, w := range words {
		switch w {
		case trainrecord.EmitsMetrics:
			e |= EmitsMetrics
		case trainrecord.EmitsTraces:
			e |= EmitsTraces
		default: // no signal that is derived
		}
	}
	return e
}

// sighter reduces a record, and counts what it replaces.
type sighter struct {
	Sighting

	body    pcommon.Map
	masker  reducer
	offList int64
}

// Sight reduces a record. The observed time stands in for an event time that it has not. extra are the paths of parameters
// whose values are wanted. It answers false for what is no record of a run.
func Sight(r *trainrecord.Record, observed pcommon.Timestamp, arrived Moment, extra [][]string) (Sighting, Replaced, bool) {
	event := eventOf(r.Event)
	if event == EventNone || r.RunID == "" || r.Error == trainrecord.ReasonTorn {
		return Sighting{}, Replaced{}, false
	}
	s := sighter{body: r.Body, masker: reducer{secrets: secret.Walker{URLs: secret.UserInfo}}}
	s.Sighting = Sighting{
		RunID: s.masker.runID(r.RunID), Event: event, ID: identity(r), Attempt: min(max(r.Attempt, 1), maxAttempt), Rank: min(max(r.Rank, 0), maxAttempt),
		Seq: min(max(r.Seq, 0), maxSeq), Part: s.masker.label(r.Part), Framework: s.bounded("framework", r.Framework), Phase: s.livePhase(r.Phase),
		Time: nanos(r.Time), Arrived: arrived, Progress: noProgress, Trace: r.TraceID, Span: r.SpanID,
	}
	if s.Time == 0 {
		s.Time = nanos(observed)
	}
	if s.Time == 0 {
		s.Time = arrived.Wall
	}
	s.ID.RunID = s.masker.runID(s.ID.RunID)
	s.noDurations()
	s.read(extra)
	return s.Sighting, Replaced{Secrets: s.masker.secrets.Masked, OffList: s.offList}, true
}

func (s *Sighting) noDurations() {
	s.EpochS, s.TrainS, s.ValidationS, s.PhaseS, s.BatchS, s.DataWaitS, s.RunS = -1, -1, -1, -1, -1, -1, -1
}

// bounded spells a value as derived metrics do.
func (s *sighter) bounded(set, value string) string {
	kept := trainrecord.Load().Bounded(set, value)
	if kept != value {
		s.offList++
	}
	return kept
}

// livePhase spells a phase as derived metrics do.
func (s *sighter) livePhase(name string) string {
	switch name {
	case "", trainrecord.PhaseTrain, trainrecord.PhaseValidation, trainrecord.PhaseTest, trainrecord.PhaseCheckpoint,
		trainrecord.PhaseDataLoad, trainrecord.PhaseEpoch, trainrecord.Other:
		return name
	default:
		s.offList++
		return trainrecord.Other
	}
}

// read takes what the event's body tells.
func (s *sighter) read(extra [][]string) {
	body := s.body
	switch s.Event {
	case EventRunStart:
		s.Planned = whole(body, trainrecord.BodyPlannedEpochs)
		s.Detail = &SightDetail{
			Family: s.bounded(trainrecord.BodyTaskFamily, text(body, trainrecord.BodyTaskFamily, maxLabel)),
			Emits:  emits(body), Extra: s.paramsAt(extra),
		}
	case EventEpochEnd, EventStepEnd, EventPhaseStart, EventPhaseEnd:
		s.Epoch, s.Step = whole(body, trainrecord.BodyEpoch), whole(body, trainrecord.BodyStep)
		s.Samples, s.Planned = whole(body, trainrecord.BodySamples), whole(body, trainrecord.BodyPlannedEpochs)
		if v, ok := body.Get(trainrecord.BodyEpochProgress); ok {
			if p, ok := trainrecord.Number(v); ok && p >= 0 && p <= maxCoord {
				s.Progress = p
			}
		}
		s.durations(body)
	case EventRunEnd:
		s.end()
	case EventRunFailure:
		s.Detail = &SightDetail{ErrorType: s.unmasked(trainrecord.BodyErrorType, maxLabel), Message: s.unmasked(trainrecord.BodyMessage, MaxText)}
	default: // they prove that the process lives
	}
}

func (s *sighter) end() {
	s.Completed = whole(s.body, trainrecord.BodyEpochsCompleted)
	s.durations(s.body)
	d := &SightDetail{Outcome: text(s.body, trainrecord.BodyOutcome, maxLabel), StopReason: s.unmasked(trainrecord.BodyStopReason, maxLabel)}
	switch d.Outcome {
	case trainrecord.OutcomeSuccess, trainrecord.OutcomeFailed, trainrecord.OutcomeAborted:
	default: // an end without a known outcome is an end all the same
		if d.Outcome != "" && d.Outcome != trainrecord.OutcomeUnknown {
			s.offList++
		}
		d.Outcome = trainrecord.OutcomeUnknown
	}
	s.Detail = d
}

func (s *Sighting) durations(body pcommon.Map) {
	m, ok := object(body, trainrecord.BodyDurations)
	if !ok {
		return
	}
	for key, v := range m.All() {
		x, ok := trainrecord.LargeNumber(v)
		if !ok || !(x >= 0 && x <= maxSeconds) {
			continue // no time takes that long
		}
		switch key {
		case trainrecord.DurationEpoch:
			s.EpochS = x
		case trainrecord.DurationTrain:
			s.TrainS = x
		case trainrecord.DurationValidation:
			s.ValidationS = x
		case trainrecord.DurationPhase:
			s.PhaseS = x
		case trainrecord.DurationBatch:
			s.BatchS = x
		case trainrecord.DurationDataWait:
			s.DataWaitS = x
		case trainrecord.DurationRun:
			s.RunS = x
		default: // no phase of its own
		}
	}
}

// whole reads a coordinate or count.
func whole(m pcommon.Map, key string) Int {
	n := integer(m, key)
	if n.V < 0 || n.V > maxCoord {
		return Int{}
	}
	return n
}

// unmasked gives a text of the body without the secrets in it.
func (s *sighter) unmasked(key string, n int) string {
	told := s.masker.secrets.Text(text(s.body, key, maxScanned))
	if len(told) > n {
		told = trainrecord.CutText([]byte(told), n)
	}
	return told
}

func emits(body pcommon.Map) Emits {
	v, ok := body.Get(trainrecord.BodyEmits)
	if !ok || v.Type() != pcommon.ValueTypeSlice {
		return 0
	}
	var words []string
	for _, e := range v.Slice().All() {
		words = append(words, e.AsString())
	}
	return EmitsOf(words)
}

// paramsAt gives the texts of values in the body, "" where there is none, and without secrets.
func (s *sighter) paramsAt(paths [][]string) []string {
	if len(paths) == 0 {
		return nil
	}
	out := make([]string, len(paths))
	for i, path := range paths {
		m := s.body
		for depth, key := range path {
			v, ok := m.Get(key)
			if !ok {
				break
			}
			if depth == len(path)-1 {
				out[i] = label(s.masker.secrets.Named(strings.Join(path, "."), v.AsString()))
			} else if v.Type() != pcommon.ValueTypeMap {
				break
			} else {
				m = v.Map()
			}
		}
	}
	return out
}

func fromSeconds(s float64) int64 { return int64(math.Round(s * nanosPerSec)) }

func toSeconds(n int64) float64 { return float64(n) / nanosPerSec }
