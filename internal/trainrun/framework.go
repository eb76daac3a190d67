package trainrun

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// frameworks decides whose run it is: by the first record of a framework that was told, else by the first of one that was
// guessed. Its items are all of one kind.
type frameworks struct{ register[string] }

// isGuessed tells of a framework whether rows that name nobody's may be of it. Rows of any loop count as PyTorch's until a key
// tells better; a run.start of it was written by somebody who knows.
func isGuessed(framework string, event Event) bool {
	return framework == trainrecord.Other || framework == trainrecord.FrameworkPyTorch && event != EventRunStart
}

// isNobodysStart tells of a run.start that it was made of a line which says that a training starts and not whose ({"event":
// "train_begin"}): the line's own word is among the details. What framework it is, the rows behind it tell.
func isNobodysStart(r *trainrecord.Record) bool {
	if r.Event != trainrecord.EventRunStart || r.Framework != trainrecord.FrameworkPyTorch {
		return false
	}
	details, ok := r.Body.Get(trainrecord.BodyFramework)
	if !ok || details.Type() != pcommon.ValueTypeMap {
		return false
	}
	for _, key := range [...]string{trainrecord.KeyEvent, "type"} {
		if v, ok := details.Map().Get(key); ok && v.Type() == pcommon.ValueTypeStr {
			return true
		}
	}
	return false
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
