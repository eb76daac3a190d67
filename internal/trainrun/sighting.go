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

// Replaced counts the values of a record that are not kept as they came: secrets, what is not on a closed list, and what is left out because it is not
// of its type or range; and its attributes that are not of theirs.
type Replaced struct{ Secrets, OffList, LeftOut, Misfits int64 }

// SightDetail is what starts, ends and failures tell besides.
type SightDetail struct {
	Family              string // task family
	Emits               Emits
	Extra               []string // values of parameters, in the order they were asked for
	Outcome, StopReason string
	ErrorType, Message  string
}

// sighter reduces a record, and counts what it replaces.
type sighter struct {
	Sighting

	body    pcommon.Map
	masker  reducer
	offList int64
	leftOut int64
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
		Seq: min(max(r.Seq, 0), maxSeq), Part: s.masker.part(r.Part), Framework: s.bounded("framework", r.Framework), Phase: s.livePhase(event, r.Phase),
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
	return s.Sighting, Replaced{Secrets: s.masker.secrets.Masked, OffList: s.offList, LeftOut: s.leftOut, Misfits: misfits(r) + s.masker.long}, true
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

// livePhase spells a phase as derived metrics do. Beginnings and ends of a run have none, whatever they are called.
func (s *sighter) livePhase(event Event, name string) string {
	switch name {
	case "", trainrecord.PhaseTrain, trainrecord.PhaseValidation, trainrecord.PhaseTest, trainrecord.PhaseCheckpoint,
		trainrecord.PhaseDataLoad, trainrecord.PhaseEpoch, trainrecord.Other:
		return name
	case trainrecord.PhaseRun:
		if event == EventRunStart || event == EventRunEnd || event == EventRunFailure {
			return ""
		}
	}
	s.offList++
	return trainrecord.Other
}

// read takes what the event's body tells.
func (s *sighter) read(extra [][]string) {
	body := s.body
	switch s.Event {
	case EventRunStart:
		s.Planned = s.integer(trainrecord.BodyPlannedEpochs)
		s.Detail = &SightDetail{
			Family: s.bounded(trainrecord.BodyTaskFamily, s.text(trainrecord.BodyTaskFamily, maxLabel)),
			Emits:  s.emits(), Extra: s.paramsAt(extra),
		}
	case EventEpochEnd, EventStepEnd, EventPhaseStart, EventPhaseEnd:
		s.Epoch, s.Step = s.integer(trainrecord.BodyEpoch), s.integer(trainrecord.BodyStep)
		s.Samples, s.Planned = s.integer(trainrecord.BodySamples), s.integer(trainrecord.BodyPlannedEpochs)
		if v, ok := body.Get(trainrecord.BodyEpochProgress); ok {
			if p, ok := trainrecord.BodyNumber(trainrecord.BodyEpochProgress, v); ok {
				s.Progress = p
			} else if v.Type() != pcommon.ValueTypeEmpty {
				s.leftOut++
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
	s.Completed = s.integer(trainrecord.BodyEpochsCompleted)
	s.durations(s.body)
	d := &SightDetail{Outcome: s.text(trainrecord.BodyOutcome, maxLabel), StopReason: s.unmasked(trainrecord.BodyStopReason, maxLabel)}
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

func (s *sighter) durations(body pcommon.Map) {
	v, ok := body.Get(trainrecord.BodyDurations)
	if !ok || v.Type() == pcommon.ValueTypeEmpty {
		return
	}
	if v.Type() != pcommon.ValueTypeMap {
		s.leftOut++
		return
	}
	m := v.Map()
	for key, v := range m.All() {
		x, ok := trainrecord.LargeNumber(v)
		if !ok || !(x >= 0 && x <= maxSeconds) {
			s.leftOut++ // no time takes that long
			continue
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

// integer counts one that is left out.
func (s *sighter) integer(key string) Int {
	n := integer(s.body, key)
	if v, ok := s.body.Get(key); ok && !n.Set && v.Type() != pcommon.ValueTypeEmpty {
		s.leftOut++
	}
	return n
}

// text counts a value of another type, which is left out.
func (s *sighter) text(key string, n int) string {
	if v, ok := s.body.Get(key); ok && v.Type() != pcommon.ValueTypeEmpty && !trainrecord.BodyText(key, v) {
		s.leftOut++
	}
	return text(s.body, key, n)
}

// unmasked gives a text of the body without the secrets in it.
func (s *sighter) unmasked(key string, n int) string {
	told := s.masker.secrets.Text(s.text(key, maxScanned))
	if len(told) > n {
		told = trainrecord.CutText([]byte(told), n)
	}
	return told
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
				out[i] = label(s.masker.secrets.Named(strings.Join(path, "."), v.AsString()), &s.leftOut)
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
