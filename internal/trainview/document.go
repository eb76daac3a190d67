package trainview

// States of a run.
const (
	Starting = "starting"
	Running  = "running"
	Stalled  = "stalled"
	Finished = "finished"
	Failed   = "failed"
	Aborted  = "aborted"
	Unknown  = "unknown"
)

// Document is train-summary/1. Pointers are null when the value is not known; Why says why. Texts that come from a trainer are
// marked untrusted in the schema.
type Document struct {
	Schema          string            `json:"schema"`
	Now             string            `json:"now"`
	Run             Run               `json:"run"`
	State           string            `json:"state" enum:"states"`
	Alive           *bool             `json:"alive"`
	Provisional     bool              `json:"provisional"`
	Evidence        Basis             `json:"evidence"`
	Progress        Progress          `json:"progress"`
	Objective       *Objective        `json:"objective"`
	Measured        []string          `json:"measured,omitempty" untrusted:"yes"`
	MeasuredOmitted int               `json:"measured_omitted,omitempty"`
	Metrics         []Metric          `json:"metrics"`
	MetricsOmitted  int               `json:"metrics_omitted"`
	Best            *Best             `json:"best"`
	Stop            *Stop             `json:"stop"`
	Warnings        []Warning         `json:"warnings"`
	WarningsOmitted int               `json:"warnings_omitted,omitempty"`
	Why             map[string]string `json:"why"`
	Source          Source            `json:"source"`
	Wait            *Wait             `json:"wait,omitempty"`
	Explain         *Explain          `json:"explain,omitempty"`
}

// Run names the run.
type Run struct {
	ID        *string `json:"id" untrusted:"yes"`
	Framework *string `json:"framework" untrusted:"yes"`
	Attempt   int64   `json:"attempt"`
	StartedAt *string `json:"started_at"`
}

// What a state rests on.
const (
	BasisGrowth  = "growth"
	BasisProcess = "process"
	BasisEnd     = "end_record"
	BasisFailure = "failure_record"
)

// Basis is what the state rests on.
type Basis struct {
	Basis       string  `json:"basis" enum:"growth,process,end_record,failure_record"`
	SilentS     *int64  `json:"silent_s"`
	StallAfterS *Number `json:"stall_after_s"`
	StallBasis  *string `json:"stall_basis" enum:"cadence,default,flag"`
	LongestGapS *Number `json:"longest_gap_s"`
	Process     string  `json:"process" enum:"alive,gone,not_checked"`
}

// Progress is how far the run is.
type Progress struct {
	EpochsCompleted *int64  `json:"epochs_completed"`
	LastEpoch       *int64  `json:"last_epoch"`
	EpochsPlanned   *int64  `json:"epochs_planned"`
	Fraction        *Number `json:"fraction"`
	Step            *int64  `json:"step"`
	StepsPlanned    *int64  `json:"steps_planned,omitempty"`
	EpochS          *Number `json:"epoch_s"`
	EtaS            *int64  `json:"eta_s"`
	EtaMethod       *string `json:"eta_method" enum:"epochs,steps,reported"`
	Part            string  `json:"part,omitempty" untrusted:"yes"`
}

// Objective is what decides which epoch is best.
type Objective struct {
	Metric string `json:"metric" untrusted:"yes"`
	Goal   string `json:"goal" enum:"min,max"`
	From   string `json:"from" enum:"flag,record,profile,inferred"`
}

// Metric is one curve in numbers.
type Metric struct {
	Name      string  `json:"name" untrusted:"yes"`
	Part      string  `json:"part,omitempty" untrusted:"yes"`
	Goal      *string `json:"goal" enum:"min,max"`
	Trend     string  `json:"trend" enum:"trends"`
	Last      *Number `json:"last" nonfinite:"yes"`
	At        *int64  `json:"at"`
	Axis      string  `json:"axis" enum:"epoch,step,order"`
	Points    int64   `json:"points"`
	NonFinite int64   `json:"non_finite"`
	Best      *Number `json:"best"`
	BestAt    *int64  `json:"best_at"`
	SinceBest *int64  `json:"since_best"`
	Change    *Number `json:"change,omitempty"`

	series int // in the order of the state, for texts and pages
}

