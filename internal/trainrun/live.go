package trainrun

import (
	"slices"
)

// LiveOptions say how a Live layer judges. Times are in nanoseconds.
type LiveOptions struct {
	HistoryAge   int64 // a record that is older when it arrives counts for the state only
	IdleTimeout  int64 // without a record for so long an attempt is stalled
	AbandonAfter int64 // and after so long it ended, nobody knows how
	FailureGrace int64 // between a failure and the end that it means when no other is told
	LateGrace    int64 // between an end and the time at which the attempt is settled

	Attempts, Tombstones, DedupWindow, OpenPhases int

	Emits map[string]Emits // by framework: what its trainers send by themselves
	Salt  string           // of derived ids
}

// maxRoomForTransitions is what a tick keeps of the room for them.
const maxRoomForTransitions = 1 << 14

// future is how far ahead of its arrival a record may say that it is.
const future = 60 * nanosPerSec

// Live tells what becomes of runs as their records arrive: attempts that open, fall silent, come back and end, phases, and
// what is counted once. Every transition is given exactly once. It knows no clock and does no I/O; it is not safe for
// concurrent use.
type Live struct {
	opt    LiveOptions
	runs   map[string]*liveRun
	tombs  tombstones
	kept   int // attempts in runs
	opened []*Course
	out    []Transition
}

// liveRun is a run of which some attempt is kept.
type liveRun struct {
	id       string
	courses  []*Course // by number
	seen     arrivals
	primary  int64 // the rank whose times count
	hasRank  bool
	zeroSeen bool
}

// NewLive gives an empty layer.
func NewLive(opt LiveOptions) *Live {
	return &Live{opt: opt, runs: map[string]*liveRun{}, tombs: newTombstones(opt.Tombstones)}
}

// SightResult is what became of a record.
type SightResult uint8

// What becomes of records.
const (
	SightCounted   SightResult = iota
	SightHistory               // too old when it arrived: state only
	SightDuplicate             // it, or what it tells, is known
	SightRank                  // of a rank whose times do not count
	SightLate                  // of an attempt that is over
	SightFuture                // counted, but ahead of its arrival
	SightLateEnd               // a second end
	sightResults
)

// Tally counts records by what became of them.
type Tally [sightResults]int64

// Take applies records that arrived since the last call, in the order in which they happened; whichever order they came in,
// the same records give the same transitions. They are valid until the next call.
func (l *Live) Take(batch []Sighting, now Moment) ([]Transition, Tally) {
	var tally Tally
	l.again()
	var zero map[string]bool // runs that are not known yet and have a rank 0
	for i := range batch {
		s := &batch[i]
		if s.Rank != 0 || i > 0 && batch[i-1].Rank == 0 && batch[i-1].RunID == s.RunID {
			continue
		}
		if r := l.runs[s.RunID]; r != nil {
			r.meetZero()
			continue
		}
		if zero == nil {
			zero = map[string]bool{}
		}
		zero[s.RunID] = true
	}
	for _, s := range happened(batch) {
		tally[l.take(s, zero)]++
	}
	for _, c := range l.opened {
		c.frozen = true
	}
	l.opened = l.opened[:0]
	l.evict(now)
	return l.out, tally
}

func (r *liveRun) meetZero() {
	r.zeroSeen, r.hasRank, r.primary = true, true, 0
}

// again takes back what was told, and keeps its room: many calls may follow before a tick.
func (l *Live) again() {
	clear(l.out)
	l.out = l.out[:0]
}

func (l *Live) tell(t Transition) { l.out = append(l.out, t) }

// take applies one record.
func (l *Live) take(s *Sighting, zero map[string]bool) SightResult {
	r := l.runs[s.RunID]
	if r == nil {
		if l.tombs.bars(s) {
			return s.late()
		}
		r = &liveRun{id: s.RunID}
		if zero[s.RunID] {
			r.meetZero()
		}
		l.runs[s.RunID] = r
	}
	if !r.seen.add(s, l.opt.DedupWindow) {
		return SightDuplicate
	}
	if !r.hasRank {
		r.hasRank, r.primary = true, s.Rank
	}
	c := l.courseOf(r, s)
	if c == nil {
		if len(r.courses) == 0 {
			delete(l.runs, r.id)
		}
		return s.late()
	}
	primary := s.Rank == r.primary
	live := s.Arrived.Wall-s.Time <= l.opt.HistoryAge
	l.note(c, s, primary)
	l.wake(c)
	if live {
		l.open(c)
	}
	return l.apply(c, s, primary, live)
}

