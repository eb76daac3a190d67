package trainingnormprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

// NewFactory returns the factory of training_norm.
func NewFactory() processor.Factory {
	claims := &componentkit.Claims{}
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithLogs(createLogs(claims), metadata.LogsStability),
		processor.WithMetrics(createMetrics, metadata.MetricsStability),
		processor.WithTraces(createTraces, metadata.TracesStability),
	)
}

func createLogs(claims *componentkit.Claims) processor.CreateLogsFunc {
	return func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
		n, err := newLogNormalizer(cfg.(*Config), set, claims)
		if err != nil {
			return nil, err
		}
		return processorhelper.NewLogs(ctx, set, cfg, next, n.processLogs,
			processorhelper.WithStart(n.start), processorhelper.WithShutdown(n.shutdown),
			processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
	}
}

func createMetrics(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Metrics) (processor.Metrics, error) {
	n, err := newItemNormalizer(cfg.(*Config), set, trainprofile.SignalMetric, "")
	if err != nil {
		return nil, err
	}
	return processorhelper.NewMetrics(ctx, set, cfg, next, n.processMetrics,
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
}

func createTraces(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	n, err := newItemNormalizer(cfg.(*Config), set, trainprofile.SignalSpan, "span")
	if err != nil {
		return nil, err
	}
	return processorhelper.NewTraces(ctx, set, cfg, next, n.processTraces,
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
}
