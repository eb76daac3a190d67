package isolateconnector

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"

	"github.com/pathologize/otelcol-train/connector/isolateconnector/internal/metadata"
)

// NewFactory returns the factory of the isolate connector.
func NewFactory() connector.Factory {
	return connector.NewFactory(
		metadata.Type,
		createDefaultConfig,
		connector.WithLogsToLogs(createLogs, metadata.LogsToLogsStability),
		connector.WithMetricsToMetrics(createMetrics, metadata.MetricsToMetricsStability),
		connector.WithTracesToTraces(createTraces, metadata.TracesToTracesStability),
	)
}

func createLogs(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Logs) (connector.Logs, error) {
	h, err := newHop(set, cfg.(*Config), logsSignal(next))
	return &logsConnector{hop: h}, err
}

func createMetrics(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Metrics, error) {
	h, err := newHop(set, cfg.(*Config), metricsSignal(next))
	return &metricsConnector{hop: h}, err
}

func createTraces(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Traces) (connector.Traces, error) {
	h, err := newHop(set, cfg.(*Config), tracesSignal(next))
	return &tracesConnector{hop: h}, err
}
