package trainingsignalsconnector

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

const maxSpansAtOnce = 1000

// queued is a span that waits to be sent.
type queued struct {
	source *trainrun.Source
	span   ptrace.Span
}

// spanQueue holds the spans that wait to be sent, the oldest first.
type spanQueue struct {
	maker   spanMaker
	waiting []queued
	drops   map[string]int64 // since the last report
	back    int64            // spans that ended before they began, likewise
	sending int              // the first ones are on their way
}

func newSpanQueue(cfg *Config) *spanQueue {
	return &spanQueue{maker: spanMaker{cfg: cfg}, drops: map[string]int64{}}
}

// take makes the spans of what happened to an attempt.
func (q *spanQueue) take(tr *trainrun.Transition, now int64) {
	c := tr.Course
	if c.Untraced() {
		return
	}
	switch tr.Kind {
	case trainrun.Started:
		if q.maker.cfg.Spans.Announce {
			q.offer(c, q.maker.start(c), now, false)
		}
	case trainrun.PhaseDone:
		if tr.Span == nil {
			return
		}
		if tr.Span.Backwards {
			q.back++
		}
		if !q.maker.keeps(tr.Span.Epoch) && !tr.Span.Error {
			q.drop(c, dropThinned)
			return
		}
		q.offer(c, q.maker.phase(c, tr.Phase, tr.Span), now, tr.Span.Error)
	case trainrun.PhaseLost:
		q.drop(c, dropOpen)
	case trainrun.Settled:
		s, backwards := q.maker.run(c)
		if backwards {
			q.back++
		}
		q.offer(c, s, now, true)
	default: // no span
	}
}

// offer queues a span. One that must not be missed is not bounded by the attempt's share.
func (q *spanQueue) offer(c *trainrun.Course, s ptrace.Span, now int64, always bool) {
	switch {
	case q.tooOld(s, now):
		q.drop(c, dropAge)
		return
	case !always && c.Spans.Sent >= int64(q.maker.cfg.Spans.MaxPerAttempt):
		q.drop(c, dropCap)
		return
	}
	c.Spans.Sent++
	if len(q.waiting) >= q.maker.cfg.Limits.PendingSpans && q.sending < len(q.waiting) {
		q.dropOldest()
	}
	q.waiting = append(q.waiting, queued{c.Source, s})
}

// dropOldest drops the first span that is not on its way. Only those before it move: the queue is long when this happens often.
func (q *spanQueue) dropOldest() {
	copy(q.waiting[1:], q.waiting[:q.sending])
	q.waiting[0] = queued{}
	q.waiting = q.waiting[1:]
	q.drops[dropQueue]++
}

func (q *spanQueue) drop(c *trainrun.Course, reason string) {
	c.Spans.Dropped++
	q.drops[reason]++
}

// parcel is the first spans that wait, n of them; of these some are too old to be sent.
type parcel struct {
	td     ptrace.Traces
	n, old int
}

// next copies the first spans that wait. They stay until done says that they are sent.
func (q *spanQueue) next(now int64) parcel {
	p := parcel{n: min(len(q.waiting), maxSpansAtOnce)}
	q.sending = p.n
	young := make([]queued, 0, p.n)
	for _, w := range q.waiting[:p.n] {
		if !q.tooOld(w.span, now) {
			young = append(young, w)
		}
	}
	p.td, p.old = q.copy(young), p.n-len(young)
	return p
}

// tooOld says that a span ended so long ago that backends refuse it.
func (q *spanQueue) tooOld(s ptrace.Span, now int64) bool {
	return now-int64(s.EndTimestamp()) > int64(q.maker.cfg.Spans.MaxAge)
}

// copy puts spans together as they are sent.
func (q *spanQueue) copy(list []queued) ptrace.Traces {
	td := ptrace.NewTraces()
	var last *trainrun.Source
	var spans ptrace.SpanSlice
	for i, w := range list {
		if i == 0 || w.source != last {
			last = w.source
			rs := td.ResourceSpans().AppendEmpty()
			if last != nil {
				last.Attributes.CopyTo(rs.Resource().Attributes())
			}
			rs.SetSchemaUrl(schemaURL(q.maker.cfg))
			ss := rs.ScopeSpans().AppendEmpty()
			ss.SetSchemaUrl(schemaURL(q.maker.cfg))
			ss.Scope().SetName(q.maker.cfg.Namespace)
			ss.Scope().SetVersion(trainrecord.SchemaVersion)
			spans = ss.Spans()
		}
		w.span.CopyTo(spans.AppendEmpty())
	}
	return td
}

// done forgets the first spans.
func (q *spanQueue) done(n int) {
	n, q.sending = min(n, len(q.waiting)), 0
	clear(q.waiting[:n])
	q.waiting = q.waiting[n:]
}
