package trainingnormprocessor

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestMain(m *testing.M) { componentcheck.VerifyMain(m) }

func TestComponent(t *testing.T) {
	componentcheck.Run(t, NewFactory(), componentcheck.WithFeed(telling))
}

// telling hands over what is counted: recognised, guessed, unmapped and malformed rows, attributes of a resource, values off
// their lists.
func telling(ctx context.Context, c component.Component) error {
	if next, ok := c.(consumer.Traces); ok {
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr(trainrecord.AttrRunID, "a")
		rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty().Attributes().PutStr(trainrecord.AttrPhase, "warm-up")
		return next.ConsumeTraces(ctx, td)
	}
	if next, ok := c.(consumer.Metrics); ok {
		md := pmetric.NewMetrics()
		m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("tunix.training.loss")
		m.SetEmptyGauge().DataPoints().AppendEmpty()
		return next.ConsumeMetrics(ctx, md)
	}
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(trainrecord.AttrRunID, "a")
	sl := rl.ScopeLogs().AppendEmpty()
	var errs []error
	for _, body := range []map[string]any{
		{"note": "text"}, {"val_loss": 0.5, "epoch": 1, "step": 7}, {"loss": 0.5, "grad_norm": 0.5, "epoch": 0.5, "learning_rate": "soon"}, huggingFaceRow,
	} {
		lr := sl.LogRecords().AppendEmpty()
		errs = append(errs, lr.Body().SetEmptyMap().FromRaw(body))
	}
	return errors.Join(append(errs, c.(consumer.Logs).ConsumeLogs(ctx, ld))...)
}
