package dvcresultexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
)

// NewFactory returns the factory of the dvc_result exporter.
func NewFactory() exporter.Factory {
	shared := &instances{byID: map[component.ID]*instance{}}
	return exporter.NewFactory(
		metadata.Type,
		createDefaultConfig,
		exporter.WithLogs(shared.createLogs, metadata.LogsStability),
		exporter.WithMetrics(shared.createMetrics, metadata.MetricsStability),
	)
}

// createLogs makes an exporter without queue, retry and timeout: the state is the queue, and an answer means that it
// holds the records.
func (s *instances) createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	in, err := s.get(set, cfg.(*Config))
	if err != nil {
		return nil, err
	}
	set.Logger = zap.NewNop() // it has a line for each refused call; the engine has a seldom one
	return exporterhelper.NewLogs(ctx, set, cfg, in.exporter.consumeLogs,
		exporterhelper.WithStart(in.start),
		exporterhelper.WithShutdown(in.shutdown),
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}),
	)
}

// createMetrics makes the side that takes the readings of GPUs. It never fails and never waits: the metrics are a copy of what
// goes to a backend.
func (s *instances) createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	in, err := s.get(set, cfg.(*Config))
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewMetrics(ctx, set, cfg, in.exporter.consumeMetrics,
		exporterhelper.WithStart(in.start),
		exporterhelper.WithShutdown(in.shutdown),
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}),
	)
}
