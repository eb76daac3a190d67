package resultfile

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Continue joins a state that lost its beginning to the result on disk that tells of it: curves, best, attempts, failures and artifacts
// are those of both, counts and sums stay as the disk has them, for nobody can tell which records they counted. Read gives a file of the
// run's directory, nil for none. The state is left alone when the disk has no result of the run, or when the records are perhaps those that
// it rests on, read once more.
func Continue(st *trainrun.State, read func(name string) []byte) (joined *trainrun.State, kept Params, ok bool) {
	p, ok := readPrevious(read(ResultName))
	if !ok || p.RunID != cutText(st.RunID, maxText) || st.Conflict != nil || p.Conflict {
		return st, Params{}, false
	}
	begins := len(st.Attempts) > 0 && !st.Partial && !st.Headless
	placed := *st
	placed.Series, placed.Notes = p.placed(st, begins)
	if !p.goesOn(&placed, read) {
		return st, Params{}, false
	}
	c := continuation{p: p, st: placed, read: read, begins: begins}
	c.join()
	return &c.st, Params{File: read(ParamsName), Digest: p.Digest, Renamed: p.Renamed}, true
}

// continuation builds a state from a result and one that goes on after it. An attempt that begins supersedes the curves from where it does.
type continuation struct {
	p      *previous
	st     trainrun.State
	read   func(name string) []byte
	begins bool // the state begins with an attempt, it does not go on with the last one of the disk
}

func (c *continuation) join() {
	p, st := c.p, &c.st
	st.Partial = true
	c.series()
	c.attempts()
	c.progress()
	c.failures()
	c.files()
	c.source()
	c.records()
	st.StartedAt = first(nanos(p.Started), st.StartedAt)
	st.LastRecordAt = max(st.LastRecordAt, nanos(p.LastAt))
	st.Durations.Run = 0
	if st.StartedAt > 0 && st.EndedAt > st.StartedAt {
		st.Durations.Run = st.EndedAt - st.StartedAt
	}
	st.Durations.Phases = nil
	for _, name := range slices.Sorted(maps.Keys(p.Durations.Phases)) {
		st.Durations.Phases = append(st.Durations.Phases, trainrun.PhaseTotal{Phase: name, Nanos: int64(math.Round(p.Durations.Phases[name] * 1e9))})
	}
	c.best()
}

func first(a, b int64) int64 {
	if a != 0 {
		return a
	}
	return b
}

// cut is the place from which a new attempt supersedes an axis, the end of all places for none.
func (c *continuation) cut(axis trainrun.Axis) int64 {
	if !c.begins {
		return math.MaxInt64
	}
	from := c.st.Attempts[0].FirstEpoch
	if axis == trainrun.AxisStep {
		from = c.st.Attempts[0].FirstStep
	}
	if from == nil {
		return math.MaxInt64
	}
	return *from
}

func (c *continuation) attempts() {
	own := c.st.Attempts
	c.st.Attempts = nil
	for _, a := range c.p.Attempts {
		c.st.Attempts = append(c.st.Attempts, trainrun.Attempt{
			Number: a.Attempt, Host: a.Host, StartedAt: nanos(a.StartedAt), EndedAt: nanos(a.EndedAt), Outcome: a.Outcome,
			FirstEpoch: a.FirstEpoch, LastEpoch: a.LastEpoch, FirstStep: a.FirstStep, LastStep: a.LastStep,
			SupersededEpochs: a.SupersededEpochs, SupersededSteps: a.SupersededSteps,
		})
	}
	for i := range own {
		c.attempt(&own[i], i == 0)
	}
	for i := range c.st.Attempts {
		c.st.Attempt = max(c.st.Attempt, c.st.Attempts[i].Number)
	}
}

