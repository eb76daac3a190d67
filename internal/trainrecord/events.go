package trainrecord

import (
	"fmt"
	"strings"
)

// eventKind numbers the events, so that a record's is looked up once.
type eventKind int

const noEvent eventKind = -1

// events holds both spellings of each event.
var events = [...]struct{ line, name string }{
	{EventRunStart, EventName(EventRunStart)}, {EventEpochEnd, EventName(EventEpochEnd)}, {EventStepEnd, EventName(EventStepEnd)},
	{EventPhaseStart, EventName(EventPhaseStart)}, {EventPhaseEnd, EventName(EventPhaseEnd)},
	{EventCheckpointSave, EventName(EventCheckpointSave)}, {EventArtifact, EventName(EventArtifact)},
	{EventRunFailure, EventName(EventRunFailure)}, {EventRunEnd, EventName(EventRunEnd)}, {EventHeartbeat, EventName(EventHeartbeat)},
	{EventLog, EventName(EventLog)}, {EventStreamStatus, EventName(EventStreamStatus)},
}

// eventOf finds an event in the spelling of a line.
func eventOf[T string | []byte](text T) eventKind {
	for i := range events {
		if len(events[i].line) == len(text) && events[i].line == string(text) {
			return eventKind(i)
		}
	}
	return noEvent
}

// IsEvent tells whether the list of events holds a name, in the spelling of a line.
func IsEvent(event string) bool { return eventOf(event) != noEvent }

// EventMistake says what was written as an event, where it can be repeated in a log, and which ones there are.
func EventMistake(event string) string {
	if !namesEvent(event) {
		return fmt.Sprintf("%s: want one of %s, got a text", KeyEvent, strings.Join(LineEvents(), ", "))
	}
	return fmt.Sprintf("%s: %q, want one of %s", KeyEvent, event, strings.Join(LineEvents(), ", "))
}

// maxEventName is more than the name of an event has.
const maxEventName = 32

// namesEvent tells a name that was meant to be one of the events from a text: logging libraries write whole messages under that key, which may hold a
// secret, and where a text is cut, a secret in it is told by no form any more.
func namesEvent(event string) bool {
	for i := range len(event) {
		if c := event[i] | 0x20; (c < 'a' || c > 'z') && event[i] != '.' && event[i] != '_' && event[i] != '-' {
			return false
		}
	}
	return len(event) <= maxEventName
}

// LineEvents gives the events that a line may have: all but the receiver's own.
func LineEvents() []string {
	names := make([]string, 0, len(events))
	for _, e := range events {
		if e.line != EventStreamStatus {
			names = append(names, e.line)
		}
	}
	return names
}

// otelName gives the OpenTelemetry spelling of an event of the list, "" for another.
func otelName(event string) string {
	if k := eventOf(event); k != noEvent {
		return events[k].name
	}
	return ""
}
