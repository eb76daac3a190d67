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

// derived are the ids of an attempt whose trainer has no trace. They do not change.
type derived struct {
	attempt attempt
	trace   pcommon.TraceID
	span    pcommon.SpanID
}

// traceContexts gives records of a run the trace and the span of the run where they have none.
type traceContexts struct {
	salt  string
	known map[attempt]*derived
	last  *derived
}

// of gives the ids of an attempt. A stream, if the record has one at hand, keeps those of the run that it is of.
func (c *traceContexts) of(a attempt, stream *streamEntry) *derived {
	if c.last != nil && c.last.attempt == a {
		return c.last
	}
	if stream != nil {
		if ids := stream.ids.Load(); ids != nil && ids.attempt == a {
			c.last = ids
			return ids
		}
	}
	ids, ok := c.known[a]
	if !ok {
		a.run = strings.Clone(a.run)
		ids = &derived{
			attempt: a,
			trace:   trainrecord.DerivedTraceID(c.salt, a.run, a.number),
			span:    trainrecord.DerivedSpanID(c.salt, a.run, a.number, trainrecord.RunSpan),
		}
		if c.known == nil || len(c.known) >= maxDerived {
			c.known = map[attempt]*derived{}
		}
		c.known[a] = ids
	}
	if stream != nil {
		stream.ids.Store(ids)
	}
	c.last = ids
	return ids
}

// context fills in the trace and span of a record. Those that it has are never replaced. The entry is that of its stream, nil
// when nobody has looked for it.
func (n *logNormalizer) context(w *worker, lr plog.LogRecord, entry *streamEntry) {
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
		n.noteStart(w, lr, a, entry)
	}
	if !lr.TraceID().IsEmpty() && !lr.SpanID().IsEmpty() {
		return
	}
	ids := w.contexts.of(a, entry)
	trace := ids.trace
	if n.streams.traced.Load() {
		if stream := n.streamAt(w, attrs); stream != nil {
			if own := stream.TraceAt(a.run, trainprofile.OffsetOf(lr)); !own.IsEmpty() {
				trace = own
			}
		}
	}
	if lr.TraceID().IsEmpty() && lr.SpanID().IsEmpty() {
		lr.SetTraceID(trace)
	}
	if lr.TraceID() == trace && lr.SpanID().IsEmpty() {
		lr.SetSpanID(ids.span)
	}
}

// noteStart remembers the trainer's own trace, which the records of its run belong to. One that starts outside a trace matters
// after one that did not.
func (n *logNormalizer) noteStart(w *worker, lr plog.LogRecord, a attempt, entry *streamEntry) {
	trace := lr.TraceID()
	if trace == w.contexts.of(a, entry).trace {
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
