package trainjsonlreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

// NewFactory makes the factory of train_jsonl.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(metadata.Type(), createDefaultConfig, receiver.WithLogs(createLogs, metadata.LogsStability))
}

func createLogs(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	return newReceiver(set, cfg.(*Config), next)
}
