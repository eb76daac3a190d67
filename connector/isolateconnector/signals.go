package isolateconnector

import (
	"context"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// signal is what a hop has to know about the data it carries.
type signal[T any] struct {
	name  string
	bytes func(T) int
	items func(T) int
	clone func(T) T
	send  func(context.Context, T) error
	// mutates says whether the next consumer may change what it gets.
	mutates func() bool
}

func logsSignal(next consumer.Logs) signal[plog.Logs] {
	return signal[plog.Logs]{
		name:  "logs",
		bytes: (&plog.ProtoMarshaler{}).LogsSize,
		items: plog.Logs.LogRecordCount,
		clone: func(ld plog.Logs) plog.Logs {
			own := plog.NewLogs()
			ld.CopyTo(own)
			return own
		},
		send:    next.ConsumeLogs,
		mutates: func() bool { return next.Capabilities().MutatesData },
	}
}

func metricsSignal(next consumer.Metrics) signal[pmetric.Metrics] {
	return signal[pmetric.Metrics]{
		name:  "metrics",
		bytes: (&pmetric.ProtoMarshaler{}).MetricsSize,
		items: pmetric.Metrics.DataPointCount,
		clone: func(md pmetric.Metrics) pmetric.Metrics {
			own := pmetric.NewMetrics()
			md.CopyTo(own)
			return own
		},
		send:    next.ConsumeMetrics,
		mutates: func() bool { return next.Capabilities().MutatesData },
	}
}

func tracesSignal(next consumer.Traces) signal[ptrace.Traces] {
	return signal[ptrace.Traces]{
		name:  "traces",
		bytes: (&ptrace.ProtoMarshaler{}).TracesSize,
		items: ptrace.Traces.SpanCount,
		clone: func(td ptrace.Traces) ptrace.Traces {
			own := ptrace.NewTraces()
			td.CopyTo(own)
			return own
		},
		send:    next.ConsumeTraces,
		mutates: func() bool { return next.Capabilities().MutatesData },
	}
}

// logsConnector is the hop for logs.
type logsConnector struct{ *hop[plog.Logs] }

// ConsumeLogs queues a copy and returns nil, always.
func (c *logsConnector) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	c.consume(ctx, ld)
	return nil
}

// metricsConnector is the hop for metrics.
type metricsConnector struct{ *hop[pmetric.Metrics] }

// ConsumeMetrics queues a copy and returns nil, always.
func (c *metricsConnector) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	c.consume(ctx, md)
	return nil
}

// tracesConnector is the hop for traces.
type tracesConnector struct{ *hop[ptrace.Traces] }

// ConsumeTraces queues a copy and returns nil, always.
func (c *tracesConnector) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	c.consume(ctx, td)
	return nil
}
