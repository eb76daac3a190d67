package trainrun

import "github.com/pathologize/otelcol-train/internal/trainrecord"

// frameworks decides whose run it is: by the first record of a framework that was told, else by the first of one that was
// guessed. Its items are all of one kind.
type frameworks struct{ register[string] }

// isGuessed tells of a framework whether rows that name nobody's may be of it. Rows of any loop count as PyTorch's until a key
// tells better; a run.start of it was written by somebody who knows.
func isGuessed(framework string, event Event) bool {
	return framework == trainrecord.Other || framework == trainrecord.FrameworkPyTorch && event != EventRunStart
}

func (r *frameworks) offer(at *stamp, framework string) {
	if len(r.items) > 0 {
		now, was := isGuessed(framework, at.event), isGuessed(r.items[0].value, r.items[0].at.event)
		switch {
		case now && !was:
			return
		case was && !now:
			r.items = r.items[:0]
		}
	}
	r.register.offer(at, framework, oldest)
}

func (r *frameworks) absorb(o *frameworks) {
	for i := range o.items {
		r.offer(&o.items[i].at, o.items[i].value)
	}
}

func (r *frameworks) value() string {
	if t := r.pick(oldest); t != nil {
		return t.value
	}
	return ""
}
