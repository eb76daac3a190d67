package trainrun

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Bounds of an attempt's state.
const (
	maxStarts      = 64 // ranks and parts whose run.start is remembered
	maxCourseParts = 256
	maxPendingEnds = 16
	recentCoarse   = 128 // logical events that are remembered: phases and epochs
	recentSteps    = 128
	recentOfPart   = 16 // of either, for each part at least: parts may go on side by side
)

// Course is an attempt of a run as far as it has come. Its fields are for reading; Spans and Reader are the reader's own.
type Course struct {
	RunID           string
	Written, Number int64 // the number that the records carry, and the one that the attempt has among all
	Framework       string
	Family          string
	Extra           []string
	Source          *Source // resource of the first record

	Opened, Stalled, Ended bool
	Settled                bool // its end is told, and whoever wanted to wait for late records has

	Began                 int64 // of run.start; 0 when none was seen before the attempt was settled
	since                 int64 // of the run.start that began it, of whichever rank
	announced             bool  // that it began
	End                   int64
	Outcome, StopReason   string
	ErrorType, Message    string
	Planned, Reported     Int // epochs: planned, and completed as the end reports them
	LastEpoch             Int // the last completed
	emits                 Emits
	Trace                 pcommon.TraceID // of the trainer, when it has one of its own
	Parent                pcommon.SpanID  // its span, likewise
	traceFrom             EventOrder
	Spans                 SpanTally
	Reader                any             // not stored
	Before                pcommon.TraceID // the trace of the attempt before, when its trainer had one of its own
	frozen                bool            // base attributes do not change any more
	endedBy               ID              // the record that ended it; stored is its place in its stream
	first, last, earliest int64
	byDuration            bool // earliest rests on a duration

	seen, closed moments // of the last record, and of the end
	failed       bool
	failedAt     int64
	failedPart   string
	failSeen     int64 // by the clock that never goes back; 0 when no end is to follow from it
	otherEnd     string

	starts  []rankStart
	parts   []coursePart
	open    []openPhase
	ended   []phaseEnd
	mark    int64
	spent   float64 // seconds of phase.time
	lumps   map[string]float64
	coarse  recent
	fine    recent
	samples []sampleCount
}

// EventOrder says what a fact rests on: 0 nothing, 1 any record, 2 the run.start.
type EventOrder uint8

// SpanTally is how many spans of an attempt were given away, and left out, and the time that they take up.
type SpanTally struct{ Sent, Dropped, From, To int64 }

// Reach notes the time of a span.
func (t *SpanTally) Reach(from, to int64) {
	if t.To == 0 {
		t.From = from
	}
	t.From, t.To = min(t.From, from), max(t.To, to)
}

type moments struct{ wall, mono int64 }

type rankStart struct {
	rank, time int64
	part       string
}

// coursePart is what is known of a part.
type coursePart struct {
	name    string
	epochs  int64   // completed ones that rows told of
	reached float64 // by epoch_progress
	outcome string
}

func (c *Course) part(name string) *coursePart {
	for i := range c.parts {
		if c.parts[i].name == name {
			return &c.parts[i]
		}
	}
	if len(c.parts) == maxCourseParts {
		return &coursePart{name: name}
	}
	c.parts = append(c.parts, coursePart{name: name})
	c.coarse.widen(max(recentCoarse, recentOfPart*len(c.parts)))
	c.fine.widen(max(recentSteps, recentOfPart*len(c.parts)))
	return &c.parts[len(c.parts)-1]
}

// HasParts says that the attempt has more than one curve.
func (c *Course) HasParts() bool {
	for i := range c.parts {
		if c.parts[i].name != "" {
			return true
		}
	}
	return false
}

// Silent says that the trainer sends its metrics by itself.
func (c *Course) Silent() bool { return c.emits&EmitsMetrics != 0 }

// Untraced says that the trainer sends all spans by itself.
func (c *Course) Untraced() bool { return c.emits&EmitsTraces != 0 }

// Start gives the time at which the attempt began, and what that rests on.
func (c *Course) Start() (at int64, source string) {
	switch {
	case c.Began != 0:
		return c.Began, trainrecord.TimeFromRecords
	case c.byDuration:
		return c.earliest, trainrecord.TimeFromDurations
	default:
		return c.earliest, trainrecord.TimeFromRecords
	}
}