// late is what becomes of a record of an attempt that is over and gone.
func (s *Sighting) late() SightResult {
	if s.Event == EventRunEnd && s.Part == "" {
		return SightLateEnd
	}
	return SightLate
}

// proof is the time that a record proves. One that claims to be far ahead proves no more than its arrival does.
func (s *Sighting) proof() int64 {
	return min(s.Time, s.Arrived.Wall+future)
}

// apply has the event change the attempt.
func (l *Live) apply(c *Course, s *Sighting, primary, live bool) SightResult {
	result := SightCounted
	switch {
	case !live:
		result = SightHistory
	case s.Time-s.Arrived.Wall > future:
		result = SightFuture
	}
	counts := live && c.Opened && !c.Silent()
	switch {
	case s.Event == EventRunFailure:
		l.fails(c, s, primary, counts)
		return result
	case s.Event == EventRunEnd && s.Part == "":
		return l.ends(c, s, primary, counts, result)
	case !primary:
		if result == SightCounted {
			result = SightRank
		}
		return result
	}
	known := false
	switch s.Event {
	case EventRunStart:
		l.starts(c, s, counts)
	case EventPhaseStart:
		known = l.phaseStarts(c, s, counts)
	case EventPhaseEnd:
		known = l.phaseEnds(c, s, counts)
	case EventStepEnd:
		l.advance(c, s.proof(), counts)
		known = l.steps(c, s, counts)
	case EventEpochEnd:
		known = l.epochs(c, s, counts)
	case EventRunEnd: // of a part
		l.advance(c, s.proof(), counts)
		c.part(s.Part).outcome = s.Detail.Outcome
	default:
		l.advance(c, s.proof(), counts)
	}
	if known && result == SightCounted {
		return SightDuplicate
	}
	return result
}

// courseOf finds the attempt that a record belongs to, or begins one; nil when it belongs to one that is over and gone.
func (l *Live) courseOf(r *liveRun, s *Sighting) *Course {
	var found *Course
	for _, c := range r.courses { // the last of its number that began before it
		if c.Written == s.Attempt && (found == nil || c.since <= s.Time) {
			found = c
		}
	}
	if (found == nil || s.Time < found.since) && l.tombs.bars(s) {
		return nil
	}
	if found == nil {
		return l.begin(r, s)
	}
	if s.Event == EventRunStart && found.startsAgain(s) {
		return l.begin(r, s)
	}
	return found
}

// startsAgain says that a run.start begins a further attempt: the one so far has had one of this rank, or is over.
func (c *Course) startsAgain(s *Sighting) bool {
	if s.Time < c.since || s.Time < c.first {
		return false
	}
	if c.Ended && s.Time >= c.End {
		return c.announced || !s.ID.before(&c.endedBy) // the clock of a first start may have been ahead of all that stands behind it
	}
	for _, o := range c.starts {
		if o.rank == s.Rank && o.part == s.Part {
			return o.time != s.Time
		}
	}
	return false
}

// before says that a record stands before another one in the stream of both.
func (id *ID) before(o *ID) bool {
	return id.Kind == IDUID && o.Kind == IDUID && id.File == o.File && id.RunID == o.RunID && id.Place < o.Place
}

// begin begins an attempt, which ends the one before.
func (l *Live) begin(r *liveRun, s *Sighting) *Course {
	c := &Course{RunID: r.id, Written: s.Attempt, Number: s.Attempt}
	at := 0
	for at < len(r.courses) && r.courses[at].Written <= s.Attempt {
		at++
	}
	if at > 0 {
		c.Number = max(c.Number, r.courses[at-1].Number+1)
		c.Before = r.courses[at-1].Trace
	} else if n, ok := l.tombs.number(s); ok {
		c.Number = max(c.Number, n+1)
	}
	if s.Event == EventRunStart {
		c.since = s.Time
	}
	r.courses = slices.Insert(r.courses, at, c)
	l.kept++
	for _, older := range r.courses[:at] {
		if !older.Ended {
			l.end(older, older.fallback(), older.last, s.Arrived)
		}
	}
	return c
}

// newest says that no newer attempt of the run is known.
func (r *liveRun) newest(c *Course) bool { return r.courses[len(r.courses)-1] == c }

// Courses visits the attempts that are kept.
func (l *Live) Courses(visit func(*Course)) {
	for _, r := range l.runs {
		for _, c := range r.courses {
			visit(c)
		}
	}
}

// Len is the number of attempts that are kept.
func (l *Live) Len() int { return l.kept }
