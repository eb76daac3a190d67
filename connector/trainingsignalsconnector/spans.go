package trainingsignalsconnector

import (
	"math/bits"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Names of spans, and attributes of the semantic conventions on them.
const (
	spanNames      = "training."
	attrErrorType  = "error.type"
	attrException  = "exception"
	attrExcType    = "exception.type"
	attrExcMessage = "exception.message"
	unknownError   = "_OTHER"

	spanAttributes = 8 // most have no more

	maxStatus    = 256
	maxErrorType = 256
	maxException = 4096
)

// Reasons why a span is left out.
const (
	dropThinned = "thinned"
	dropCap     = "cap"
	dropAge     = "age"
	dropQueue   = "queue"
	dropRefused = "refused"
	dropOpen    = "open_phases"
)

var dropReasons = []string{dropThinned, dropCap, dropAge, dropQueue, dropRefused, dropOpen}

// spanMaker makes the spans of what happens to attempts.
type spanMaker struct {
	cfg  *Config
	last spanIdentity // of the attempt that was asked for last: many spans of one follow each other
}

// spanIdentity is the derived ids of an attempt: of its trace, and of the run's span.
type spanIdentity struct {
	runID           string
	written, number int64
	trace           pcommon.TraceID
	run             pcommon.SpanID
}

// identity gives the trace and the id of an attempt's run span: derived, unless the trainer has a trace of its own.
func (m *spanMaker) identity(c *trainrun.Course) (trace pcommon.TraceID, run pcommon.SpanID) {
	if m.last.runID != c.RunID || m.last.written != c.Written || m.last.number != c.Number {
		m.last = spanIdentity{
			c.RunID, c.Written, c.Number, trainrecord.DerivedTraceID(m.cfg.IDSalt, c.RunID, c.Written),
			trainrecord.DerivedSpanID(m.cfg.IDSalt, c.RunID, c.Number, trainrecord.RunSpan),
		}
	}
	if trace = c.Trace; trace.IsEmpty() {
		trace = m.last.trace
	}
	return trace, m.last.run
}

func (m *spanMaker) span(c *trainrun.Course, what string, key trainrecord.SpanKey, start, end int64) ptrace.Span {
	s := ptrace.NewSpan()
	s.Attributes().EnsureCapacity(spanAttributes * (1 + len(m.cfg.AlsoNamespaces)))
	trace, run := m.identity(c)
	s.SetName(spanNames + what)
	s.SetKind(ptrace.SpanKindInternal)
	s.SetTraceID(trace)
	s.SetSpanID(trainrecord.DerivedSpanID(m.cfg.IDSalt, c.RunID, c.Number, key))
	s.SetParentSpanID(run)
	s.SetStartTimestamp(pcommon.Timestamp(start))
	s.SetEndTimestamp(pcommon.Timestamp(end))
	m.putText(s, trainrecord.AttrRunID, c.RunID)
	m.putInt(s, trainrecord.AttrRunAttempt, c.Number)
	framework := c.Framework
	if framework == "" {
		framework = trainrecord.Other
	}
	m.putText(s, trainrecord.AttrFramework, framework)
	m.putText(s, trainrecord.AttrTaskFamily, m.cfg.family(c.Family))
	return s
}

// start announces an attempt.
func (m *spanMaker) start(c *trainrun.Course) ptrace.Span {
	key := trainrecord.SpanKey{What: trainrecord.SpanOfStart, Epoch: trainrecord.NoAnchor, Anchor: trainrecord.NoAnchor}
	at := c.Announced()
	c.Spans.Reach(at, at)
	s := m.span(c, trainrecord.SpanOfStart, key, at, at)
	m.putOptional(s, trainrecord.AttrEpochPlanned, c.Planned)
	m.link(s, c)
	return s
}

// extent is the time of an attempt: from its start to its end, and around all of its phases.
func (m *spanMaker) extent(c *trainrun.Course) (start, end int64, backwards bool) {
	start, _ = c.Start()
	end = c.End
	if backwards = start > end; backwards {
		start = end
	}
	if c.Spans.To != 0 {
		start, end = min(start, c.Spans.From), max(end, c.Spans.To)
	}
	return start, end, backwards
}

// run tells all of an attempt that is over.
func (m *spanMaker) run(c *trainrun.Course) (s ptrace.Span, backwards bool) {
	_, source := c.Start()
	begin, end, backwards := m.extent(c)
	c.Spans.Reach(begin, end) // what comes later is within it
	s = m.span(c, trainrecord.SpanOfRun, trainrecord.RunSpan, begin, end)
	s.SetParentSpanID(c.Parent)
	m.putText(s, trainrecord.AttrSpanTimeSource, source)
	m.putText(s, trainrecord.AttrRunOutcome, c.Outcome)
	m.putText(s, trainrecord.AttrStopReason, c.StopReason)
	m.putOptional(s, trainrecord.AttrEpochPlanned, c.Planned)
	m.putOptional(s, trainrecord.AttrEpochCompleted, c.Completed())
	if c.Spans.Dropped > 0 {
		m.putInt(s, trainrecord.AttrSpansDropped, c.Spans.Dropped)
	}
	switch c.Outcome {
	case trainrecord.OutcomeSuccess:
		s.Status().SetCode(ptrace.StatusCodeOk)
	case trainrecord.OutcomeFailed:
		m.fail(s, c)
		m.tell(s, c)
	default: // not the application's verdict
	}
	m.link(s, c)
	return s, backwards
}

func (*spanMaker) fail(s ptrace.Span, c *trainrun.Course) {
	s.Status().SetCode(ptrace.StatusCodeError)
	kind := c.ErrorType
	if kind == "" {
		kind = unknownError
	}
	s.Attributes().PutStr(attrErrorType, cut(kind, maxErrorType))
}

// tell says on the run's span why it failed.
func (m *spanMaker) tell(s ptrace.Span, c *trainrun.Course) {
	message := c.Message
	if message == "" {
		message = c.StopReason
	}
	s.Status().SetMessage(cut(message, maxStatus))
	if m.cfg.Spans.ExceptionEvent && (c.ErrorType != "" || c.Message != "") {
		e := s.Events().AppendEmpty()
		e.SetName(attrException)
		e.SetTimestamp(s.EndTimestamp())
		if c.ErrorType != "" {
			e.Attributes().PutStr(attrExcType, cut(c.ErrorType, maxErrorType))
		}
		if c.Message != "" {
			e.Attributes().PutStr(attrExcMessage, cut(c.Message, maxException))
		}
	}
}

// link leads from an attempt to the one before, whose ids are known even when nobody saw it.
func (m *spanMaker) link(s ptrace.Span, c *trainrun.Course) {
	if c.Number < 2 {
		return
	}
	before := c.Number - 1
	trace := c.Before
	if trace.IsEmpty() {
		written := before
		if c.Written < c.Number { // its records carry no numbers of their own
			written = c.Written
		}
		trace = trainrecord.DerivedTraceID(m.cfg.IDSalt, c.RunID, written)
	}
	l := s.Links().AppendEmpty()
	l.SetTraceID(trace)
	l.SetSpanID(trainrecord.DerivedSpanID(m.cfg.IDSalt, c.RunID, before, trainrecord.RunSpan))
}

// phase tells of a phase that is done. The run's span will reach around it, unless that is sent already.
func (m *spanMaker) phase(c *trainrun.Course, phase string, p *trainrun.PhaseSpan) ptrace.Span {
	key := trainrecord.SpanKey{What: phase, Epoch: trainrecord.NoAnchor, Anchor: "e"}
	if p.Epoch.Set {
		key.Epoch = strconv.FormatInt(p.Epoch.V, 10)
	}
	if p.FromStart {
		key.Anchor = "s"
	}
	key.Anchor += strconv.FormatInt(p.Anchor, 10)
	if p.Part != "" {
		key.Anchor += "@" + p.Part
	}
	start, end := p.Start, p.End
	if c.Settled {
		from, to, _ := m.extent(c)
		start, end = min(max(start, from), to), min(max(end, from), to)
	}
	c.Spans.Reach(start, end)
	s := m.span(c, phase, key, start, end)
	m.putText(s, trainrecord.AttrPhase, phase)
	m.putOptional(s, trainrecord.AttrEpochCurrent, p.Epoch)
	m.putText(s, trainrecord.AttrRunPart, p.Part)
	m.putText(s, trainrecord.AttrSpanTimeSource, p.Source)
	if p.Error {
		m.fail(s, c)
	}
	return s
}

// keeps says whether the spans of an epoch are kept: all of the first ones, then half as many of each doubling.
func (m *spanMaker) keeps(epoch trainrun.Int) bool {
	first := int64(m.cfg.Spans.Epochs)
	if !epoch.Set || epoch.V < first {
		return true
	}
	stride := int64(1) << bits.Len64(uint64(epoch.V/first))
	return epoch.V%stride == 0
}

// put spells a name of the vocabulary with each namespace.
func (m *spanMaker) put(key string, put func(key string)) {
	put(spelled(key, m.cfg.Namespace))
	for _, namespace := range m.cfg.AlsoNamespaces {
		put(spelled(key, namespace))
	}
}

func spelled(key, namespace string) string {
	if namespace == trainrecord.Namespace {
		return key
	}
	return namespace + strings.TrimPrefix(key, trainrecord.Namespace)
}

func (m *spanMaker) putText(s ptrace.Span, key, text string) {
	if text != "" {
		m.put(key, func(key string) { s.Attributes().PutStr(key, text) })
	}
}

func (m *spanMaker) putInt(s ptrace.Span, key string, n int64) {
	m.put(key, func(key string) { s.Attributes().PutInt(key, n) })
}

func (m *spanMaker) putOptional(s ptrace.Span, key string, n trainrun.Int) {
	if n.Set {
		m.putInt(s, key, n.V)
	}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return trainrecord.CutText([]byte(s), n)
}
