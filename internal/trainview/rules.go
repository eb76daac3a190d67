package trainview

import "time"

// Names of the documents. A field, once shipped, keeps its name and meaning; a constant below that changes makes another
// version.
const (
	SchemaDocument = "train-summary/1"
	SchemaList     = "train-summary-list/1"
	SchemaRules    = "train-summary-rules/1"
)

// Liveness.
const (
	gapFactor      = 3                // limit = gapFactor times the longest gap
	gapsKept       = 256              // between records of the newest attempt
	gapsWanted     = 3                // with fewer the cadence is not known
	limitSteady    = 60 * time.Second // least limit once an epoch or a validation was seen
	limitEarly     = 10 * time.Minute // least limit before that: the first validation is the first long gap
	limitDefault   = 30 * time.Minute
	silentLost     = 24 * time.Hour // silence after which nothing can be told, or
	silentFactor   = 10             // that many limits, whichever is longer
	copiedAfter    = 10 * time.Minute
	copiedFactor   = 10 // median gaps
	futureAfter    = 60 * time.Second
	provisionalFor = 60 * time.Second
)

// Progress.
const (
	epochsForLength = 5
	stepsForLength  = 64
)

// Trends.
const (
	trendPoints   = 4
	windowPart    = 4 // the last quarter
	windowLeast   = 8
	windowBins    = 32
	zLimit        = 1.645 // 90 % two-sided
	changeLimit   = 0.01
	noiseLimit    = 0.05
	madToSigma    = 1.4826
	scaleOfRange  = 0.1
	gainLimit     = 0.001
	plateauPoints = 8
	plateauLeast  = 5
	plateauPart   = 5 // points/5
)

// Warnings.
const (
	spikeBefore   = 5
	spikeFactor   = 8
	spikeFloor    = 0.02
	divergingLast = 3
	divergingMin  = 1.0 // worse by that part of the best median, when less is better
	divergingMax  = 0.5
	overfitAge    = 3
)

// Bounds of a document.
const (
	MaxDocument   = 2048 // bytes of a run as compact JSON
	MaxRow        = 200  // bytes of a run in a list
	MaxListed     = 50
	MaxMetrics    = 6
	maxFiles      = 8
	maxFinals     = 6
	maxMeasured   = 12
	leastMeasured = 4 // they stay while there are metrics to leave out
	maxSuspects   = 10_000
	maxTurns      = 64 // beginnings and ends of trainings
	digits        = 6  // significant
	maxID         = 64
	maxIDListed   = 40
	maxName       = 64
	maxPath       = 200
	maxReason     = 120
	maxErrorType  = 80
	maxMessage    = 200
	maxListedName = 24
)

// Rule is a constant as it is printed.
type Rule struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	Unit  string `json:"unit"`
}

// RuleBook is what trainsummary rules prints.
type RuleBook struct {
	Schema      string       `json:"schema"`
	Document    string       `json:"document"`
	Rules       []Rule       `json:"rules"`
	StopReasons []StopReason `json:"stop_reasons"`
}

// Rules gives every constant that a verdict rests on.
func Rules() RuleBook {
	s := func(d time.Duration) Number { return Number(d.Seconds()) }
	return RuleBook{Schema: SchemaRules, Document: SchemaDocument, StopReasons: stopReasons(), Rules: []Rule{
		{"stall_gap_factor", gapFactor, "longest gaps"}, {"stall_gaps_kept", gapsKept, "gaps"}, {"stall_gaps_wanted", gapsWanted, "gaps"},
		{"stall_least", s(limitSteady), "s"}, {"stall_least_before_first_validation", s(limitEarly), "s"}, {"stall_default", s(limitDefault), "s"},
		{"unknown_after", s(silentLost), "s"}, {"unknown_after_limits", silentFactor, "limits"},
		{"mtime_ahead", s(copiedAfter), "s"}, {"mtime_ahead_gaps", copiedFactor, "median gaps"},
		{"clock_future", s(futureAfter), "s"}, {"provisional", s(provisionalFor), "s"},
		{"epoch_length_epochs", epochsForLength, "epochs"}, {"step_length_steps", stepsForLength, "step records"},
		{"trend_points", trendPoints, "points"}, {"trend_window_part", windowPart, "of all points"}, {"trend_window_least", windowLeast, "points"},
		{"trend_bins", windowBins, "bins"}, {"trend_z", zLimit, "z"}, {"trend_change", changeLimit, "of scale"}, {"trend_noise", noiseLimit, "of scale"},
		{"trend_scale_of_range", scaleOfRange, "of range"}, {"mad_to_sigma", madToSigma, ""},
		{"plateau_points", plateauPoints, "points"}, {"plateau_gain", gainLimit, "of best"}, {"plateau_least", plateauLeast, "points"}, {"plateau_part", plateauPart, "of all points"},
		{"spike_before", spikeBefore, "points"}, {"spike_deviations", spikeFactor, "deviations"}, {"spike_floor", spikeFloor, "of median"},
		{"diverging_last", divergingLast, "points"}, {"diverging_min", divergingMin, "of best median"}, {"diverging_max", divergingMax, "of best median"},
		{"overfitting_age", overfitAge, "points"},
		{"document_bytes", MaxDocument, "bytes"}, {"row_bytes", MaxRow, "bytes"}, {"list_rows", MaxListed, "rows"}, {"metrics", MaxMetrics, "metrics"},
	}}
}
