package merge

import "time"

// GaugeRule is how the live sources of a gauge become one value.
type GaugeRule uint8

// Rules of gauges.
const (
	Last GaugeRule = iota // the newest; of two at one time the larger
	Mean
	Min
	Max
	Total
	Drop
)

// Rules are what the policy says about a metric. They are asked once for each metric and policy.
type Rules interface {
	// GaugeRule says how a gauge merges and whether that was decided for this gauge or is a default.
	GaugeRule(metric string) (rule GaugeRule, decided bool)
	// Bounds are the bounds of a histogram's output; nil: what its sources have in common.
	Bounds(metric string) []float64
	// DropSummary says whether summaries that would merge are dropped.
	DropSummary(metric string) bool
	// SeriesLimit is the number of series of a metric, overflow included; zero: the configured one.
	SeriesLimit(metric string) int
	// Cleaner brings series under these rules that were written under others; nil: they change nothing, and no batch is shown to the engine under
	// them. It belongs to one goroutine.
	Cleaner() Cleaner
}

// InitialValue says what the first point of an unknown source counts.
type InitialValue uint8

// Values of InitialValue.
const (
	Auto InitialValue = iota // in full if it began under the guard's eyes
	Keep                     // in full
	None                     // nothing
)

// Config is what an engine is told once.
type Config struct {
	FlushInterval    time.Duration
	GaugeStaleness   time.Duration
	SourceExpiry     time.Duration
	MaxFutureSkew    time.Duration
	Initial          InitialValue
	TrackNative      bool
	DeltaDedup       bool
	SeriesPerMetric  int
	Series           int
	Sources          int
	Tombstones       int
	ReplicaAttribute [2]string // key and value; no key: none
}

// Times that are no matter of taste.
const (
	warmUp       = 5 * time.Minute // after the start, a source without a start time is not known to be new
	endedExpiry  = 5 * time.Minute // a source that said it ended is forgotten
	idleAfter    = 5 * time.Minute // at the limit, a source that was silent for so long makes room
	outputExpiry = 24 * time.Hour
	oneStep      = int64(time.Millisecond) // between two points of an output whose sources' time stands still
)

// OverflowKey is the attribute of the series that takes what is over a limit.
const OverflowKey = "otel.metric.overflow"

// exemplarLimit is the number of exemplars of a merged point.
const exemplarLimit = 8

// heldExemplars is the number of exemplars kept until the flush, of a histogram, whose buckets are known then.
const heldExemplars = 128
