package trainrun

import "go.opentelemetry.io/collector/pdata/pcommon"

// TransitionKind says what happened to an attempt.
type TransitionKind uint8

// What happens to attempts. Of those that count only what is live is told, unless said otherwise.
const (
	Opened       TransitionKind = iota // it is announced as active
	StateChanged                       // it fell silent, or came back
	Started                            // its run.start is known, history or not
	PhaseStarted                       // a phase began
	PhaseTime                          // Seconds were spent in Phase
	PhaseDone                          // a phase is over, history or not; Seconds count when Counts
	PhaseLost                          // more phases were open than are remembered
	Batch                              // a step took Seconds
	DataWait                           // a step waited for Seconds
	DataWaitTime                       // an epoch or a phase waited for Seconds in all
	Samples                            // Count samples in Phase
	Mismatch                           // an epoch reported fewer samples than its steps
	Ended                              // it is over, history or not; it counts when the attempt was opened
	Settled                            // it is over, and late records had their time
	Evicted                            // it was given up because there were too many
)

// Transition is what happened to an attempt.
type Transition struct {
	Kind    TransitionKind
	Course  *Course
	Phase   string
	Seconds float64
	Count   int64
	Counts  bool
	Span    *PhaseSpan // of PhaseDone, nil when it has none
}

// PhaseSpan is the time of a phase.
type PhaseSpan struct {
	Start, End int64
	Epoch      Int
	Part       string
	Source     string
	Anchor     int64 // what its id is anchored at: the time of its start record, else of the record that ended it
	FromStart  bool
	Error      bool // it was open when the attempt failed
	Backwards  bool // the end was before the start
}

// foreign says that a trace is the trainer's own.
func (l *Live) foreign(c *Course, trace pcommon.TraceID) bool {
	return !trace.IsEmpty() && trace != l.derivedTrace(c)
}
