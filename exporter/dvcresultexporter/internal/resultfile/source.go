package resultfile

import "github.com/pathologize/otelcol-train/internal/trainrun"

// Roles of checkpoints among the artifacts.
const (
	roleBest       = "best"
	roleLast       = "last"
	roleCheckpoint = "checkpoint"
)

// sourceObject says what ran. Versions that every reader asks for stand beside it, the others below versions.
func sourceObject(st *trainrun.State) object {
	o, framework, versions := object{}, object{}, object{}
	put(framework, "name", st.Framework)
	for _, v := range st.Versions {
		switch v.Name {
		case st.Framework:
			put(framework, "version", v.Value)
		case "python", "torch", "cuda":
			put(o, v.Name, v.Value)
		default:
			put(versions, cutText(v.Name, maxSegment), v.Value)
		}
	}
	put(o, "framework", framework)
	put(o, "versions", versions)
	put(o, "command", st.Command)
	if st.Git != nil {
		git := object{}
		put(git, "commit", st.Git.Commit)
		put(git, "branch", st.Git.Branch)
		put(git, "dirty", st.Git.Dirty)
		put(o, "git", git)
	}
	return o
}

func whereObject(w trainrun.Where) object {
	o, k8s := object{}, object{}
	put(o, "host", w.Host)
	put(o, "service", w.Service)
	put(k8s, "namespace", w.Namespace)
	put(k8s, "job", w.Job)
	put(k8s, "pod", w.Pod)
	put(k8s, "container", w.Container)
	put(o, "k8s", k8s)
	return o
}

// roleOf is best or last for the newest checkpoint of that kind, else checkpoint.
func roleOf(c *trainrun.Checkpoint, of trainrun.Checkpoints) string {
	switch {
	case of.Best != nil && c.Path == of.Best.Path:
		return roleBest
	case of.Last != nil && c.Path == of.Last.Path:
		return roleLast
	default:
		return roleCheckpoint
	}
}

func failureObjects(st *trainrun.State) []item {
	out := make([]item, 0, len(st.Failures))
	for i := range st.Failures {
		f := &st.Failures[i]
		o := object{"attempt": f.Attempt}
		if f.Rank > 0 {
			o["rank"] = f.Rank
		}
		put(o, "part", f.Part)
		put(o, "at", clock(f.At))
		put(o, "type", f.Type)
		put(o, "message", f.Message)
		put(o, "stack", f.Stack)
		put(o, "epoch", f.Epoch)
		put(o, "step", f.Step)
		out = append(out, item{f.Type + "\x00" + f.Message, o})
	}
	return out
}

func attemptObjects(st *trainrun.State) []item {
	out := make([]item, 0, len(st.Attempts))
	for i := range st.Attempts {
		a := &st.Attempts[i]
		o := object{"attempt": a.Number}
		put(o, "host", a.Host)
		put(o, "started_at", clock(a.StartedAt))
		put(o, "ended_at", clock(a.EndedAt))
		put(o, "outcome", a.Outcome)
		put(o, "first_epoch", a.FirstEpoch)
		put(o, "last_epoch", a.LastEpoch)
		put(o, "first_step", a.FirstStep)
		put(o, "last_step", a.LastStep)
		if a.SupersededEpochs > 0 {
			o["superseded_epochs"] = a.SupersededEpochs
		}
		if a.SupersededSteps > 0 {
			o["superseded_steps"] = a.SupersededSteps
		}
		out = append(out, item{clock(a.StartedAt), o})
	}
	return out
}
