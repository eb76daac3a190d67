package otlpsink

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// LogRecord is a log record with the resource and scope that it came with.
type LogRecord struct {
	plog.LogRecord
	Resource pcommon.Resource
	Scope    pcommon.InstrumentationScope
}

// LogRecords are all accepted log records, in order.
func (s *Sink) LogRecords() []LogRecord {
	var out []LogRecord
	for _, ld := range s.Logs() {
		for _, rl := range ld.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					out = append(out, LogRecord{LogRecord: lr, Resource: rl.Resource(), Scope: sl.Scope()})
				}
			}
		}
	}
	return out
}

// Span is a span with the resource and scope that it came with.
type Span struct {
	ptrace.Span
	Resource pcommon.Resource
	Scope    pcommon.InstrumentationScope
}

// Spans are all accepted spans, in order.
func (s *Sink) Spans() []Span {
	var out []Span
	for _, td := range s.Traces() {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					out = append(out, Span{Span: span, Resource: rs.Resource(), Scope: ss.Scope()})
				}
			}
		}
	}
	return out
}
