package trainrun

import "github.com/pathologize/otelcol-train/internal/trainrecord"

// Event is the number of an event. The numbers are in journals: they are never reused.
type Event uint8

// Events that a fold counts.
const (
	EventNone Event = iota
	EventRunStart
	EventEpochEnd
	EventStepEnd
	EventPhaseStart
	EventPhaseEnd
	EventCheckpointSave
	EventArtifact
	EventRunFailure
	EventRunEnd
	EventHeartbeat
	EventLog
	eventCount
)

var eventNames = [eventCount]string{
	EventRunStart:       trainrecord.EventRunStart,
	EventEpochEnd:       trainrecord.EventEpochEnd,
	EventStepEnd:        trainrecord.EventStepEnd,
	EventPhaseStart:     trainrecord.EventPhaseStart,
	EventPhaseEnd:       trainrecord.EventPhaseEnd,
	EventCheckpointSave: trainrecord.EventCheckpointSave,
	EventArtifact:       trainrecord.EventArtifact,
	EventRunFailure:     trainrecord.EventRunFailure,
	EventRunEnd:         trainrecord.EventRunEnd,
	EventHeartbeat:      trainrecord.EventHeartbeat,
	EventLog:            trainrecord.EventLog,
}

// String gives the name as a line spells it, "" when there is none.
func (e Event) String() string {
	if e >= eventCount {
		return ""
	}
	return eventNames[e]
}

// eventOf answers EventNone for an event that no fold counts.
func eventOf(name string) Event {
	for e := EventRunStart; e < eventCount; e++ {
		if eventNames[e] == name {
			return e
		}
	}
	return EventNone
}

// Names of phases in Durations: the duration keys of the registry without _s.
const (
	phaseEpoch     = "epoch"
	phaseRun       = "run"
	phaseOther     = trainrecord.Other
	phaseDataWait  = "data_wait"
	durationSuffix = "_s"
	durationPhase  = "phase_s"
)

// phaseNames are the phases that a total is kept for. The index is in journals: names are only appended.
var phaseNames = [...]string{
	trainrecord.PhaseTrain, trainrecord.PhaseValidation, trainrecord.PhaseTest, trainrecord.PhaseCheckpoint,
	trainrecord.PhaseDataLoad, phaseDataWait, phaseEpoch, phaseRun, phaseOther,
}

func phaseIndex(name string) (int, bool) {
	for i, n := range phaseNames {
		if n == name {
			return i, true
		}
	}
	return 0, false
}
