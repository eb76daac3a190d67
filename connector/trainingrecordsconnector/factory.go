package trainingrecordsconnector

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"

	"github.com/pathologize/otelcol-train/connector/trainingrecordsconnector/internal/metadata"
)

// NewFactory returns the factory of training_records.
func NewFactory() connector.Factory {
	return connector.NewFactory(
		metadata.Type,
		createDefaultConfig,
		connector.WithMetricsToLogs(createMetricsToLogs, metadata.MetricsToLogsStability),
	)
}

func createMetricsToLogs(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Logs) (connector.Metrics, error) {
	return newRecords(set, cfg.(*Config), next)
}
