package trainrun

// State is what the records of a run prove. Absent numbers are nil, absent texts empty, absent times 0. Times are event
// times in Unix nanoseconds, never times of arrival. All lists have one order that does not depend on arrival.
type State struct {
	RunID string

	// Outcome is success, failed or aborted, or "" while no record says how the run ended. OutcomeFrom says what it
	// rests on: end (a run.end of the newest attempt), failure (a run.failure without an end) or parts (each part has
	// ended, the run itself said nothing: more parts may follow).
	Outcome     string
	OutcomeFrom string
	StopReason  string

	StartedAt    int64 // run.start, else the earliest record
	EndedAt      int64 // the record that gave the outcome
	LastRecordAt int64

	Attempt  int64 // the newest attempt, from 1
	Attempts []Attempt

	Epochs Epochs // of the run itself, that is of part ""
	Steps  Steps
	Parts  []Part // named parts only

	Series    []Series // by part, name, axis
	Finals    []Final  // measurements of run.end, by part and name
	Objective *Objective
	Best      *Best // of part ""

	Durations Durations

	Failures      []Failure // at most MaxFailures, those of the newest attempts and lowest ranks, in order of time
	FailuresTotal int64

	Params        Tree // of the newest attempt that gave any: map[string]any; secrets are masked
	ParamsChanges []ParamsChange
	Masked        int64 // values of params, command, versions, messages and paths written as ***

	Artifacts   []Artifact // by role and path
	Checkpoints Checkpoints

	Git        *Git
	Command    string
	Versions   []Pair // by name
	Framework  string
	TaskFamily string
	Where      Where
	TraceID    [16]byte

	Records   Records
	Sampled   bool         // some records only sample the curve
	Conflict  *Conflict    // set when hosts are in conflict: States tells them apart
	Truncated []Truncation // what a bound left out, by What
	Notes     []Note       // by What and Value
	Partial   bool         // the beginning of a stream is missing
	Headless  bool         // no stream was seen from its beginning, and no start of the run
}

// Attempt is one life of the run's process. The number is that of the records; when records without a number hold several
// run.start, each further one is the next attempt.
type Attempt struct {
	Number    int64
	Host      string // of the lowest rank
	StartedAt int64
	EndedAt   int64  // its last record
	Outcome   string // success, failed, aborted or ""
	// FirstEpoch .. SupersededSteps are those of the run itself, or of its parts when the run has only parts.
	FirstEpoch, LastEpoch *int64
	FirstStep, LastStep   *int64
	SupersededEpochs      int64
	SupersededSteps       int64
}

// Epochs counts from records: Completed is the index of the last completed epoch of the surviving curve plus 1.
type Epochs struct {
	Planned   *int64
	Completed *int64
	Last      *int64 // the highest index with a value of the epoch, or a completed one
	Reported  *int64 // epochs_completed of run.end, as reported
}

// Steps are optimizer steps.
type Steps struct {
	Planned  *int64
	Last     *int64
	FromZero bool `json:"from_zero"` // the training counts from 0: the last planned one is Planned-1
}

// Done says that the planned steps were done.
func (s *Steps) Done() bool {
	if s.Planned == nil || *s.Planned <= 0 || s.Last == nil {
		return false
	}
	return *s.Last >= *s.Planned || s.FromZero && *s.Last == *s.Planned-1
}

// Part is a curve of its own inside the run.
type Part struct {
	Name       string
	Outcome    string // of a run.end with this part
	StopReason string
	Epochs     Epochs
	Steps      Steps
	Objective  *Objective
	Best       *Best
}

// Axis says what the x values of a series are.
type Axis uint8

// The axes. AxisOrder is for values that came without epoch and step: x is the index in the order of the records, or of
// epoch and step where steps begin anew in each epoch.
const (
	AxisEpoch Axis = iota
	AxisStep
	AxisOrder

	// axisPhase is none of a Series: its rows are of the end of a phase that has an epoch and a step, x is the step, and they
	// become a curve over epochs or over steps.
	axisPhase
)

// coarse says that the values are few, one or some an epoch.
func (a Axis) coarse() bool { return a == AxisEpoch || a == axisPhase }

// String gives epoch, step or order.
func (a Axis) String() string {
	return [...]string{"epoch", "step", "order", "epoch"}[min(a, axisPhase)]
}

