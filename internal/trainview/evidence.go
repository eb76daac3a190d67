package trainview

import (
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// What is known of the trainer's process.
const (
	ProcessAlive      = "alive"
	ProcessGone       = "gone"
	ProcessNotChecked = "not_checked"
)

// Found is what a look at a file told.
type Found int

// Results of a look.
const (
	FoundOutside Found = iota // no root holds it: it was not looked at
	FoundMissing
	FoundHidden // a root could not be looked into, or a link leads out of it: it may be there
	FoundEmpty
	FoundThere
)

// Evidence is what is known beside the records, at one moment.
type Evidence struct {
	Now        time.Time
	ModTime    time.Time     // when the newest stream was written; zero: not known
	Grown      time.Time     // growth that was seen, on the clock of Now; zero: none was
	Newest     int           // the stream that ModTime is of
	StallAfter time.Duration // 0: by the cadence
	Files      []File
	Folder     string                  // names a run whose records do not
	Look       func(path string) Found // at a checkpoint; nil: none is looked at

	// Check looks at the process of the trainer, which must have begun before the first record of the newest attempt (Unix
	// nanoseconds, 0: not known). It gives ProcessAlive, ProcessGone or ProcessNotChecked; nil: none is looked at.
	Check func(of trainrun.Where, first int64) string
}

// Options say what is asked for.
type Options struct {
	Objective  *Objective // instead of the record's
	Metrics    []string   // globs; none: those with a goal
	MaxMetrics int        // 0: as many as the rules say
	Explain    bool
}
