package merge

// Reason is why a point was dropped.
type Reason uint8

// Reasons.
const (
	OutOfOrder  Reason = iota // older than what the source sent before
	Duplicate                 // sent twice
	Malformed                 // a distribution that contradicts itself, a falling or negative count
	NotFinite                 // NaN or an infinity in a sum
	NoValue                   // it said that its source ended
	ByRule                    // the policy drops what would merge
	SourceLimit               // the source cannot be remembered
	SeriesLimit               // not even an overflow series has room
	UnknownKind               // no type or no temporality
	Reasons                   // their number
)

// ReasonNames are the reasons as an operator reads them.
var ReasonNames = [Reasons]string{
	"out_of_order", "duplicate", "malformed", "not_finite", "no_recorded_value", "rule", "source_limit", "series_limit", "merge_unsupported",
}

// Loses says whether data went that the merged series would have needed.
var Loses = [Reasons]bool{NotFinite: true, Malformed: true, SourceLimit: true, SeriesLimit: true, UnknownKind: true}

// Reset is why a source's value was not taken as a continuation.
type Reset uint8

// Kinds of resets.
const (
	TrueReset     Reset = iota // a new start
	ImplicitReset              // the value fell
	Glitch                     // it fell a little
	StartOverlap               // the start moved without a reset
	Resets                     // their number
)

// ResetNames are the kinds of resets as an operator reads them.
var ResetNames = [Resets]string{"true", "implicit", "glitch", "start_overlap"}

// Kinds is the number of kinds.
const Kinds = int(Summary) + 1

// Why an exemplar was dropped.
const (
	ExemplarTooOld = iota
	ExemplarOverLimit
	ExemplarReasons
)

// Why a merged summary does not have a quantile of a source.
const (
	QuantileOverLimit = iota
	QuantileMalformed // it is no number, or the point has it twice
	QuantileMerged    // of several sources only the smallest and the largest value can be merged
	QuantileReasons
)

// Counts is what happened in a call. Indexed by the kind of metric where that matters.
type Counts struct {
	Merged     [Kinds]int64
	Dropped    [Kinds][Reasons]int64
	Baselined  [Kinds]int64
	Resets     [Resets]int64
	Exemplars  [ExemplarReasons]int64
	Quantiles  [QuantileReasons]int64
	Bounds     int64 // of histograms, beyond those that are taken
	Ambiguous  int64 // gauges merged by the default
	Narrowed   int64
	Overflow   int64
	Conflicts  int64 // of type, unit or temporality under one name
	FutureTime int64
	Metadata   int64 // keys of a metric's metadata that found no room
	Conflicted int64 // those that contradict what other sources say
	Moved      int64 // series, by another policy
	Ended      int64 // the same
	Any        bool
	Lost       int64 // points, and an example for the log
	LostReason Reason
	LostMetric string
}

func (c *Counts) drop(k Kind, why Reason, metric string) {
	c.Dropped[k][why]++
	c.Any = true
	if Loses[why] {
		c.Lost++
		c.LostReason, c.LostMetric = why, metric
	}
}

func (c *Counts) add(n *int64) {
	*n++
	c.Any = true
}

// parts counts parts of points that a merged point does not have.
func (c *Counts) parts(of *int64, n int) {
	if n > 0 {
		*of += int64(n)
		c.Any = true
	}
}

// Reset forgets the counts.
func (c *Counts) Reset() {
	if c.Any {
		*c = Counts{}
	}
}
