package trainrun

// Parts of a detail.
const (
	detailStart uint64 = 1 << iota
	detailObjective
	detailGit
	detailCheckpoint
	detailBest
	detailFailure
	detailEnd
	detailParams
	detailHabit
	detailSaid // without an end
)

func (w *writer) detail(d *Detail) {
	start := d.ResumedEpoch.Set || d.Command != "" || len(d.Versions) > 0 || d.TaskFamily != ""
	end := d.Outcome != "" || d.StopReason != "" || d.EpochsCompleted.Set || len(d.Artifacts) > 0
	var f uint64
	for bit, on := range map[uint64]bool{
		detailStart: start, detailObjective: d.Objective != nil, detailGit: d.Git != nil,
		detailCheckpoint: d.Checkpoint != nil, detailBest: d.Best != nil,
		detailFailure: d.ErrorType != "" || d.Message != "" || d.Stack != "", detailEnd: end, detailParams: d.Params != nil,
		detailHabit: d.Habit != nil, detailSaid: d.Said != "" && !end,
	} {
		if on {
			f |= bit
		}
	}
	w.uint(f)
	if start {
		w.optInt(d.ResumedEpoch)
		w.optInt(Int{}) // a step that resumed_from never had: what is stored keeps its form
		w.text(d.Command)
		w.pairs(d.Versions)
		w.text(d.TaskFamily)
	}
	if d.Objective != nil {
		w.objective(d.Objective)
	}
	if d.Git != nil {
		w.git(d.Git)
	}
	if d.Checkpoint != nil {
		w.checkpoint(d.Checkpoint)
	}
	if d.Best != nil {
		w.objective(d.Best)
	}
	if d.Habit != nil {
		w.objective(d.Habit)
	}
	if f&detailFailure != 0 {
		w.text(d.ErrorType)
		w.text(d.Message)
		w.text(d.Stack)
	}
	if end {
		w.text(d.Outcome)
		w.text(d.Said)
		w.text(d.StopReason)
		w.optInt(d.EpochsCompleted)
		w.artifacts(d.Artifacts)
	}
	if d.Params != nil {
		w.tree(d.Params)
	}
	if f&detailSaid != 0 {
		w.text(d.Said)
	}
}

func (r *reader) detail() *Detail {
	var d Detail
	f := r.uint()
	if f&detailStart != 0 {
		d.ResumedEpoch, _ = r.optInt(), r.optInt()
		d.Command, d.Versions, d.TaskFamily = r.text(), r.pairs(), r.text()
	}
	if f&detailObjective != 0 {
		d.Objective = r.objective()
	}
	if f&detailGit != 0 {
		d.Git = r.git()
	}
	if f&detailCheckpoint != 0 {
		d.Checkpoint = r.checkpoint()
	}
	if f&detailBest != 0 {
		d.Best = r.objective()
	}
	if f&detailHabit != 0 {
		d.Habit = r.objective()
	}
	if f&detailFailure != 0 {
		d.ErrorType, d.Message, d.Stack = r.text(), r.text(), r.text()
	}
	if f&detailEnd != 0 {
		d.Outcome, d.Said, d.StopReason, d.EpochsCompleted, d.Artifacts = r.text(), r.text(), r.text(), r.optInt(), r.artifacts()
	}
	if f&detailParams != 0 {
		d.Params = r.tree(0)
	}
	if f&detailSaid != 0 {
		d.Said = r.text()
	}
	return &d
}

func (w *writer) pairs(pairs []Pair) {
	w.uint(uint64(len(pairs)))
	for _, p := range pairs {
		w.text(p.Name)
		w.text(p.Value)
	}
}

func (r *reader) pairs() []Pair {
	n := r.count(2)
	if n == 0 {
		return nil
	}
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{Name: r.text(), Value: r.text()}
	}
	return pairs
}

func (w *writer) objective(o *Objective) {
	w.text(o.Metric)
	w.text(o.Mode)
}

func (r *reader) objective() *Objective { return &Objective{Metric: r.text(), Mode: r.text()} }

func (w *writer) git(g *Git) {
	w.text(g.Commit)
	w.text(g.Branch)
	w.bool(g.Dirty != nil)
	if g.Dirty != nil {
		w.bool(*g.Dirty)
	}
}

func (r *reader) git() *Git {
	g := Git{Commit: r.text(), Branch: r.text()}
	if r.bool() {
		dirty := r.bool()
		g.Dirty = &dirty
	}
	return &g
}

func (w *writer) artifacts(list []Artifact) {
	w.uint(uint64(len(list)))
	for i := range list {
		w.artifact(&list[i])
	}
}

func (w *writer) artifact(a *Artifact) {
	w.text(a.Role)
	w.text(a.Path)
	w.text(a.SHA256)
	w.optional(a.Size)
}

func (r *reader) artifacts() []Artifact {
	n := r.count(4)
	if n == 0 {
		return nil
	}
	list := make([]Artifact, n)
	for i := range list {
		list[i] = r.artifact()
	}
	return list
}

func (r *reader) artifact() Artifact {
	return Artifact{Role: r.text(), Path: r.text(), SHA256: r.text(), Size: r.optional()}
}

func (w *writer) checkpoint(c *Checkpoint) {
	w.text(c.Path)
	w.text(c.Kind)
	w.text(c.SHA256)
	w.text(c.Metric)
	w.optional(c.Size)
	w.bool(c.Value != nil)
	if c.Value != nil {
		w.float(*c.Value)
	}
}

func (r *reader) checkpoint() *Checkpoint {
	c := Checkpoint{Path: r.text(), Kind: r.text(), SHA256: r.text(), Metric: r.text(), Size: r.optional()}
	if r.bool() {
		x := r.float()
		c.Value = &x
	}
	return &c
}