// Best is the best point of the objective.
type Best struct {
	Metric     string      `json:"metric" untrusted:"yes"`
	Part       string      `json:"part,omitempty" untrusted:"yes"`
	Goal       string      `json:"goal" enum:"min,max"`
	Value      Number      `json:"value"`
	Epoch      *int64      `json:"epoch"`
	Step       *int64      `json:"step"`
	Checkpoint *Checkpoint `json:"checkpoint"`
}

// Checkpoint is a file that holds the best state.
type Checkpoint struct {
	Path   string  `json:"path" untrusted:"yes"`
	Kind   *string `json:"kind" untrusted:"yes"`
	Exists *bool   `json:"exists"`
}

// Stop says why the run ended.
type Stop struct {
	At       *string      `json:"at"`
	Reason   string       `json:"reason" enum:"reasons"`
	Evidence string       `json:"evidence" enum:"record,derived,inferred"`
	Reported string       `json:"reported,omitempty" untrusted:"yes"`
	Error    *StopError   `json:"error,omitempty"`
	Final    []FinalValue `json:"final,omitempty"`
}

// StopError is what a failure said of itself.
type StopError struct {
	Type    *string `json:"type" untrusted:"yes"`
	Message *string `json:"message" untrusted:"yes"`
}

// FinalValue is a measurement of the record of the end.
type FinalValue struct {
	Name  string `json:"name" untrusted:"yes"`
	Value Number `json:"value" nonfinite:"yes"`
}

// Source is what was read.
type Source struct {
	Files        []File  `json:"files"`
	FilesOmitted int     `json:"files_omitted,omitempty"`
	Records      int64   `json:"records"`
	BadLines     int64   `json:"bad_lines"`
	Duplicates   int64   `json:"duplicates"`
	LastRecordAt *string `json:"last_record_at"`
	Profile      *string `json:"profile" untrusted:"yes"`
	SeriesCut    int64   `json:"series_omitted,omitempty"`
}

// File is one stream that was read.
type File struct {
	Path      string `json:"path" untrusted:"yes"`
	Bytes     int64  `json:"bytes"`
	Offset    int64  `json:"offset"`
	TornBytes int64  `json:"torn_bytes"`
}

// Wait says how a wait ended.
type Wait struct {
	Condition *string `json:"condition"`
	Met       bool    `json:"met"`
	WaitedS   int64   `json:"waited_s"`
}

// Explain is the arithmetic behind the verdicts.
type Explain struct {
	Gaps    GapFacts     `json:"gaps"`
	Metrics []TrendFacts `json:"metrics"`
}

// GapFacts are the gaps between records.
type GapFacts struct {
	Count     int     `json:"count"`
	MedianS   *Number `json:"median_s"`
	LongestS  *Number `json:"longest_s"`
	Floor     *Number `json:"floor_s"`
	UnknownS  *Number `json:"unknown_after_s"`
	ModTimeS  *Number `json:"mtime_ahead_s"`
	ModLimitS *Number `json:"mtime_ahead_limit_s"`
}

// TrendFacts is the arithmetic of one trend.
type TrendFacts struct {
	Name   string `json:"name" untrusted:"yes"`
	Part   string `json:"part,omitempty" untrusted:"yes"`
	Window int    `json:"window"`
	Used   int    `json:"used"`
	S      int    `json:"s"`
	Z      Number `json:"z" nonfinite:"yes"`
	Slope  Number `json:"slope" nonfinite:"yes"`
	Scale  Number `json:"scale" nonfinite:"yes"`
	Change Number `json:"change" nonfinite:"yes"`
	Noise  Number `json:"noise" nonfinite:"yes"`
	Turned bool   `json:"turned"`
}

// List is train-summary-list/1.
type List struct {
	Schema  string `json:"schema"`
	Now     string `json:"now"`
	Total   int    `json:"total"`
	Omitted int    `json:"omitted"`
	Runs    []Row  `json:"runs"`
}

// Row is one run of a list.
type Row struct {
	ID     *string `json:"id" untrusted:"yes"`
	Ref    string  `json:"ref,omitempty" untrusted:"yes"`
	State  string  `json:"state" enum:"states"`
	Alive  *bool   `json:"alive"`
	Done   *int64  `json:"done"`
	Of     *int64  `json:"of"`
	Metric *string `json:"metric" untrusted:"yes"`
	Last   *Number `json:"last" nonfinite:"yes"`
	Trend  *string `json:"trend" enum:"trends"`
	Best   *Number `json:"best"`
	BestAt *int64  `json:"best_at"`
	Warn   int     `json:"warn"`
}