// Series is one surviving curve: the values of the lowest rank that reported it, without what newer attempts superseded.
type Series struct {
	Part string
	Name string // as reported
	Axis Axis
	// Shared says that another axis of the same part and name exists and owns the name (epoch before step before order):
	// the name of this one gets the suffix _step or _order.
	Shared  bool
	Sampled bool
	Thinned bool // points were left out to bound memory; first, last, least and greatest are there

	Points         []Point // by X; values may be NaN or infinite
	Across         []int64 // of each point the step of a validation over epochs, or the epoch of one over steps; -1 = none, nil = of no point
	batches        []int64 // of each point of a curve in the order of batches its place among them, nil = of no point
	Last           Point   // the point with the greatest X, finite or not
	Min, Max       *Point  // of finite values; the earliest of equals
	Count          int64   // finite points
	NonFinite      int64
	FirstNonFinite *int64 // X of the first one
	OtherRanks     int64  // values of ranks that do not own the series
}

// Point is a value of a series.
type Point struct {
	X    int64
	V    float64
	Time int64 // event time, 0 when the record had none
}

// Final is a measurement of run.end.
type Final struct {
	Part, Name string
	Value      float64
}

// Objective decides which epoch is best.
type Objective struct {
	Metric string
	Mode   string // min or max
	From   string // record (run.start), reported (best of an epoch.end, or a framework's habit) or inferred
}

// Best is the best point of the objective's series, finite, the earliest of equals.
type Best struct {
	Metric, Mode string
	Value        float64
	Axis         Axis
	X            int64
	Time         int64
	// Checkpoint is the last one of kind best at X, else the last one at X.
	Checkpoint *Checkpoint
}

// Durations holds reported and measured times in nanoseconds.
type Durations struct {
	Run         int64        // EndedAt - StartedAt, 0 when one is missing
	RunReported int64        // run_s of run.end
	Phases      []PhaseTotal // by name: train, validation, test, checkpoint, data_wait, ... (registry keys without _s)
}

// PhaseTotal is the sum of the durations of a phase over the run and all its attempts.
type PhaseTotal struct {
	Phase string
	Nanos int64
}

// Failure is a run.failure of any rank.
type Failure struct {
	Attempt, Rank int64
	Part          string
	At            int64
	Type, Message string // Message at most 4 KiB
	Stack         string // at most 4 KiB
	Epoch, Step   *int64
}

// ParamsChange is a parameter that a newer attempt gave another value. The key is the path, joined by points; a missing
// value is Absent.
type ParamsChange struct {
	Attempt  int64
	Key      string
	Old, New Tree
}

// Artifact is a file that the run named.
type Artifact struct {
	Role, Path, SHA256 string
	Size               *int64
}

// Checkpoint is a checkpoint.save, or the checkpoint of an epoch.end.
type Checkpoint struct {
	Path, Kind, SHA256 string
	Size               *int64
	Epoch, Step        *int64
	Metric             string
	Value              *float64
	Attempt            int64
	At                 int64
}

// Checkpoints names those worth a digest.
type Checkpoints struct {
	Last  *Checkpoint // the newest of kind last when the newest of all is of kind best, else that
	Best  *Checkpoint // the newest of kind best
	Count int64
}

// Git is the source revision.
type Git struct {
	Commit, Branch string
	Dirty          *bool
}

// Pair is a named text.
type Pair struct{ Name, Value string }

// Where says where the run took place.
type Where struct {
	Host, Service, Namespace, Job, Pod, Container string
	PID                                           int64
}

// Records says how much was seen.
type Records struct {
	Count    int64
	ByEvent  []EventCount // by event name
	FirstSeq int64        // 0: no record had one
	LastSeq  int64
	Gaps     int64 // missing numbers between the first and the last of each (attempt, rank)
	Rejected int64 // lines that were no records
	Streams  int64 // in which the lowest rank told of the training
	NoTime   int64 // records without event time, lines that were no records left out
}

// EventCount counts the records of an event.
type EventCount struct {
	Event string
	Count int64
}

// Conflict says that rank 0 of one run id worked on several hosts at the same time.
type Conflict struct {
	// Hosts are by first record, then name: the first one owns the run. States names those that have a State.
	Hosts []HostSpan

	// What follows is set by States. Host is the one whose records the State is made of, "" for work that nobody can be
	// told to have done; Attempt and Records are the newest attempt and the number of records of all hosts together.
	Host             string
	Attempt, Records int64
}

// Owner says that the State is that of the host that owns the run.
func (c *Conflict) Owner() bool { return c.Host == c.Hosts[0].Host }

// HostSpan is the time in which rank 0 wrote from a host.
type HostSpan struct {
	Host        string
	First, Last int64
}

// Truncation counts what a bound left out. Digest is the sha256 over the sorted hashes of the names left out, at most
// 1,024 of them; Count is exact up to there and an estimate beyond.
type Truncation struct {
	What   string // series, parts, hosts, ranks, starts, ends, failures, checkpoints, artifacts, values, identities, params_changes, points (see Thin)
	Count  int64
	Digest string
}