// attempt adds an attempt, or what it adds to one that the disk knows.
func (c *continuation) attempt(a *trainrun.Attempt, isFirst bool) {
	list := c.st.Attempts
	at := slices.IndexFunc(list, func(o trainrun.Attempt) bool { return a.StartedAt != 0 && clock(o.StartedAt) == clock(a.StartedAt) })
	if at < 0 && isFirst && !c.begins && len(list) > 0 {
		at = len(list) - 1
	}
	if at < 0 {
		next := *a
		if n := len(list); n > 0 {
			next.Number = max(a.Number, list[n-1].Number+1)
		}
		c.st.Attempts = append(list, next)
		return
	}
	o := &list[at]
	o.EndedAt = max(o.EndedAt, a.EndedAt)
	o.Outcome, o.Host = cmp.Or(a.Outcome, o.Outcome), cmp.Or(o.Host, a.Host)
	o.FirstEpoch, o.FirstStep = cmp.Or(o.FirstEpoch, a.FirstEpoch), cmp.Or(o.FirstStep, a.FirstStep)
	o.LastEpoch, o.LastStep = greater(o.LastEpoch, a.LastEpoch), greater(o.LastStep, a.LastStep)
}

func greater(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func (c *continuation) progress() {
	p, st := c.p, &c.st
	st.Epochs.Planned = cmp.Or(st.Epochs.Planned, p.Epochs.Planned)
	st.Epochs.Reported = cmp.Or(st.Epochs.Reported, p.Epochs.Reported)
	st.Steps.FromZero = st.Steps.FromZero || p.Steps.FromZero
	st.Steps.Planned = cmp.Or(st.Steps.Planned, p.Steps.Planned)
	if c.cut(trainrun.AxisEpoch) == math.MaxInt64 {
		st.Epochs.Completed, st.Epochs.Last = greater(st.Epochs.Completed, p.Epochs.Completed), greater(st.Epochs.Last, p.Epochs.Last)
	}
	if c.cut(trainrun.AxisStep) == math.MaxInt64 {
		st.Steps.Last = greater(st.Steps.Last, p.Steps.Last)
	}
	if p.Objective != nil && (st.Objective == nil || p.Objective.From == "record") {
		st.Objective = p.Objective
	}
}

func (c *continuation) failures() {
	st := &c.st
	old := make([]trainrun.Failure, 0, len(c.p.Failures))
	for _, f := range c.p.Failures {
		old = append(old, trainrun.Failure{
			Attempt: f.Attempt, Rank: f.Rank, Part: f.Part, At: nanos(f.At), Type: f.Type, Message: f.Message, Stack: f.Stack, Epoch: f.Epoch, Step: f.Step,
		})
	}
	for i := range st.Failures {
		f := &st.Failures[i]
		if !slices.ContainsFunc(old, func(o trainrun.Failure) bool {
			return clock(o.At) == clock(f.At) && o.Rank == f.Rank && o.Type == f.Type && o.Message == cutText(f.Message, maxText)
		}) {
			old = append(old, *f)
		}
	}
	st.Failures = old[max(len(old)-maxFailures, 0):]
	st.FailuresTotal = max(c.p.FailTotal, int64(len(old)))
}

func (f *previousFile) reported() string {
	if f.Source == "reported" {
		return f.SHA256
	}
	return ""
}

func (f *previousFile) checkpoint() *trainrun.Checkpoint {
	out := &trainrun.Checkpoint{Path: f.Path, SHA256: f.reported(), Epoch: f.Epoch, Step: f.Step}
	if out.SHA256 != "" {
		out.Size = f.Size
	}
	return out
}

func (c *continuation) files() {
	st := &c.st
	st.Artifacts = slices.Clone(st.Artifacts)
	for i := range c.p.Artifacts {
		f := &c.p.Artifacts[i]
		switch {
		case f.Role == roleBest && st.Checkpoints.Best == nil:
			st.Checkpoints.Best = f.checkpoint()
		case f.Role == roleLast && st.Checkpoints.Last == nil:
			st.Checkpoints.Last = f.checkpoint()
		case f.Role == roleBest || f.Role == roleLast || f.Role == roleCheckpoint: // newer ones took their place
		case !slices.ContainsFunc(st.Artifacts, func(a trainrun.Artifact) bool { return a.Role == f.Role && a.Path == f.Path }):
			st.Artifacts = append(st.Artifacts, trainrun.Artifact{Role: f.Role, Path: f.Path, SHA256: f.reported(), Size: f.Size})
		}
	}
	slices.SortFunc(st.Artifacts, func(a, b trainrun.Artifact) int {
		return cmp.Or(strings.Compare(a.Role, b.Role), strings.Compare(a.Path, b.Path))
	})
}
