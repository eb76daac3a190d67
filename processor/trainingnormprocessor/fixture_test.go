package trainingnormprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

func settings(t *testing.T) (processor.Settings, *componenttest.Telemetry) {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.WithoutCancel(t.Context()))) })
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = componentID("")
	set.TelemetrySettings = tel.NewTelemetrySettings()
	return set, tel
}

func TestLogs(t *testing.T) {
	t.Parallel()
	componentcheck.EachCase(t, "testdata/logs", func(t *testing.T, c *componentcheck.Case) {
		set, tel := settings(t)
		sink := &consumertest.LogsSink{}
		p, err := NewFactory().CreateLogs(t.Context(), set, componentcheck.CaseConfig[*Config](t, c, NewFactory()), sink)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeLogs(t.Context(), c.Logs(t, "in")))
		require.Len(t, sink.AllLogs(), 1)
		c.EqualLogs(t, "out", sink.AllLogs()[0])
		c.EqualTelemetry(t, tel, "otelcol_training_norm_")
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	componentcheck.EachCase(t, "testdata/metrics", func(t *testing.T, c *componentcheck.Case) {
		set, tel := settings(t)
		sink := &consumertest.MetricsSink{}
		p, err := NewFactory().CreateMetrics(t.Context(), set, componentcheck.CaseConfig[*Config](t, c, NewFactory()), sink)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeMetrics(t.Context(), c.Metrics(t, "in")))
		require.Len(t, sink.AllMetrics(), 1)
		c.EqualMetrics(t, "out", sink.AllMetrics()[0])
		c.EqualTelemetry(t, tel, "otelcol_training_norm_")
	})
}

func TestTraces(t *testing.T) {
	t.Parallel()
	componentcheck.EachCase(t, "testdata/traces", func(t *testing.T, c *componentcheck.Case) {
		set, tel := settings(t)
		sink := &consumertest.TracesSink{}
		p, err := NewFactory().CreateTraces(t.Context(), set, componentcheck.CaseConfig[*Config](t, c, NewFactory()), sink)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeTraces(t.Context(), c.Traces(t, "in")))
		require.Len(t, sink.AllTraces(), 1)
		c.EqualTraces(t, "out", sink.AllTraces()[0])
		c.EqualTelemetry(t, tel, "otelcol_training_norm_")
	})
}
