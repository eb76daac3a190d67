package trainview

import (
	"cmp"
	"math"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Trail is what the fold of a run does not keep and verdicts need: when records came, and what single ones said. It is fed
// with the records of each stream in their order. It is bounded.
type Trail struct {
	streams      map[int]*streamTrail
	recent       *streamTrail
	recentNumber int
	first        int64
	times        latest[timed]
	epochs       latest[epochMark]
	turns        latest[int64] // when a training began or ended
	steps        latest[stepMark]

	profiles             map[string]int64
	native               int64 // records of the vocabulary
	nativeEnd            bool
	progress, validation bool
	suspects             map[suspect]struct{}
	part                 newest[string]
	ratesAreZero         newest[bool]
	ratesWerePositive    bool
	reported             newest[float64] // seconds that are left
	backwards            int64

	Records, BadLines, Duplicates, Unmapped int64 // lines

	flaws int64  // values without meaning
	flaw  string // what is wanted instead of the first
}

// Origin says where a record comes from.
type Origin struct {
	Stream  int    // a number for the file
	Profile string // that mapped it; "" for a record of the vocabulary
	EndSign bool   // the framework's own sign that training is over, in a record that is no end
	Further bool   // not the first record of its line
}

// streamTrail is what one file told, in its order.
type streamTrail struct {
	n                                int64 // records
	lastProgress, lastFailure, ended int64 // numbers of records, 0 = none
	endedAt, progressAt, failureAt   int64
	lastTimed                        bool
	clocks                           map[int64]*clockMark // by rank
	rank                             int64                // of clock
	clock                            *clockMark           // that was asked for last, nil for none
}

// maxClocks bounds the ranks of a stream whose clocks are watched.
const maxClocks = 1024

// clockOf gives the clock of a rank, nil beyond the bound. Most streams are of one rank.
func (s *streamTrail) clockOf(rank int64) *clockMark {
	if s.clock != nil && s.rank == rank {
		return s.clock
	}
	c := s.clocks[rank]
	if c == nil {
		if len(s.clocks) >= maxClocks {
			return nil
		}
		c = &clockMark{}
		s.clocks[rank] = c
	}
	s.clock, s.rank = c, rank
	return c
}

type clockMark struct{ attempt, time int64 }

type timed struct{ time, attempt int64 }

type stepMark struct{ time, attempt, step int64 }

// newest keeps the value of the latest time, of equal times the one that came last.
type newest[T any] struct {
	time  int64
	value T
	ok    bool
}

func (n *newest[T]) add(time int64, v T) {
	if !n.ok || time >= n.time {
		*n = newest[T]{time, v, true}
	}
}

// suspect is a value that its own record makes doubtful.
type suspect struct {
	part, name string
	axis       trainrun.Axis
	x          int64
	bits       uint64
}

// latest keeps the greatest values of an order.
type latest[T any] struct {
	items []T // sorted
}

func (l *latest[T]) add(v T, most int, compare func(a, b T) int) {
	n := len(l.items)
	if n >= most && compare(v, l.items[n-most]) <= 0 {
		return
	}
	if n > 0 && compare(v, l.items[n-1]) < 0 {
		i, _ := slices.BinarySearchFunc(l.items, v, compare)
		l.items = slices.Insert(l.items, i, v)
	} else {
		l.items = append(l.items, v)
	}
	if len(l.items) >= 4*most {
		l.items = l.items[:copy(l.items, l.items[len(l.items)-most:])]
	}
}

// of gives them, the least first.
func (l *latest[T]) of(most int) []T { return l.items[max(len(l.items)-most, 0):] }

// NewTrail gives an empty one.
func NewTrail() *Trail {
	return &Trail{streams: map[int]*streamTrail{}, profiles: map[string]int64{}, suspects: map[suspect]struct{}{}}
}

func (t *Trail) stream(n int) *streamTrail {
	if t.recent != nil && t.recentNumber == n {
		return t.recent
	}
	s := t.streams[n]
	if s == nil {
		s = &streamTrail{clocks: map[int64]*clockMark{}}
		t.streams[n] = s
	}
	t.recent, t.recentNumber = s, n
	return s
}

// Bad counts a line of a stream that is no record.
func (t *Trail) Bad(stream int) {
	t.BadLines++
	t.stream(stream).lastTimed = false
}

// Unknown counts an object of a stream that no profile knows.
func (t *Trail) Unknown(stream int) {
	t.Unmapped++
	t.stream(stream).lastTimed = false
}

// Flawed counts values of a line that were left out or replaced; first says of one of them what is wanted.
func (t *Trail) Flawed(n int64, first string) {
	if t.flaws += n; t.flaw == "" && n > 0 {
		t.flaw = first
	}
}

// Add takes a record that the fold took.
func (t *Trail) Add(rec *trainrecord.Record, e *trainrun.Entry, from Origin) {
	s := t.stream(from.Stream)
	s.n++
	if !from.Further {
		t.Records++
		if from.Profile == "" {
			t.native++
		} else {
			t.profiles[from.Profile]++
		}
		s.lastTimed = e.Time != 0
		t.time(s, e)
	}
	t.turn(e, from)
	switch e.Event {
	case trainrun.EventRunEnd:
		t.nativeEnd = t.nativeEnd || from.Profile == ""
	case trainrun.EventRunFailure:
		s.lastFailure, s.failureAt = s.n, max(s.failureAt, e.Time)
	case trainrun.EventEpochEnd, trainrun.EventStepEnd, trainrun.EventPhaseEnd:
		if from.EndSign {
			s.ended, s.endedAt = s.n, e.Time
			return
		}
		s.lastProgress, s.progressAt = s.n, max(s.progressAt, e.Time)
		t.row(rec, e)
	default: // nothing that moves a curve
	}
}

func (t *Trail) time(s *streamTrail, e *trainrun.Entry) {
	if e.Time == 0 {
		return
	}
	t.first = earlier(t.first, e.Time)
	t.times.add(timed{e.Time, e.Attempt}, gapsKept+1, func(a, b timed) int { return cmp.Compare(a.time, b.time) })
	last := s.clockOf(e.Rank)
	if last == nil {
		return
	}
	if last.attempt == e.Attempt && e.Event != trainrun.EventRunStart && e.Time < last.time {
		t.backwards++
	}
	*last = clockMark{e.Attempt, e.Time}
}

func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// row takes a record that moves a curve.
func (t *Trail) row(rec *trainrecord.Record, e *trainrun.Entry) {
	t.progress = true
	phaseEnd := e.Event == trainrun.EventPhaseEnd
	t.validation = t.validation || e.Event == trainrun.EventEpochEnd || phaseEnd && rec.Phase == trainrecord.PhaseValidation
	t.part.add(e.Time, e.Part)
	t.epoch(e)
	if e.Event == trainrun.EventStepEnd && e.Step.Set && e.Time != 0 && e.Part == "" {
		t.steps.add(stepMark{e.Time, e.Attempt, e.Step.V}, stepsForLength+1, func(a, b stepMark) int {
			if c := cmp.Compare(a.time, b.time); c != 0 {
				return c
			}
			return cmp.Compare(a.step, b.step)
		})
	}
	t.suspicious(e)
	t.learning(rec, e)
	if left, ok := remaining(rec.Body); ok {
		t.reported.add(e.Time, left)
	}
}

// suspicious finds losses that stand beside a norm of gradients that is not finite: a trainer's filter writes 0.0 or an
// average there.
func (t *Trail) suspicious(e *trainrun.Entry) {
	bad := false
	for _, v := range e.Values {
		bad = bad || !finite(v.V) && isGradNorm(v.Name)
	}
	if !bad {
		return
	}
	places := placesOf(e)
	for _, v := range e.Values {
		if len(t.suspects) < maxSuspects && finite(v.V) && isTrainLoss(v.Name) {
			for _, p := range places {
				t.suspects[suspect{e.Part, v.Name, p.axis, p.x, math.Float64bits(v.V)}] = struct{}{}
			}
		}
	}
}

type placeOn struct {
	axis trainrun.Axis
	x    int64
}

// placesOf is where the fold may put the values of an entry: those of an epoch are over steps when an epoch has several.
func placesOf(e *trainrun.Entry) []placeOn {
	var out []placeOn
	if e.Epoch.Set && e.Event != trainrun.EventStepEnd {
		out = append(out, placeOn{trainrun.AxisEpoch, e.Epoch.V})
	}
	if e.Step.Set {
		out = append(out, placeOn{trainrun.AxisStep, e.Step.V})
	}
	if len(out) == 0 {
		out = append(out, placeOn{trainrun.AxisOrder, 0})
	}
	return out
}

func (t *Trail) learning(rec *trainrecord.Record, e *trainrun.Entry) {
	zero, any := allZero(rec.Body)
	if !any {
		return
	}
	t.ratesWerePositive = t.ratesWerePositive || !zero
	t.ratesAreZero.add(e.Time, zero)
}
