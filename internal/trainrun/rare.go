package trainrun

import (
	"cmp"
	"slices"
)

// start is a run.start: it may begin an attempt.
type start struct {
	at         stamp
	part, host string
	epoch      Int // resumed_from
}

// launch is what a run.start said about the program.
type launch struct {
	at     stamp
	part   string
	detail Detail
}

// end is a run.end.
type end struct {
	at              stamp
	part            string
	outcome, reason string
	said            string // an outcome that is none
	completed       Int
	values          []Value
}

// mark is a failure as far as outcomes need it.
type mark struct {
	at   stamp
	part string
}

// failure is a run.failure as a result lists it.
type failure struct {
	Failure
	at stamp
}

// saved is a checkpoint and where it came from.
type saved struct {
	at          stamp
	part        string
	epoch, step Int
	Checkpoint
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// What comes first among the rarer things: what the run itself says before its parts, the newest attempt, the lowest rank.
var (
	byStarts = sorting[start]{
		at:   func(s *start) *stamp { return &s.at },
		lead: func(a, b *start) int { return a.at.compareLead(&b.at) },
	}
	byLaunches = sorting[launch]{
		at: func(l *launch) *stamp { return &l.at },
		lead: func(a, b *launch) int {
			return cmp.Or(cmp.Compare(a.at.rank, b.at.rank), compareBool(a.part != "", b.part != ""), a.at.compareLead(&b.at))
		},
	}
	byEnds = sorting[end]{
		at: func(e *end) *stamp { return &e.at },
		lead: func(a, b *end) int {
			return cmp.Or(compareBool(a.part != "", b.part != ""), cmp.Compare(b.at.attempt, a.at.attempt), cmp.Compare(a.at.rank, b.at.rank))
		},
	}
	byMarks = sorting[mark]{
		at:   func(m *mark) *stamp { return &m.at },
		lead: func(a, b *mark) int { return cmp.Compare(b.at.attempt, a.at.attempt) },
	}
	byFailures = sorting[failure]{ // the earliest: the cause
		at:    func(f *failure) *stamp { return &f.at },
		lead:  func(a, b *failure) int { return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(a.Rank, b.Rank)) },
		first: true,
	}
	bySaved = sorting[saved]{
		at:   func(s *saved) *stamp { return &s.at },
		lead: func(a, b *saved) int { return a.at.compareLead(&b.at) },
	}
)

// rare folds the payload of the rarer events.
func (f *Fold) rare(e *Entry, at *stamp) {
	if e.Event == EventLog {
		f.tellParams(e, at)
		return
	}
	d := e.Detail
	if d == nil {
		return
	}
	switch e.Event {
	case EventRunStart:
		f.start(e, at)
	case EventRunFailure:
		f.failMarks.add(mark{*at, e.Part}, f.lim.ends, &byMarks)
		f.failures.add(failure{at: *at, Failure: Failure{
			Attempt: e.Attempt, Rank: e.Rank, Part: e.Part, At: e.Time, Type: d.ErrorType, Message: d.Message, Stack: d.Stack,
			Epoch: pointer(e.Epoch), Step: pointer(e.Step),
		}}, f.lim.failures, &byFailures)
	case EventRunEnd:
		f.end(e, at)
	case EventEpochEnd, EventStepEnd, EventPhaseEnd:
		if d.Best != nil {
			f.partOf(e.Part).reported.offer(at, *d.Best, newest)
		}
		if d.Habit != nil {
			f.partOf(e.Part).habit.offer(at, *d.Habit, newest)
		}
	default: // checkpoints and artifacts come with several events
	}
	if d.Checkpoint != nil && (e.Event == EventCheckpointSave || e.Event == EventEpochEnd) {
		s := saved{at: *at, part: e.Part, epoch: e.Epoch, step: e.Step, Checkpoint: *d.Checkpoint}
		if d.Checkpoint.Kind == kindBest {
			f.bestCheckpoints.add(s, f.lim.checkpoints/4, &bySaved)
		} else {
			f.checkpoints.add(s, f.lim.checkpoints, &bySaved)
		}
	}
	if e.Event == EventArtifact || e.Event == EventRunEnd {
		for _, a := range d.Artifacts {
			f.artifacts.add(a, at, f.lim.artifacts)
		}
	}
}

// Kinds of checkpoints that decide what is best and last.
const (
	kindBest = "best"
	kindLast = "last"
)

// partOf registers a part that a rare event names.
func (f *Fold) partOf(name string) *part {
	id, full := f.parts.get(name, f.lim.parts*f.lim.slack)
	f.full = f.full || full
	f.rows.dirty = true
	return f.parts.items[id]
}

func (f *Fold) start(e *Entry, at *stamp) {
	p := f.partOf(e.Part)
	f.planned(p, e, at)
	if e.Detail.Objective != nil {
		p.objective.offer(at, *e.Detail.Objective, newest)
	}
	f.starts.add(start{
		at: *at, part: e.Part, host: e.Where.Host, epoch: e.Detail.ResumedEpoch,
	}, f.lim.starts, &byStarts)
	f.launches.add(launch{*at, e.Part, *e.Detail}, f.lim.launches, &byLaunches)
}

func (f *Fold) end(e *Entry, at *stamp) {
	d := e.Detail
	values := e.Values
	if len(values) > f.lim.endValues {
		f.cut += int64(len(values) - f.lim.endValues)
		values = values[:f.lim.endValues]
	}
	f.ends.add(end{*at, e.Part, d.Outcome, d.StopReason, d.Said, d.EpochsCompleted, slices.Clone(values)}, f.lim.ends, &byEnds)
	for _, t := range e.Durations {
		if t.Phase == phaseRun {
			f.runLength = max(f.runLength, t.Nanos)
		}
	}
}

// artifactTable keeps, by role and path, the newest report of each artifact.
type artifactTable struct {
	items   []kept
	dropped sketch
}

// kept is an artifact by its reports.
type kept struct {
	role, path string
	register[Artifact]
}

func (t *artifactTable) add(a Artifact, at *stamp, limit int) {
	i, found := slices.BinarySearchFunc(t.items, a, func(k kept, a Artifact) int {
		return cmp.Or(compareText(k.role, a.Role), compareText(k.path, a.Path))
	})
	if !found {
		if i >= limit {
			t.dropped.add(a.Role + "\x00" + a.Path)
			return
		}
		t.items = slices.Insert(t.items, i, kept{role: a.Role, path: a.Path})
	}
	t.items[i].offer(at, a, newest)
	if n := len(t.items); n > limit {
		last := &t.items[n-1]
		t.dropped.add(last.role + "\x00" + last.path)
		t.items = t.items[:n-1]
	}
}
