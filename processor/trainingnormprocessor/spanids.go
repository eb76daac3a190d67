package trainingnormprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// maxDerived bounds how many attempts a worker keeps the ids of.
const maxDerived = 1024

// attempt is an attempt of a run.
type attempt struct {
	run    string
	number int64
}

// derived are the ids of an attempt whose trainer has no trace.
type derived struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// traceContexts gives records of a run the trace and the span of the run where they have none.
type traceContexts struct {
	salt  string
	known map[attempt]derived
	last  attempt
	ids   derived
}

func (c *traceContexts) of(a attempt) derived {
	if a == c.last {
		return c.ids
	}
	ids, ok := c.known[a]
	if !ok {
		a.run = strings.Clone(a.run)
		ids = derived{
			trainrecord.DerivedTraceID(c.salt, a.run, a.number),
			trainrecord.DerivedSpanID(c.salt, a.run, a.number, trainrecord.RunSpan),
		}
		if c.known == nil || len(c.known) >= maxDerived {
			c.known = map[attempt]derived{}
		}
		c.known[a] = ids
		c.last, c.ids = a, ids
	}
	return ids
}

// context fills in the trace and span of a record. Those that it has are never replaced.
func (n *logNormalizer) context(w *worker, lr plog.LogRecord) {
	event, ours := strings.CutPrefix(lr.EventName(), trainrecord.Namespace+".")
	if !ours || !trainrecord.IsEvent(event) || event == trainrecord.EventStreamStatus {
		return
	}
	attrs := lr.Attributes()
	a := attempt{run: text(attrs, trainrecord.AttrRunID), number: 1}
	if a.run == "" {
		return
	}
	if v, ok := attrs.Get(trainrecord.AttrRunAttempt); ok && v.Type() == pcommon.ValueTypeInt && v.Int() > 0 {
		a.number = v.Int()
	}
	if event == trainrecord.EventRunStart {
		n.noteStart(w, lr, a)
	}
	if !lr.TraceID().IsEmpty() && !lr.SpanID().IsEmpty() {
		return
	}
	ids := w.contexts.of(a)
	if n.streams.traced.Load() {
		if stream := n.streamAt(w, attrs); stream != nil {
			if trace := stream.TraceAt(a.run, trainprofile.OffsetOf(lr)); !trace.IsEmpty() {
				ids.trace = trace
			}
		}
	}
	if lr.TraceID().IsEmpty() && lr.SpanID().IsEmpty() {
		lr.SetTraceID(ids.trace)
	}
	if lr.TraceID() == ids.trace && lr.SpanID().IsEmpty() {
		lr.SetSpanID(ids.span)
	}
}

// noteStart remembers the trainer's own trace, which the records of its run belong to. One that starts outside a trace matters
// after one that did not.
func (n *logNormalizer) noteStart(w *worker, lr plog.LogRecord, a attempt) {
	trace := lr.TraceID()
	if trace == w.contexts.of(a).trace {
		trace = pcommon.TraceID{}
	}
	if trace.IsEmpty() && !n.streams.traced.Load() {
		return
	}
	if stream := n.streamAt(w, lr.Attributes()); stream != nil {
		stream.NoteStart(trainprofile.Start{RunID: strings.Clone(a.run), Offset: trainprofile.OffsetOf(lr), TraceID: trace})
		n.streams.traced.Store(true)
	}
}
