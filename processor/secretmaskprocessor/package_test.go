package secretmaskprocessor

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestMain(m *testing.M) { componentcheck.VerifyMain(m) }

func TestComponent(t *testing.T) {
	componentcheck.Run(t, NewFactory(), componentcheck.WithFeed(feed))
}

// feed hands over something to mask and something to omit.
func feed(ctx context.Context, c component.Component) error {
	switch next := c.(type) {
	case consumer.Traces:
		td := ptrace.NewTraces()
		attrs := td.ResourceSpans().AppendEmpty().Resource().Attributes()
		attrs.PutStr("password", "x")
		attrs.PutStr("params", "x")
		return next.ConsumeTraces(ctx, td)
	case consumer.Metrics:
		md := pmetric.NewMetrics()
		attrs := md.ResourceMetrics().AppendEmpty().Resource().Attributes()
		attrs.PutStr("password", "x")
		attrs.PutStr("params", "x")
		return next.ConsumeMetrics(ctx, md)
	default:
		ld := plog.NewLogs()
		attrs := ld.ResourceLogs().AppendEmpty().Resource().Attributes()
		attrs.PutStr("password", "x")
		attrs.PutStr("params", "x")
		return c.(consumer.Logs).ConsumeLogs(ctx, ld)
	}
}
