package cardinalityguardprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
)

// NewFactory returns the factory of cardinality_guard.
func NewFactory() processor.Factory {
	claims := &componentkit.Claims{}
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithMetrics(createMetrics(claims), metadata.MetricsStability),
	)
}

func createMetrics(claims *componentkit.Claims) processor.CreateMetricsFunc {
	return func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Metrics) (processor.Metrics, error) {
		p, err := cfg.(*Config).inlinePolicy()
		if err != nil {
			return nil, err
		}
		g, err := newGuard(cfg.(*Config), p, set, next, claims, time.Now)
		if err != nil {
			return nil, err
		}
		return processorhelper.NewMetrics(ctx, set, cfg, next, g.processMetrics,
			processorhelper.WithStart(g.start), processorhelper.WithShutdown(g.shutdown),
			processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
	}
}