// Announced gives the time of the run.start as far as its arrival proves it: of one that claims to be far ahead nobody can tell.
func (c *Course) Announced() int64 {
	at, _ := c.Start()
	return min(at, c.last)
}

// Completed is the number of completed epochs, as reported, else as counted.
func (c *Course) Completed() Int {
	if c.Reported.Set {
		return c.Reported
	}
	var n int64
	for i := range c.parts {
		n += max(c.parts[i].epochs, int64(c.parts[i].reached))
	}
	return Int{V: n, Set: n > 0}
}

// note takes from a record what any record tells.
func (l *Live) note(c *Course, s *Sighting, primary bool) {
	if c.Source == nil || !c.frozen && c.Source.Attributes.Len() == 0 && s.Source != nil {
		c.Source = s.Source
	}
	if !c.frozen {
		if c.Framework == "" {
			c.Framework = s.Framework
		}
		if d := s.Detail; s.Event == EventRunStart && d != nil {
			if c.Family == "" {
				c.Family = d.Family
			}
			if c.Extra == nil {
				c.Extra = d.Extra
			}
		}
	}
	if s.Event == EventRunStart && s.Detail != nil {
		c.emits |= s.Detail.Emits
	}
	c.emits |= l.opt.Emits[c.Framework]
	if s.Planned.Set && (s.Event == EventRunStart || !c.Planned.Set) {
		c.Planned = s.Planned
	}
	at := s.proof()
	c.first, c.last = earlier(c.first, at), max(c.last, at)
	c.prove(at, false)
	c.seen = moments{s.Arrived.Wall, s.Arrived.Mono}
	if s.Part != "" {
		c.part(s.Part)
		if c.failedPart != s.Part && c.failedPart != "" {
			c.failSeen = 0 // the rest of the run goes on
		}
	}
	if primary {
		l.join(c, s)
	}
}

// prove notes a time at which the attempt went on already. One that is settled began when its span says so.
func (c *Course) prove(at int64, duration bool) {
	if !c.Settled && (c.earliest == 0 || at < c.earliest) {
		c.earliest, c.byDuration = max(at, 1), duration
	}
}

// join learns the trace that the trainer has of its own: from its run.start, else from the first record. It does not change once spans
// are in it.
func (l *Live) join(c *Course, s *Sighting) {
	order := EventOrder(1)
	if s.Event == EventRunStart {
		order = 2
	}
	if order <= c.traceFrom || c.Spans.Sent > 0 {
		return
	}
	c.traceFrom = order
	c.Trace, c.Parent = pcommon.TraceID{}, pcommon.SpanID{}
	if s.Trace.IsEmpty() || s.Trace == trainrecord.DerivedTraceID(l.opt.Salt, c.RunID, c.Written) {
		return
	}
	c.Trace = s.Trace
	if s.Span != trainrecord.DerivedSpanID(l.opt.Salt, c.RunID, c.Written, trainrecord.RunSpan) {
		c.Parent = s.Span
	}
}

// wake brings back an attempt that was silent.
func (l *Live) wake(c *Course) {
	if c.Stalled {
		c.Stalled = false
		l.tell(Transition{Kind: StateChanged, Course: c})
	}
}

// open opens an attempt: it is announced, and will be accounted for.
func (l *Live) open(c *Course) {
	if c.Opened || c.Ended || c.Silent() || !l.runs[c.RunID].newest(c) {
		return
	}
	c.Opened = true
	l.opened = append(l.opened, c)
	l.tell(Transition{Kind: Opened, Course: c})
}

// starts takes a run.start of the primary rank.
func (l *Live) starts(c *Course, s *Sighting, counts bool) {
	if len(c.starts) < maxStarts {
		c.starts = append(c.starts, rankStart{s.Rank, s.Time, s.Part})
	}
	l.advance(c, s.proof(), counts)
	if !c.announced {
		if c.announced = true; !c.Settled {
			c.Began = s.Time
		}
		l.tell(Transition{Kind: Started, Course: c})
	}
}
